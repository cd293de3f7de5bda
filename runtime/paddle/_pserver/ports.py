"""Ports: listening sockets, and who has a port that is taken.

It must never know what is served on them.
"""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from pathlib import Path

from paddle._pserver.errors import PortInUse, PserverError

_BACKLOG = 1024
_LISTENING = "0A"  # as /proc/net/tcp writes the state


def listen(address: str, port: int) -> socket.socket:
    """A socket that listens on ``address:port``. Raises PortInUse, naming the holder where it can be seen."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"port {port} of {address} is in use by {holder(port)}: stop that, or choose another --port"
            ) from error
        raise PserverError(
            f"cannot listen on {address}:{port}: {error}. Choose an address of this machine and a port of "
            "1024..65535"
        ) from error
    return listener


def holder(port: int) -> str:
    """Who listens on ``port`` of this machine, for people."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    for process in Path("/proc").glob("[0-9]*"):
        if sockets & _open_files(process):
            return f"process {process.name} ({_command(process)})"
    return "a process that this user may not look into"


def _listening_inodes(port: int) -> list[str]:
    inodes = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not Path(table).exists():
            continue
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.append(fields[9])
    return inodes


def _open_files(process: Path) -> set[str]:
    names = set()
    with suppress(OSError):  # the process ended meanwhile, or is another user's
        for entry in (process / "fd").iterdir():
            with suppress(OSError):  # so did the descriptor
                names.add(str(entry.readlink()))
    return names


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "unknown"
