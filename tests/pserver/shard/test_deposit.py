"""Parts of a gradient, from what is given ahead to what a shard counts: whatever happens on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.ahead import PART_BYTES, Ahead
from paddle._pserver.protocol.placement import dense_layout
from paddle._pserver.shard.deposit import Deposit

LARGE = PART_BYTES // 4
SIZES = (LARGE, 3, LARGE - 3, 3, 1, 2 * LARGE, 7)
LAYOUT = dense_layout([ParameterSpec(name=f"p{i}", shape=(size,)) for i, size in enumerate(SIZES)], 0, 1)


def fill(deposit: Deposit, targets: list[memoryview], segments: tuple[int, ...], value: float) -> None:
    """What a connection brings: the gradient's ``segments``, all ``value``, in this order."""
    assert sum(target.nbytes for target in targets) == 4 * sum(SIZES[segment] for segment in segments)
    for target in targets:
        np.frombuffer(target, np.float32)[...] = value


class Way(RuleBasedStateMachine):
    """A trainer's Ahead, and the Deposit of the connection that it has, which breaks now and then.

    The gradient of each batch is a number of its own, so that a mixture shows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ahead = Ahead([4 * size for size in SIZES])
        self.batch, self.given = 1.0, 0
        self.deposit = Deposit(LAYOUT)
        self.parts = 0

    @precondition(lambda self: self.given < len(SIZES))
    @rule()
    def a_gradient_is_final(self) -> None:
        self.given += 1
        self.ahead.give(len(SIZES) - self.given)

    @rule()
    def the_courier_sends_what_waits(self) -> None:
        due = self.ahead.part(self.deposit)
        if due is not None:
            assert 4 * sum(SIZES[segment] for segment in due.segments) >= PART_BYTES
            self.receive(due.number, due.segments)

    def receive(self, number: int, segments: tuple[int, ...]) -> None:
        fill(self.deposit, self.deposit.part(number, segments), segments, self.batch)
        self.parts = number

    @rule()
    def the_connection_breaks(self) -> None:
        self.deposit, self.parts = Deposit(LAYOUT), 0

    @rule()
    def the_batch_is_given_up(self) -> None:
        self.next_batch()

    @precondition(lambda self: self.given == len(SIZES))
    @rule(breaks=st.booleans())
    def the_push_is_sent(self, breaks: bool) -> None:
        due, way = self.ahead.rest()
        if breaks:
            self.the_connection_breaks()
        parts, segments = due.number, due.segments
        if way is not self.deposit:  # as the line does it
            parts, segments = 0, tuple(range(len(SIZES)))
        assert parts in (0, self.parts)
        fill(self.deposit, self.deposit.rest(parts), segments, self.batch)
        assert all((array == self.batch).all() for array in self.deposit.gradient.dense)
        self.next_batch()

    def next_batch(self) -> None:
        self.ahead = Ahead([4 * size for size in SIZES])
        self.batch, self.given = self.batch + 1, 0


TestWay = Way.TestCase
TestWay.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)


def test_neighbours_are_received_at_once() -> None:
    deposit = Deposit(LAYOUT)
    assert [view.nbytes for view in deposit.part(1, (2, 3, 5))] == [4 * LARGE, 8 * LARGE]
    assert [view.nbytes for view in deposit.rest(1)] == [4 * LARGE + 12, 4, 28]
    assert [view.nbytes for view in deposit.rest(0)] == [4 * LAYOUT.size]


@pytest.mark.parametrize(
    ("number", "segments", "saying"),
    [
        (3, (1,), "part 3 of a gradient came after part 1"),
        (1, (0, 7), r"brings the segments \(0, 7\), and of 7 this shard lacks \[0, 1, 2"),
        (2, (0,), r"this shard lacks \[1, 2, 3, 4, 5, 6\]"),
        (2, (1, 1), "this shard lacks"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(number: int, segments: tuple[int, ...], saying: str) -> None:
    deposit = Deposit(LAYOUT)
    deposit.part(1, (0,))
    with pytest.raises(BadMessage, match=saying):
        deposit.part(number, segments)


def test_a_push_that_tells_of_parts_that_did_not_come_is_refused() -> None:
    deposit = Deposit(LAYOUT)
    deposit.part(1, (0,))
    with pytest.raises(BadMessage, match="tells of 2 parts before it, 1 came"):
        deposit.rest(2)
    deposit.rest(1)
    with pytest.raises(BadMessage, match="tells of 1 parts before it, 0 came"):
        deposit.rest(1)
