"""Ports: listening sockets, and who has a port that is taken.

It must never know what is served on them.
"""

from __future__ import annotations

import errno
import socket
import sys
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from paddle._pserver.errors import NotOurs, PortInUse, PserverError

_BACKLOG = 1024
_LISTENING = "0A"  # as /proc/net/tcp writes the state
_NOT_OURS = (errno.EADDRNOTAVAIL, errno.EACCES, errno.EPERM, errno.EAFNOSUPPORT)
_LONGEST = 160  # of a command line that is shown


def listen(address: str, port: int) -> socket.socket:
    """A socket that listens on ``address:port``.

    Raises PortInUse, naming the holder where it can be seen, and NotOurs for a place that cannot be taken.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        raise _refusal(address, port, error) from error
    return listener


def _refusal(address: str, port: int, error: Exception) -> PserverError:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return PortInUse(
            f"port {port} of {address} is in use by {holder(address, port)}: stop it, or choose another port"
        )
    reason = f"cannot listen on {address}:{port}: {getattr(error, 'strerror', None) or error}"
    if isinstance(error, OSError) and not isinstance(error, socket.gaierror) and number not in _NOT_OURS:
        return PserverError(reason)
    return NotOurs(f"{reason}. Choose an address of this machine and a port of 1024..65535")


def holder(address: str, port: int) -> str:
    """Who keeps others from ``address:port`` of this machine, for people: who listens there, else whose
    connection it is, as of a client that the system has given that port."""
    if listening := _inodes(address, port, listens=True):
        return _process(listening) or "a process that this user may not look into"
    if (process := _process(_inodes(address, port, listens=False))) is not None:
        return f"a connection of {process}, which does not listen there"
    return "a connection that is not over yet, or a process that does not listen there"


def _process(inodes: list[str]) -> str | None:
    """Who has one of these sockets, as far as this user may look."""
    sockets = {f"socket:[{inode}]" for inode in inodes}
    for process in Path("/proc").glob("[0-9]*"):
        if sockets & _open_files(process):
            return f"process {process.name} ({_command(process)})"
    return None


def _inodes(address: str, port: int, *, listens: bool) -> list[str]:
    """Sockets that keep others from ``address:port``: on this very address, or either side on all."""
    found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    wanted = {ip_address(str(place[0])) for *_, place in found}
    takes_all = any(ip.is_unspecified for ip in wanted)
    inodes = []
    tables = [table for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if table.exists()]
    for line in (line for table in tables for line in table.read_text().splitlines()[1:]):
        fields = line.split()
        where, _, number = fields[1].rpartition(":")
        if (fields[3] == _LISTENING) == listens and int(number, 16) == port:
            ip = _ip(where)
            if takes_all or ip.is_unspecified or ip in wanted:
                inodes.append(fields[9])
    return inodes


def _ip(digits: str) -> IPv4Address | IPv6Address:
    """An address as the kernel's tables show it: words of four bytes, each in the machine's own order."""
    raw = bytes.fromhex(digits)
    step = -1 if sys.byteorder == "little" else 1
    ip = ip_address(b"".join(raw[at : at + 4][::step] for at in range(0, len(raw), 4)))
    return (isinstance(ip, IPv6Address) and ip.ipv4_mapped) or ip


def _open_files(process: Path) -> set[str]:
    names = set()
    with suppress(OSError):  # the process ended meanwhile, or is another user's
        for entry in (process / "fd").iterdir():
            with suppress(OSError):  # so did the descriptor
                names.add(str(entry.readlink()))
    return names


def _command(process: Path) -> str:
    """Its command line in one short line: arguments may hold whole programs, and what a screen obeys."""
    try:
        text = (process / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return "unknown"
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
