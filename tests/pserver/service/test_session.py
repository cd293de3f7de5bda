"""A session with a transport that is played: what it reads, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from paddle._pserver.errors import ChecksumMismatch, FrameError, FrameTooLarge
from paddle._pserver.protocol.framing import FrameReader, bytes_of, pieces
from paddle._pserver.protocol.messages import Answer, Goodbye, Pull, Request, decode, encode
from paddle._pserver.service import session as session_module
from paddle._pserver.service.session import Session
from paddle._pserver.shard.inlet import Inbound, Inlet
from tests.waiting import PATIENCE_S

from ..talk import Talk


class Transport(asyncio.Transport):
    """Takes what is written until ``takes`` bytes are there."""

    def __init__(self, takes: int) -> None:
        super().__init__()
        self.takes = takes
        self.written = 0
        self.kept: list[Any] = []  # as it was given, which is sent later
        self.reading = True
        self.cut = asyncio.Event()
        self.session: Any = None

    def write(self, data: Any) -> None:
        self.written += len(data)
        self.kept.append(data)
        if self.written > self.takes:
            self.session.pause_writing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return Mock() if name == "socket" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.session = protocol

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.cut.is_set()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        pass

    def abort(self) -> None:
        self.cut.set()


class Http(asyncio.Protocol):
    """aiohttp's protocol, which only hears of things."""


class Owner:
    """Answers every question with ``answer``."""

    def __init__(self, answer: np.ndarray) -> None:
        self.answer = answer
        self.heard: list[Request] = []
        self.errors: list[Exception] = []

    def received(self, session: Session, inbound: Inbound) -> None:
        self.heard.append(inbound.message)
        session.send(Answer(0), [self.answer])

    def damaged(self, session: Session, error: FrameError) -> None:
        self.errors.append(error)

    def failed(self, error: Exception) -> None:
        self.errors.append(error)

    def lost(self, session: Session, reason: str) -> None:
        pass


def frame(message: Request) -> bytes:
    return b"".join(b"".join(group) for group in pieces(*encode(message)))


def bring(session: Session, data: bytes) -> None:
    session.get_buffer(-1)[: len(data)] = data
    session.buffer_updated(len(data))


def played(act: Callable[[Session, Transport, Owner], None], *, takes: int) -> None:
    async def run() -> None:
        transport, owner = Transport(takes), Owner(np.zeros(1 << 20, np.float32))
        session = Session(1, Inlet(Talk(1).start().shard, 1), owner, transport, Http())
        act(session, transport, owner)
        session.connection_lost(None)

    asyncio.run(run())


def test_who_asks_and_does_not_listen_is_not_read_from() -> None:
    def act(session: Session, transport: Transport, owner: Owner) -> None:
        bring(session, frame(Pull()) * 50)
        assert len(owner.heard) == 1
        assert not transport.reading
        assert transport.written < 1 << 20
        transport.takes = 8 << 20  # it listens
        session.resume_writing()
        assert 1 < len(owner.heard) < 5
        assert not transport.reading
        transport.takes = 1 << 40
        session.resume_writing()
        assert len(owner.heard) == 50
        assert transport.reading
        assert not owner.errors

    played(act, takes=1 << 18)


@pytest.mark.parametrize("live", [True, False])
def test_values_that_may_change_are_sent_as_they_were_when_their_check_was_made(live: bool) -> None:
    """Whoever sends may hold on to what the other side does not take at once."""

    def act(session: Session, transport: Transport, owner: Owner) -> None:
        session.send(Answer(0), [owner.answer], live=live)
        owner.answer[:] = 7  # the next step
        into = np.empty_like(owner.answer)
        reader = FrameReader(lambda kind, meta, length: (decode(kind, meta), [bytes_of(into)]))
        if not live:  # it was promised that they do not
            with pytest.raises(ChecksumMismatch):
                take(reader, b"".join(transport.kept))
            return
        assert take(reader, b"".join(transport.kept)) == Answer(0)
        assert not into.any()

    played(act, takes=1 << 40)


def take(reader: FrameReader[Any], data: bytes) -> Any:
    """The message that ``data`` bring."""
    left = memoryview(data)
    while left:
        room = reader.buffers()[0]
        size = min(room.nbytes, left.nbytes)
        room[:size], left = left[:size], left[size:]
        reader.received(size)
        if (message := reader.message()) is not None:
            return message
    return None


def test_who_is_closed_is_read_to_its_end_and_not_heard() -> None:
    def act(session: Session, transport: Transport, owner: Owner) -> None:
        bring(session, frame(Pull()) * 2)
        assert not transport.reading
        session.close()
        assert transport.reading
        bring(session, frame(Pull()))
        transport.takes = 1 << 40
        session.resume_writing()
        assert owner.heard == [Pull()]

    played(act, takes=1 << 18)


def test_of_an_answer_that_is_cut_off_the_rest_is_never_sent() -> None:
    def act(session: Session, transport: Transport, owner: Owner) -> None:
        bring(session, frame(Pull()))
        written = transport.written
        assert written < owner.answer.nbytes
        session.drop()
        assert transport.cut.is_set()
        transport.takes = 1 << 40
        session.send(Answer(1))
        session.close()
        session.resume_writing()
        assert transport.written == written

    played(act, takes=1 << 18)


def test_where_all_is_out_there_is_nothing_to_cut_off() -> None:
    def act(session: Session, transport: Transport, owner: Owner) -> None:
        bring(session, frame(Pull()))
        session.drop()
        assert not transport.cut.is_set()
        bring(session, frame(Pull()))
        assert owner.heard == [Pull(), Pull()]

    played(act, takes=1 << 40)


def test_a_first_message_is_small() -> None:
    def act(session: Session, transport: Transport, owner: Owner) -> None:
        long = Goodbye("x" * 5000)
        bring(session, frame(Pull()))
        bring(session, frame(long))
        assert owner.heard == [Pull(), long]
        stranger = Session(2, Inlet(Talk(1).shard, 2), owner, transport, Http())
        assert session.known
        bring(stranger, frame(long)[:100])
        assert isinstance(owner.errors[0], FrameTooLarge)
        assert not stranger.known
        stranger.connection_lost(None)

    played(act, takes=1 << 40)


def test_a_connection_that_says_nothing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "FIRST_MESSAGE_S", 0.0)

    async def run() -> None:
        transport = Transport(1 << 40)
        Session(1, Inlet(Talk(1).shard, 1), Owner(np.zeros(1, np.float32)), transport, Http())
        await asyncio.wait_for(transport.cut.wait(), PATIENCE_S)

    asyncio.run(run())


def test_a_connection_that_spoke_is_not_cut() -> None:
    def act(session: Session, transport: Transport, owner: Owner) -> None:
        bring(session, frame(Pull()))
        assert session._patience.cancelled()

    played(act, takes=1 << 40)


def test_a_connection_that_was_reset_as_it_is_closed_is_no_error_of_this_side() -> None:
    def act(session: Session, transport: Transport, owner: Owner) -> None:
        transport.write_eof = Mock(side_effect=OSError(107, "not connected"))  # type: ignore[method-assign]
        session.close()
        transport.write_eof.assert_called_once()
        assert owner.errors == []

    played(act, takes=1 << 30)
