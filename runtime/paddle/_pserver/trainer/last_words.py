"""Last words: the failure that a shard told on a connection, behind answers that nobody has read.

1.  On a connection that has ended, answers before it are thrown away: what they are to is asked again on
    another one.
2.  On one that is open nothing is taken: answers before it are read by whoever asked. What is seen there ends
    at ``SEEN_BYTES``, or what the kernel holds; over TLS, of which only a byte can be looked at, nothing is.

It must never know what was asked. Guarantee: it reads what has come and no more; where that is no failure, or
no frames, there is none.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence

from paddle._pserver.errors import FrameError
from paddle._pserver.protocol import link
from paddle._pserver.protocol.framing import FrameReader, Limits
from paddle._pserver.protocol.messages import REPLY_BYTES, Failure, Reply, Request, decode
from paddle._pserver.trust.handshake import Stream

SEEN_BYTES = 1 << 20


def last_words(stream: Stream) -> Failure | None:
    """What ``stream`` brought last, to the end that it has come to."""
    stream.settimeout(0.0)
    return _failure(stream, lambda buffers: stream.recvmsg_into(buffers)[0])


def words_ahead(stream: Stream) -> Failure | None:
    """What ``stream``, between two messages, will bring behind what it brings first."""
    if not isinstance(stream, socket.socket):
        return None
    stream.settimeout(0.0)
    try:
        seen = memoryview(stream.recv(SEEN_BYTES, socket.MSG_PEEK))
    except OSError:
        return None
    at = 0

    def copy(buffers: Sequence[memoryview]) -> int:
        nonlocal at
        part = seen[at : at + buffers[0].nbytes]
        buffers[0][: part.nbytes] = part
        at += part.nbytes
        return part.nbytes

    return _failure(stream, copy)


def _failure(stream: Stream, receive: Callable[[Sequence[memoryview]], int]) -> Failure | None:
    reader = FrameReader(_nowhere, Limits(meta_bytes=REPLY_BYTES))
    reader.checks_body = not isinstance(stream, socket.socket) or link.can_damage(stream)
    try:
        return next((reply for reply in _replies(receive, reader) if isinstance(reply, Failure)), None)
    except (OSError, FrameError):
        return None


def _replies(
    receive: Callable[[Sequence[memoryview]], int], reader: FrameReader[Reply | Request]
) -> Iterator[Reply | Request]:
    while count := receive(reader.buffers()):
        reader.received(count)
        while (reply := reader.message()) is not None:
            yield reply


def _nowhere(kind: int, meta: memoryview, body_length: int) -> tuple[Reply | Request, Sequence[memoryview]]:
    return decode(kind, meta), [memoryview(bytearray(body_length))] if body_length else ()
