"""What a node is like, before anything is changed there.

It reads a line of JSON on standard input

    {"workspace", "program", "runtime", "names", "packages", "is_again"}
        program: of the workspace, which is there already or not; runtime: a folder; names: of nodes;
        packages: to look for; is_again: the workspace is this job's, of an earlier life

and answers

    {"python", "version", "packages", "is_there", "has_program", "has_runtime", "ground", "is_writable",
     "free", "free_files", "devices", "addresses", "is_held"}
        packages: name -> version or null, as the same Python sees them without -I; ground: the nearest folder
        above the workspace that is there; free: bytes there, free_files: how many files and
        folders it can take, null where a disk does not say; devices: network
        device -> IPv4 address; addresses: name -> those it has here; is_held: another agent has the workspace

It must never judge: what of this is wrong, the launcher says. Then it stays for as long as its input, at most
a minute: while a launch waits for its other nodes, what it has chosen on this one is in use. Guarantee:
nothing is changed; where nobody waits for the answer any more, it ends soon, though a name server may keep it
waiting.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from . import end_of_input
from .answers import Answers
from .killer import PATIENCE_S
from .part import is_held
from .role import die_with_parent

_LOOKING_S = 20.0
_ALONE_S = 2
_SIOCGIFADDR = 0x8915
_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in json.loads(sys.argv[1]):
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps(found))
"""


def main() -> int:
    """Look, and say what was seen."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    is_over = threading.Event()
    end_of_input.notice(partial(_leave, is_over))
    found = look(order)
    _take_to_itself(Path(found["python"]).parent.parent, order["runtime"], order["workspace"])
    Answers(sys.stdout.fileno()).say(**found)
    is_over.wait()
    return 0


def _leave(is_over: threading.Event) -> None:
    is_over.set()
    signal.alarm(_ALONE_S)  # should it still be looking


def _take_to_itself(*folders: str | Path) -> None:
    """Be seen to use what the launch is going to use, so that nobody removes that meanwhile: `fab clean`, of
    another shell, finds it by what this process has open (occupants.py)."""
    for folder in folders:
        with contextlib.suppress(OSError):
            os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def look(order: dict[str, Any]) -> dict[str, Any]:
    """Look at all that is asked for."""
    workspace = Path(order["workspace"])
    return {
        "python": _own_path(),
        "version": sys.version_info[:3],
        "packages": _packages(order["packages"]),
        "is_there": os.path.exists(workspace),  # noqa: PTH110  also where one may not look
        "has_program": os.path.isfile(workspace / order["program"]),  # noqa: PTH113
        "has_runtime": os.path.isdir(order["runtime"]),  # noqa: PTH112
        **ground(workspace),
        "devices": _devices(),
        "addresses": {name: _addresses(name) for name in order["names"]},
        "is_held": bool(order.get("is_again")) and is_held(workspace / "log" / "agent.log"),
    }


def _packages(names: Iterable[str]) -> dict[str, str | None]:
    done = subprocess.run(
        [sys.executable, "-P", "-B", "-c", _VERSIONS, json.dumps(names)],
        capture_output=True,
        cwd="/",
        stdin=subprocess.DEVNULL,
        timeout=_LOOKING_S,
        check=True,
        preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGKILL),
    )
    found: dict[str, str | None] = json.loads(done.stdout)
    return found


def _own_path() -> str:
    """Where this Python is, by no link to its environment, which another one may get meanwhile."""
    python = Path(sys.executable)
    return str(python.parent.resolve() / python.name)


def ground(workspace: Path) -> dict[str, Any]:
    """Where a folder would be made, whether it could be, and what room is there."""
    above = next(parent for parent in workspace.parents if os.path.exists(parent))  # noqa: PTH110
    disk = os.statvfs(above)
    return {
        "ground": str(above),
        "is_writable": above.is_dir() and os.access(above, os.W_OK | os.X_OK),
        "free": disk.f_bavail * disk.f_frsize if disk.f_blocks else None,
        "free_files": disk.f_favail if disk.f_files else None,
    }


def _devices() -> dict[str, str]:
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(any_socket, _SIOCGIFADDR, struct.pack("256s", os.fsencode(name)[:15]))
            except OSError:  # it has none
                continue
            found[name] = socket.inet_ntoa(answer[20:24])
    return found


def _addresses(name: str) -> list[str]:
    try:
        return sorted({found[4][0] for found in socket.getaddrinfo(name, None, socket.AF_INET)})  # type: ignore[misc]
    except OSError:
        return []
