"""How long a trainer waits: time in which it could not hear does not count."""

from __future__ import annotations

import pytest

from paddle._pserver.trainer import deadline
from paddle._pserver.trainer.deadline import Deadline


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_is_over_when_it_has_been_waited_for_so_long() -> None:
    clock = Clock()
    until = Deadline(3.0, clock)
    assert until.left_s() == 3.0
    clock.now += 2.5
    assert (until.left_s(), until.is_over) == (0.5, False)
    clock.now += 2.5
    assert (until.left_s(), until.is_over) == (0.0, True)


def test_a_process_that_stood_still_has_lost_a_moment_only() -> None:
    clock = Clock()
    until = Deadline(60.0, clock)
    clock.now += 86_400
    assert until.left_s() == 60.0 - deadline.MOST_S
    clock.now += 0.5
    assert until.left_s() == 59.5 - deadline.MOST_S


@pytest.mark.parametrize("within_s", [0.0, -1.0])
def test_one_that_leaves_no_time_is_over_at_once(within_s: float) -> None:
    until = Deadline(within_s, Clock())
    assert until.left_s() == 0.0
    assert until.is_over


def test_silence_is_spent_and_what_else_has_passed_is_not() -> None:
    clock = Clock()
    until = Deadline(3.0, clock)
    clock.now += 8.0
    until.spend(0.5)
    assert until.left_s() == 2.5
    until.spend(2.5)
    assert until.is_over
    until.leave(1.0)
    assert (until.left_s(), until.is_over) == (1.0, False)
