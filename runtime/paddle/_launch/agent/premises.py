"""What a node's Python is, and what of ours lies there: all that is to be known before an installation.

It reads a line of JSON, {"root"}, on standard input, and answers

    {"python", "implementation", "version", "abi", "machine", "bits", "libc", "current", "venvs", "wheels",
     "runtimes", "ground", "is_writable", "free", "free_files"}
        python: the one that this runs with, outside of any virtual environment, of that version; abi: as
        wheels are named for it, cp311; libc: ["glibc", "2.36"], ["musl", "1.2"] or ["", ""]; current: the
        environment that is in use, one of venvs or "", null where something else has its name; venvs, wheels,
        runtimes: those that are whole; ground and what follows: see probe.py

It must never judge: what of this is wrong, the launcher says. Guarantee: nothing is changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .answers import Answers
from .environments import Environments
from .killer import PATIENCE_S
from .probe import ground
from .store import OWN

_LOADER = "ld-musl-*.so.1"
_LOADER_S = 5.0


def main() -> int:
    """Look, and say what was seen."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    Answers(sys.stdout.fileno()).say(**look(Path(order["root"])))
    return 0


def look(root: Path) -> dict[str, Any]:
    """Give all of it."""
    home = root / OWN
    environments = Environments(home)
    return {
        "python": base_python(),
        "implementation": sys.implementation.name,
        "version": platform.python_version(),
        "abi": abi(),
        "machine": platform.machine(),
        "bits": 8 * struct.calcsize("P"),
        "libc": libc(),
        "current": environments.current(),
        "venvs": environments.whole(),
        "wheels": sorted(_folders(home, "wheels-")),
        "runtimes": sorted(_folders(home, "runtime-")),
        **ground(home / "any"),
    }


def base_python() -> str:
    """Where the Python itself is, also where this is one of a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def abi() -> str:
    """How wheels with compiled code are named that this Python can load."""
    threads = "t" if "t" in getattr(sys, "abiflags", "") else ""
    return f"cp{sys.version_info[0]}{sys.version_info[1]}{threads}"


def libc() -> tuple[str, str]:
    """Which library of C it is linked to, and of which version, as far as wheels ask for that."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        if found := re.match(r"glibc (\d+\.\d+)", os.confstr("CS_GNU_LIBC_VERSION") or ""):
            return "glibc", found[1]
    for loader in sorted(Path("/lib").glob(_LOADER)):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run(
                [str(loader)], capture_output=True, text=True, timeout=_LOADER_S, check=False
            )
            if found := re.search(r"^Version (\d+\.\d+)", said.stderr, re.MULTILINE):
                return "musl", found[1]
    return "", ""


def _folders(home: Path, prefix: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        yield from (path.name for path in home.iterdir() if path.name.startswith(prefix) and path.is_dir())
