"""A trainer comes to all its shards at once; where one cannot be met, nobody waits for the others."""

from __future__ import annotations

import threading

import pytest

from paddle._pserver.errors import PserverError, ShardUnreachable
from paddle._pserver.trainer import meeting
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.meeting import meet
from tests.waiting import PATIENCE_S, until


class FakeLine:
    """A way to a shard: ``come`` is what takes time."""

    def __init__(self, name: str, heard: list[str], come) -> None:
        self._name, self._heard, self._come = name, heard, come

    def connect(self, deadline: Deadline) -> None:
        self._come(deadline)

    def greet(self) -> None:
        self._heard.append(self._name)

    def greet_again(self) -> bool:
        return False


def refuse(_: Deadline) -> None:
    raise PserverError("another token")


def test_it_comes_to_all_at_once_and_hears_them_in_their_order() -> None:
    heard: list[str] = []
    all_there = threading.Barrier(8)
    lines = [FakeLine(f"shard {i}", heard, lambda _: all_there.wait(PATIENCE_S)) for i in range(8)]
    meet(lines, PATIENCE_S)  # type: ignore[arg-type]
    assert heard == [f"shard {i}" for i in range(8)]


def test_one_that_refuses_is_told_at_once_and_nobody_goes_on_waiting_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meeting, "_NOTICE_S", PATIENCE_S)
    heard: list[str] = []
    given_up = threading.Event()

    def absent(deadline: Deadline) -> None:
        until(lambda: deadline.is_over, "an end")
        given_up.set()
        raise ShardUnreachable("nobody listens")

    lines = [FakeLine("absent", heard, absent), FakeLine("refuses", heard, refuse)]
    with pytest.raises(PserverError, match="another token"):
        meet(lines, PATIENCE_S)  # type: ignore[arg-type]
    assert given_up.is_set()
    assert heard == []


def test_a_deadline_can_be_ended_by_another_thread() -> None:
    deadline = Deadline(60.0)
    assert not deadline.is_over
    deadline.end()
    assert deadline.is_over
    assert deadline.left_s() == 0.0
