"""Many nodes at once, so many at a time; what fails with one is a value and keeps no other from its end."""

from __future__ import annotations

import itertools
import threading
from functools import partial
from types import SimpleNamespace

import pytest

from paddle._launch.errors import LaunchError, NodeLost, NodeUnfit
from paddle._launch.machines import crowd as of_crowd
from paddle._launch.machines.crowd import Say, crowd, together
from tests.waiting import PATIENCE_S


def test_all_are_done_and_what_each_says_is_heard_in_the_thread_that_waits() -> None:
    heard: list[tuple[int, object]] = []

    def work(number: int, say: Say) -> int:
        say(f"begin {number}")
        return number * number

    def hear(key: int, news: object) -> None:
        assert threading.current_thread() is threading.main_thread()
        heard.append((key, news))

    done = crowd({number: partial(work, number) for number in range(64)}, hear)
    assert list(done.items()) == [(number, number * number) for number in range(64)]
    assert sorted(heard) == [(number, f"begin {number}") for number in range(64)]


def test_no_more_are_under_way_at_a_time_than_there_may_be() -> None:
    lock, under_way, most = threading.Lock(), 0, 0
    is_full = threading.Barrier(4)

    def work(say: Say) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        is_full.wait(PATIENCE_S)
        with lock:
            under_way -= 1

    crowd(dict.fromkeys(range(40), work), lambda key, news: None, parallel=4)
    assert most == 4


def test_what_fails_is_a_value() -> None:
    def fail(error: Exception, say: Say) -> None:
        raise error

    unfit = NodeUnfit("no")
    done = crowd(
        {1: partial(fail, unfit), 2: partial(fail, ValueError("bad")), 3: lambda say: 7},
        lambda key, news: None,
    )
    assert done[1] is unfit
    assert isinstance(done[2], LaunchError) and str(done[2]) == "ValueError: bad"
    assert done[3] == 7


def test_of_none_nothing_comes() -> None:
    assert crowd({}, lambda key, news: None) == {}


def test_one_that_does_not_come_back_is_given_up_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    times = itertools.chain([0.0, 0.0], itertools.repeat(PATIENCE_S))  # it is over with the first answer
    monkeypatch.setattr(of_crowd, "time", SimpleNamespace(monotonic=lambda: next(times)))
    values, errors = together({0: never.wait, 1: lambda: True}, PATIENCE_S)
    assert values == {1: True}
    assert isinstance(errors[0], NodeLost)
    assert "did not answer within" in str(errors[0])
    never.set()


def test_what_came_of_each_and_why_others_failed_is_given_apart() -> None:
    def fail() -> int:
        raise NodeUnfit("no")

    values, errors = together({1: lambda: 10, 2: fail, 0: lambda: 0}, PATIENCE_S)
    assert list(values.items()) == [(1, 10), (0, 0)]
    assert {key: str(error) for key, error in errors.items()} == {2: "no"}
