"""Couriers: work is done in order, who waits goes on in time, and no error is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from paddle._pserver.trainer.courier import Apart, Courier, Here
from tests.waiting import PATIENCE_S

BOTH = pytest.mark.parametrize("make", [Here, lambda: Apart("a test's")], ids=["here", "apart"])


@BOTH
def test_work_is_done_in_the_order_in_which_it_was_given(make: Callable[[], Courier]) -> None:
    courier, done = make(), []
    for number in range(5):
        courier.at_once(lambda number=number: done.append(number))
    courier.when_needed(lambda: done.append(5))
    courier.wait()
    assert done == list(range(6))
    assert courier.leave(PATIENCE_S)


@BOTH
def test_after_work_that_failed_nothing_is_done_and_everybody_gets_its_error(
    make: Callable[[], Courier],
) -> None:
    courier, done = make(), []
    courier.when_needed(lambda: 1 / 0)
    courier.when_needed(lambda: done.append(1))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            courier.wait()
    assert done == []
    assert courier.leave(PATIENCE_S)


def test_here_does_nothing_before_it_is_needed() -> None:
    courier, done = Here(), []
    courier.when_needed(lambda: done.append(1))
    courier.wait(lambda: True)
    assert done == []
    courier.wait()
    assert done == [1]


def test_apart_who_waits_goes_on_when_what_it_waits_for_is_there_and_the_work_is_not_done() -> None:
    courier, there, may_end = Apart("a test's"), [], threading.Event()

    def work() -> None:
        there.append(1)
        courier.wakes()
        assert may_end.wait(PATIENCE_S)

    courier.at_once(work)
    courier.wait(lambda: bool(there))
    assert not courier.leave(0.0)  # it is still at work
    may_end.set()
    assert courier.leave(PATIENCE_S)


def test_apart_nobody_waits_for_work_that_will_not_be_done() -> None:
    courier = Apart("a test's")
    began, may_end = threading.Event(), threading.Event()
    courier.at_once(lambda: (began.set(), may_end.wait(PATIENCE_S)))
    courier.at_once(lambda: None)
    assert began.wait(PATIENCE_S)
    courier.leave(0.0)
    courier.wait()
    may_end.set()
