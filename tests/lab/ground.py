"""What a machine must have for a lab to stand on it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.lab.group import groups

PROGRAMS = {  # program: Debian's package
    "sshd": "openssh-server",
    "ssh": "openssh-client",
    "ip": "iproute2",
    "tc": "iproute2",
    "nft": "nftables",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}
OF_CONTAINERS = {"dockerd": "docker.io", "docker": "docker.io", "docker-compose": "docker-compose"}
SYSTEM_PATHS = ":/usr/sbin:/sbin"


def require(*, of_containers: bool = False) -> None:
    """Leave a test out where no lab can be made, saying why; in continuous integration it fails."""
    if lacking := missing() + (missing_programs(OF_CONTAINERS) if of_containers else ()):
        said = f"no cluster can be made here: {'; '.join(lacking)}"
        if os.environ.get("CI"):
            pytest.fail(said)  # there it is known to be possible: left out would look like passed
        pytest.skip(said)


@cache
def missing() -> tuple[str, ...]:
    """What this one lacks, each in words; nothing where a lab can be made. Looked for once."""
    return find_missing()


def find_missing() -> tuple[str, ...]:
    """Look for it now."""
    if os.geteuid() != 0:
        return ("namespaces of a whole machine are made by root only",)
    lacking = list(missing_programs(PROGRAMS))
    top = groups()
    if not Path("/dev/net/tun").exists():
        lacking.append("there is no /dev/net/tun, for cables that can be made long")
    if not top or not os.access(top / "cgroup.procs", os.W_OK):
        lacking.append("there are no control groups of version 2 that can be written")
    if not lacking and (trial := _try_namespaces()):
        lacking.append(f"namespaces cannot be made here: {trial}")
    return tuple(lacking)


def missing_programs(programs: Mapping[str, str]) -> tuple[str, ...]:
    """Those that are not here, each with its package."""
    path = os.environ.get("PATH", "") + SYSTEM_PATHS
    return tuple(
        f"there is no {program} (package {package})"
        for program, package in programs.items()
        if not shutil.which(program, path=path)
    )


def _try_namespaces() -> str:
    trial = "mount -t tmpfs tmpfs /tmp && ip link add trial type veth peer name other"
    command = [
        "unshare",
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--propagation",
        "private",
        "/bin/sh",
        "-c",
        trial,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""
