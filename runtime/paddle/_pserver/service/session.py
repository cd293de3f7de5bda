"""Session: one trainer's connection, after HTTP has handed it over. Bytes in, messages out, and back.

The transport was aiohttp's and still is to be closed by aiohttp: what tells of the connection is passed on to
its protocol. A session must never know what a message means.

Guarantee: bytes are received straight into where they belong; what is sent waits in the arrays it comes from,
and nothing more is read or dealt with until it is out, so that who asks and does not listen costs no memory;
after a frame that is damaged nothing more is read from it; a connection that brings no message, or a first
one that is not small, does not last.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from paddle._pserver.errors import FrameError
from paddle._pserver.protocol import link
from paddle._pserver.protocol.framing import SLICE_BYTES, FrameReader, Limits, bytes_of, pieces, small
from paddle._pserver.protocol.messages import Reply, encode
from paddle._pserver.service.meter import Traffic
from paddle._pserver.shard.inlet import Inbound, Inlet

LINGER_S = 5.0
FIRST_MESSAGE_S = 10.0
FIRST_MESSAGE = Limits(meta_bytes=1 << 12, body_bytes=0)
_WASTE = memoryview(bytearray(SLICE_BYTES))  # one for all: nobody reads it


class Owner(Protocol):
    """Who hears of what happens on a session."""

    def received(self, session: Session, inbound: Inbound) -> None:
        """A message came."""

    def damaged(self, session: Session, error: FrameError) -> None:
        """What came is no message; the session reads no more."""

    def failed(self, error: Exception) -> None:
        """What came is right, and dealing with it failed."""

    def lost(self, session: Session, reason: str) -> None:
        """The connection is gone."""


class Session(asyncio.BufferedProtocol):
    """See the module's text."""

    def __init__(
        self, id: int, inlet: Inlet, owner: Owner, transport: asyncio.Transport, http: asyncio.Protocol
    ) -> None:
        self.id, self._inlet = id, inlet
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reader: FrameReader[Inbound] | None = FrameReader(inlet.place, FIRST_MESSAGE)
        self._owner = owner
        self._transport = transport
        self._http = http
        self._outbox: deque[Iterator[list[memoryview]]] = deque()
        self._paused = self._closing = False
        self._spoke = False
        self.is_lost = False  # for the other side's machine answers no more
        self._received = self._sent = 0  # bytes
        self._patience = asyncio.get_running_loop().call_later(FIRST_MESSAGE_S, transport.abort)
        sock = transport.get_extra_info("socket")
        link.tune(sock)
        self._reader.checks_body = self._checks_body = link.can_damage(sock)
        transport.set_write_buffer_limits(high=SLICE_BYTES)
        transport.set_protocol(self)

    @property
    def known(self) -> bool:
        """Whether its first message was a good one and it is still open."""
        return self._spoke and not self._closing

    @property
    def traffic(self) -> Traffic:
        """What has gone over it."""
        return Traffic(received=self._received, sent=self._sent)

    def send(self, message: Reply, body: Sequence[np.ndarray] = (), *, live: bool = False) -> None:
        """Send after all that was sent before; nothing after ``close``. ``live``: ``body`` may change
        meanwhile."""
        if self._closing:
            return
        kind, meta = encode(message)
        views, checks_body = [bytes_of(array) for array in body], self._checks_body
        frame = small(kind, meta, views, checks_body=checks_body)
        if frame is not None and not self._outbox and not self._paused:  # it is a copy
            self._sent += len(frame)
            self._transport.write(frame)
            return
        self._outbox.append(iter(pieces(kind, meta, views, copy=live, checks_body=checks_body)))
        self._pump()
        if self._outbox:
            self._transport.pause_reading()

    def close(self) -> None:
        """Read no more; close once all is sent and the other side has closed, or does not for long."""
        if not self._closing:
            self._reader = None
            self._closing = True
            self._transport.resume_reading()  # into nowhere, to see its end
            asyncio.get_running_loop().call_later(LINGER_S, self._transport.abort)
            self._pump()

    def drop(self) -> None:
        """Close at once if something is not out yet, which nobody is to hear the rest of."""
        if self._outbox:
            self._outbox.clear()
            self._closing, self._reader = True, None
            self._transport.abort()

    def watch(self, silent_s: int) -> None:
        """Be lost when the other side's machine has been silent for so long."""
        link.watch(self._transport.get_extra_info("socket"), silent_s)

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _let_in(self) -> None:
        self._spoke = True
        self._patience.cancel()
        if self._reader is not None:
            self._reader.limits = Limits()

    def _pump(self) -> None:
        while self._outbox and not self._paused:
            group = next(self._outbox[0], None)
            if group is None:
                self._outbox.popleft()
                continue
            for view in group:
                self._sent += view.nbytes
                self._transport.write(view)
        if self._closing and not self._outbox and not self._transport.is_closing():
            with contextlib.suppress(OSError):  # reset already, which is told in a moment
                if self._transport.can_write_eof():
                    self._transport.write_eof()
                else:  # TLS knows no half of an end; it says goodbye and waits for the other side's
                    self._transport.close()

    # What asyncio calls.

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go; after damage, nowhere."""
        return _WASTE if self._reader is None else self._reader.buffers()[0]

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        self._received += nbytes
        if self._reader is not None:
            self._reader.received(nbytes)
            self._go_on()

    def _go_on(self) -> None:
        """Deal with what came, as long as the other side takes the answers; then read more."""
        try:
            while self._reader is not None and not self._outbox:
                inbound = self._reader.message()
                if inbound is None:
                    self._transport.resume_reading()
                    break
                self._owner.received(self, inbound)
                if not self._spoke:
                    self._let_in()
            if self._inlet.adding is not None and self._reader is not None:  # before more is read
                self._inlet.adding.take(self._reader.checked)
        except FrameError as error:
            self._owner.damaged(self, error)
            self.close()
        except Exception as error:
            self._owner.failed(error)

    def eof_received(self) -> None:
        """The other side sends no more; asyncio closes the transport."""

    def pause_writing(self) -> None:
        """The transport has enough."""
        self._paused = True
        self._http.pause_writing()

    def resume_writing(self) -> None:
        """The transport can take more."""
        self._paused = False
        self._http.resume_writing()
        self._pump()
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._patience.cancel()
        self._outbox.clear()
        self.is_lost = link.is_lost(exc)
        reason = str(exc) if exc is not None else "it closed the connection"
        if self._reader is not None and not self._reader.idle:
            reason += " in the middle of a message"
        self._owner.lost(self, reason)
        self._http.connection_lost(exc)
        if not self.closed.done():
            self.closed.set_result(None)
