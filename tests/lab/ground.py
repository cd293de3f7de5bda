"""What a machine must have for a lab to stand on it."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

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


@cache
def missing() -> tuple[str, ...]:
    """What this one lacks, each in words; nothing where a lab can be made."""
    if os.geteuid() != 0:
        return ("namespaces of a whole machine are made by root only",)
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    lacking = [
        f"there is no {program} (package {package})"
        for program, package in PROGRAMS.items()
        if not shutil.which(program, path=path)
    ]
    top = groups()
    if not top or not os.access(top / "cgroup.procs", os.W_OK):
        lacking.append("there are no control groups of version 2 that can be written")
    if not lacking and (trial := _try_namespaces()):
        lacking.append(f"namespaces cannot be made here: {trial}")
    return tuple(lacking)


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


def has_tun() -> bool:
    """Whether cables can be made long."""
    return Path("/dev/net/tun").exists()
