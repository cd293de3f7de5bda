"""The images of cluster/kubernetes and cluster/openmpi/docker_cluster, made as a user makes them, on a Debian
of this machine's packages: no registry of images is asked.

What they install from elsewhere is kept between runs, as long as it is what the Dockerfiles and
pyproject.toml ask for; the project itself is copied in anew each time.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tomllib
from hashlib import sha256
from pathlib import Path

from tests.fresh import ROOT, copy_to
from tests.lab import debian
from tests.lab.builder import PROXIES
from tests.lab.engine import Engine
from tests.lab.premises import Premises

RUNTIME = "paddle-fabric:0.1.0"
MACHINE = "paddle-fabric-machine:0.1.0"
FILES = {RUNTIME: "cluster/kubernetes/Dockerfile", MACHINE: "cluster/openmpi/docker_cluster/Dockerfile"}
_BASE = "lab-base"
_CLASSIC = {"DOCKER_BUILDKIT": "0"}  # which asks nobody for what is here


def make(engine: Engine, folder: Path, cache: Path) -> None:
    """Make both in an engine that has no way into any network."""
    kept = cache / f"images-{_digest()}"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second finds them made
        if not kept.exists():
            _prepare(kept)
    engine.run("docker", "load", "--input", kept / "layers.tar")
    project = copy_to(folder / "project")
    shutil.copy(kept / "pyproject.toml", project)  # the same in all that an image has of it
    _build(engine, project)


def _digest() -> str:
    """Of what decides which packages are in them."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())
    del known["project"]["optional-dependencies"]
    decides = [known["project"], known["build-system"], known["tool"]["setuptools"]]
    text = json.dumps([decides, *((ROOT / file).read_text() for file in FILES.values())])
    return sha256(text.encode()).hexdigest()[:16]


def _prepare(kept: Path) -> None:
    """Make them once by this machine's network, and keep all their layers."""
    premises = Premises([])
    try:
        premises.wait()
        engine = Engine(premises, None)
        engine.wait()
        debian.write(premises.folder / "base.tar")
        engine.run("docker", "import", premises.folder / "base.tar", _BASE)
        _build(engine, copy_to(premises.folder / "project"))
        written = kept.with_suffix(f".{os.getpid()}")
        written.mkdir()
        layers = engine.run("docker", "images", "--all", "--quiet", "--no-trunc").split()
        engine.run("docker", "save", "--output", written / "layers.tar", _BASE, *FILES, *layers)
        shutil.copy(ROOT / "pyproject.toml", written)
        written.rename(kept)
        engine.end()
    finally:
        premises.close()


def _build(engine: Engine, project: Path) -> None:
    given = {key: os.environ[key] for key in (*PROXIES, "PIP_CERT", "PIP_INDEX_URL") if key in os.environ}
    for name, file in FILES.items():
        own = {**given, "BASE": _BASE} if name == RUNTIME else {"BASE": _BASE, "RUNTIME": RUNTIME}
        words = ["--network=host", f"--tag={name}", f"--file={project / file}"]
        words += [f"--build-arg={key}={value}" for key, value in own.items()]
        context = project if name == RUNTIME else (project / file).parent
        engine.run("docker", "build", *words, context, **_CLASSIC)
