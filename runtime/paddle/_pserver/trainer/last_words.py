"""Last words: the failure that a shard told on a connection before it ended, behind answers that nobody has
read.

It must never know what was asked. Guarantee: it reads what has come and no more; where that is no failure, or
no frames, there is none. Answers are thrown away: what they are to is asked again on another connection.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

from paddle._pserver.errors import FrameError
from paddle._pserver.protocol import link
from paddle._pserver.protocol.framing import FrameReader, Limits
from paddle._pserver.protocol.messages import REPLY_BYTES, Failure, Reply, Request, decode
from paddle._pserver.trust.handshake import Stream


def last_words(stream: Stream) -> Failure | None:
    """What ``stream`` brought last, to the end that it has come to."""
    reader = FrameReader(_nowhere, Limits(meta_bytes=REPLY_BYTES))
    reader.checks_body = not isinstance(stream, socket.socket) or link.can_damage(stream)
    stream.settimeout(0.0)
    try:
        return next((reply for reply in _replies(stream, reader) if isinstance(reply, Failure)), None)
    except (OSError, FrameError):
        return None


def _replies(stream: Stream, reader: FrameReader[Reply | Request]) -> Iterator[Reply | Request]:
    while count := stream.recvmsg_into(reader.buffers())[0]:
        reader.received(count)
        while (reply := reader.message()) is not None:
            yield reply


def _nowhere(kind: int, meta: memoryview, body_length: int) -> tuple[Reply | Request, Sequence[memoryview]]:
    return decode(kind, meta), [memoryview(bytearray(body_length))] if body_length else ()
