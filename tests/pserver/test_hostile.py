"""Ten thousand frames that nobody should send, in every state in which a shard may meet them."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from typing import get_args

import numpy as np
import pytest

from paddle._pserver.errors import FrameError
from paddle._pserver.protocol.framing import FrameReader, Limits
from paddle._pserver.protocol.messages import Failure, Reply
from paddle._pserver.service.session import FIRST_MESSAGE
from paddle._pserver.shard.inlet import Inbound, Inlet
from paddle._pserver.trainer.client import Client

from .hostile import Hostile
from .talk import MODEL, Talk

FRAMES = 10_000
REFUSALS = ("NotAFrame", "ChecksumMismatch", "FrameTooLarge", "BadMessage")
_SESSION = 2  # of trainer 1
MOST_BYTES = 16 << 20  # of which a meta within its limit, and what is made of it, may take most


class Meeting:
    """A shard with a model, and connections of trainer 1, and of nobody, to it."""

    def __init__(self) -> None:
        self.talk = Talk(2).start()
        self.talk.lose(1)
        assert self.talk.shard.tables is not None
        self.talk.shard.tables.values[:] = 3.0
        self.rejected: Counter[str] = Counter()

    def bring(self, data: bytes, *, is_known: bool, cut: int) -> None:
        """In two pieces, on a new connection."""
        if is_known:
            self.talk.hello(1)
            self.talk.declare(1)
        else:
            self.talk.shard.connected(_SESSION, "somewhere")
        inlet = Inlet(self.talk.shard, _SESSION)
        reader: FrameReader[Inbound] = FrameReader(inlet.place, Limits() if is_known else FIRST_MESSAGE)
        try:
            for piece in (data[:cut], data[cut:]):
                self._receive(reader, memoryview(piece))
        except FrameError as error:
            self.rejected[type(error).__name__] += 1
        self.talk.lose(1)

    def _receive(self, reader: FrameReader[Inbound], left: memoryview) -> None:
        while left:
            room = reader.buffers()[0]
            size = min(room.nbytes, left.nbytes)
            room[:size] = left[:size]
            left = left[size:]
            reader.received(size)
            for inbound in iter(reader.message, None):
                replies = self.talk.ask(1, inbound.message, inbound.gradient, ids=inbound.ids)
                assert len(replies) <= 1
                self.rejected.update(reply.code for reply in replies if isinstance(reply, Failure))


@pytest.mark.parametrize("is_known", [False, True], ids=["stranger", "trainer"])
def test_random_frames_are_refused_within_bounds_and_touch_nothing(is_known: bool) -> None:
    meeting, hostile, chance = Meeting(), Hostile(7, MODEL), random.Random(8)
    before = [w.copy() for w in _values(meeting)]
    tracemalloc.start()
    try:
        for _ in range(FRAMES // 2):
            data = hostile.frame()
            meeting.bring(data, is_known=is_known, cut=chance.randrange(len(data)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    for kind in REFUSALS:
        assert meeting.rejected[kind] > 50, meeting.rejected
    for now, then in zip(_values(meeting), before, strict=True):
        assert np.array_equal(now, then)


def test_a_trainer_refuses_what_is_no_answer_too() -> None:
    hostile, heard = Hostile(9, MODEL), Counter[str]()
    tracemalloc.start()
    try:
        for _ in range(FRAMES // 2):
            heard.update(_heard(hostile.frame()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    for kind in REFUSALS:
        assert heard[kind] > 50, heard
    assert set(heard) <= {*REFUSALS, *(kind.__name__ for kind in get_args(Reply))}


def _heard(data: bytes) -> Iterator[str]:
    """What a trainer that is told this takes it for."""
    client = Client("nowhere", 1, "shard", call_timeout_s=1, notice=lambda text: None)
    left = memoryview(data)
    try:
        while left:
            room = client._reader.buffers()[0]
            size = min(room.nbytes, left.nbytes)
            room[:size] = left[:size]
            left = left[size:]
            client._reader.received(size)
            yield from (type(reply).__name__ for reply in iter(client._reader.message, None))
    except FrameError as error:
        yield type(error).__name__


def _values(meeting: Meeting) -> list[np.ndarray]:
    tables = meeting.talk.shard.tables
    assert tables is not None
    return [tables.values, *(table.values for table in tables.rows.values())]
