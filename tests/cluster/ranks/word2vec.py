"""The word2vec job of workspace_template for three nodes, and what it comes to on this machine.

It is prepared, and trained here, once for all tests of a run: each gives the folder that its workers share.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.by_hand import free_port
from tests.fresh import ROOT
from tests.waiting import PATIENCE_S

NODES = 3
PASSES = 2
# Python's own documentation, of which 32 batches for each node: enough to learn something.
_PREPARE = "import prepare; prepare.treebank = lambda: None; prepare.MAX_GRAMS = 3072; prepare.main()"
_DIGEST = re.compile(r"^parameters (\w{16})$", re.MULTILINE)


def prepared(folder: Path, shared: Path) -> Path:
    """The workspace with its data, in a folder that is not there yet."""
    return shutil.copytree(_package(shared), folder)


def locally(shared: Path) -> str:
    """What the same job comes to by paddle.py, on three nodes that are embedded in this machine."""
    package, known = _package(shared), shared / "word2vec" / "digest"
    with _alone(shared):
        if not known.exists():
            known.write_text(_trained(Path(tempfile.mkdtemp(dir=known.parent)), package))
    return known.read_text()


def _package(shared: Path) -> Path:
    folder = shared / "word2vec" / "package"
    with _alone(shared):
        if not folder.exists():
            made = Path(tempfile.mkdtemp(dir=folder.parent)) / "package"
            ignored = shutil.ignore_patterns("*_dir", "*.pickle")
            shutil.copytree(ROOT / "workspace_template", made, ignore=ignored)
            environ = {"SPLIT_COUNT": str(NODES), "PYTHONPATH": str(ROOT / "runtime")}
            command = [sys.executable, "-c", _PREPARE]
            subprocess.run(command, cwd=made, env=environ, check=True, capture_output=True)
            made.rename(folder)
    return folder


@contextlib.contextmanager
def _alone(shared: Path) -> Iterator[None]:
    """While no other worker is within."""
    (shared / "word2vec").mkdir(exist_ok=True)
    with (shared / "word2vec" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def learned(log: str) -> str:
    """The digest of all parameters that a trainer printed at its end."""
    found = _DIGEST.findall(log)
    assert len(found) == 1, log
    return found[0]


def _trained(folder: Path, package: Path) -> str:
    (folder / "conf.py").write_text("HOSTS = ['local', 'local', 'local']\nPADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
    own = shutil.copytree(package, folder / "package")
    port = free_port(["127.0.0.1", "127.0.0.2", "127.0.0.3"])
    command = [
        sys.executable,
        ROOT / "paddle.py",
        f"--conf={folder / 'conf.py'}",
        "-p",
        own,
        f"--port={port}",
    ]
    done = subprocess.run(
        [*command, f"--num_passes={PASSES}"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done
    digests = {learned((own / "log" / f"node-{node}" / "train.log").read_text()) for node in range(NODES)}
    assert len(digests) == 1
    return digests.pop()
