"""Link: the options of a connection between a trainer and a shard, the same on both sides.

Guarantee: a peer whose machine or network is gone is noticed in little more than a minute by a side that
waits for it. (TCP does not notice a peer that is only stopped: calls have deadlines of their own. And
TCP_USER_TIMEOUT is not used: it would also cut off a trainer that has not come to read an answer yet.)
On one machine the kernel says at once that a process is gone, and a unix socket has no such options.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
from collections.abc import Callable
from typing import Protocol

_TIME = struct.Struct("@ll")  # seconds and microseconds
_BUFFER_BYTES = 1 << 20
_DEAD_AFTER_S = 60
_PROBE_EVERY_S = 15


class _Socket(Protocol):
    @property
    def family(self) -> int: ...

    def setsockopt(self, level: int, option: int, value: int, /) -> None: ...


def can_damage(sock: _Socket) -> bool:
    """Whether bytes can be damaged on the way: not where they never leave the memory of one machine, which is
    trusted with the parameters, too (docs/decisions/0024)."""
    return sock.family != socket.AF_UNIX


class _Described(Protocol):
    def fileno(self) -> int: ...


def has_ended(sock: _Described) -> bool:
    """Whether the other side sends nothing any more, though something may be there that was not read."""
    poll = select.poll()
    poll.register(sock, select.POLLRDHUP)  # what failed is told in any case
    return bool(poll.poll(0))


def look_at(sock: _Described) -> Callable[[], bool]:
    """What tells at once whether something is there to be read, or the end is."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return lambda: bool(poll.poll(0))


def wait_at_most(sock: socket.socket, timeout_s: float) -> None:
    """Have calls wait in the kernel for so long, and raise BlockingIOError then.

    A timeout of Python's own first waits until a socket is ready. A unix socket is ready to be written to
    once three quarters of its room are free; by then the other side has often nothing left to read. The time
    is that of every 32 KiB or so: a call to a side that takes as little now and then lasts longer.
    """
    sock.setblocking(True)
    waits = _TIME.pack(int(timeout_s), max(1, int(timeout_s % 1 * 1e6)))  # nothing would be for ever
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, waits)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, waits)


_UNREACHABLE = frozenset({errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN})


def is_lost(error: BaseException | None) -> bool:
    """Whether a connection ended since the other side's machine answers no more: not by its closing."""
    return isinstance(error, OSError) and error.errno in _UNREACHABLE


def watch(descriptor: _Described, silent_s: int) -> None:
    """Have a connection on which nothing is said end when the other side's machine has been silent for so
    long. That a process there stands still is no silence: its kernel answers."""
    with socket.socket(fileno=os.dup(descriptor.fileno())) as sock:
        if sock.family == socket.AF_UNIX:
            return
        first = max(1, silent_s // 4)
        every = max(1, silent_s // 8)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, first)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, every)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, max(1, (silent_s - first) // every))


def tune(sock: _Socket) -> None:
    """Set the options."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    if sock.family == socket.AF_UNIX:
        return
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _PROBE_EVERY_S)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_EVERY_S)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _DEAD_AFTER_S // _PROBE_EVERY_S)
