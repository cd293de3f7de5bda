"""Nearby: the unix-domain socket that a shard has beside its TCP port, for trainers of the same machine.

Its name is abstract and made of the address and port that the shard listens on: it is seen in one network
namespace, as the loopback device is, leaves no file behind, and goes with the last process that holds it.

1.  The TCP port is the truth. Where the name is taken, or no good answer comes under it, TCP is all there is.
2.  Any user may take a name, also one whose port is another's. So a trainer goes only to processes of its own
    user, who could as well read its memory; all others it meets over TCP.
3.  What is said is what is said over TCP, the proof of the token included: either side writes the address and
    port that the name is made of.

It must never know what is said.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from paddle._pserver.trust.auth import plain

HERE = "127.0.0.1"
"""The peer of whoever comes by such a name."""

_PREFIX = "\0paddle-pserver-"
_EVERYWHERE: dict[int, str] = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}
_BACKLOG = 1024
_CREDENTIALS = struct.Struct("3i")  # process, user, group


class _Socket(Protocol):
    @property
    def family(self) -> int: ...

    def getsockopt(self, level: int, option: int, length: int, /) -> bytes: ...


Name = tuple[str, int] | tuple[str, int, int, int] | bytes | str | None
"""What Python says of a socket's end: bytes for a name, and text for an end that has none."""


def beside(listener: socket.socket) -> socket.socket | None:
    """A socket that listens under the name of ``listener``'s address and port; None where it is taken."""
    near = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        near.bind(_name(*listener.getsockname()[:2]))
        near.listen(_BACKLOG)
    except OSError:
        near.close()
        return None
    return near


def connect(host: str, port: int, timeout_s: float) -> socket.socket | None:
    """A connection to the shard at ``host:port`` by its name, where it is on this machine and this user's."""
    with suppress(OSError):  # no such host, which TCP says better
        for name in _names(host, port):
            sock = _connected(name, timeout_s)
            if sock is not None:
                return sock
    return None


def elsewhere(host: str, port: int) -> list[str]:
    """Where else on this machine shards listen on ``port``: on another device than ``host`` is an address of.
    Of a host that is another machine nothing, and of one embedded node none of the others."""
    try:
        own = set(_names(host, port))
        words = [line.split()[-1] for line in Path("/proc/net/unix").read_bytes().splitlines()]
    except OSError:  # no such host, or no such table
        return []
    names = {b"\0" + word[1:] for word in words if word.startswith(b"@" + _PREFIX[1:].encode())}
    is_loopback = any(_is_loopback(place(name)[0]) for name in own)
    found = [place(name) for name in sorted(names - own)] if own else []
    return [
        address
        for address, listens in found
        if listens == port and not (is_loopback and _is_loopback(address))
    ]


def _is_loopback(address: str) -> bool:
    return address == "::1" or address.startswith("127.")


def place(name: Name) -> tuple[str, int]:
    """The address and port of a shard, from the name of its end of a connection."""
    if isinstance(name, bytes):
        address, _, port = name.decode().removeprefix(_PREFIX).rpartition("-")
        return address, int(port)
    assert isinstance(name, tuple)
    return name[0], name[1]


def peer(name: Name, own: Name) -> str | None:
    """Who is at the other end, ``name``, of ``own``, for people; None where it has gone already."""
    if isinstance(own, bytes):
        return f"{HERE} (same machine)"
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else None


def neighbour(sock: _Socket) -> int | None:
    """The process that came by a name, where it is this user's and seen from here."""
    if sock.family != socket.AF_UNIX:
        return None
    process, user, _ = _end(sock)
    return process if process > 0 and user == os.geteuid() else None


def _name(address: str, port: int) -> bytes:
    return f"{_PREFIX}{plain(address)}-{port}".encode()


def _names(host: str, port: int) -> Iterator[bytes]:
    """Of a shard that listens on one of ``host``'s addresses that are this machine's, or on all of its."""
    for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if _is_here(family, address):
            yield _name(str(address[0]), port)
            yield _name(_EVERYWHERE[family], port)


def _is_here(family: int, address: tuple[Any, ...]) -> bool:
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.bind((address[0], 0, *address[2:]))
        return True
    return False


def _connected(name: bytes, timeout_s: float) -> socket.socket | None:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout_s)
        sock.connect(name)
        if _end(sock)[1] == os.geteuid():
            return sock
    except OSError:
        pass
    sock.close()
    return None


def _end(sock: _Socket) -> tuple[int, int, int]:
    """Process, user and group at the other end; of a listener's the process that made it listen."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, group = _CREDENTIALS.unpack(raw)
    return process, user, group
