"""Unheard: whether a shard has ended a connection on which its trainer does not listen just now.

To who only looks at the next byte a connection is good as long as something was said before it ended; and a
shard that waits for others says so every few seconds. A trainer that waits at another shard would never come
back to this one, which may be the one that the others wait for.

It must never take what has come: who asked hears it in its turn. Guarantee: a reason that the shard gave is
not passed over.
"""

from __future__ import annotations

import select
import socket

from paddle._pserver.errors import BadMessage, FrameError
from paddle._pserver.framing import FrameReader
from paddle._pserver.handshake import Stream
from paddle._pserver.messages import Failure, Reply, Request, decode

_LOOKED_AT_BYTES = 1 << 14


def is_over(sock: Stream | None) -> bool:
    """Whether the other side has ended the connection, and did not say why. What it answered before it did is
    of no use: a shard that comes back has perhaps forgotten what it answered."""
    if sock is None:
        return True
    poll = select.poll()
    poll.register(sock, select.POLLRDHUP)
    return bool(poll.poll(0)) and not _gives_reason(sock)


def _gives_reason(sock: Stream) -> bool:
    sock.settimeout(0.0)
    try:
        data = sock.recv(_LOOKED_AT_BYTES, socket.MSG_PEEK)
    except OSError:
        return False
    reader = FrameReader(_bodiless)
    reader.buffers()[0][: len(data)] = data
    try:
        return any(isinstance(message, Failure) for message in reader.received(len(data)))
    except FrameError:  # an answer, or the rest of one
        return False


def _bodiless(kind: int, meta: memoryview, body_length: int) -> tuple[Request | Reply, tuple[()]]:
    if body_length:
        raise BadMessage("an answer with values is no reason")
    return decode(kind, meta), ()
