"""A line that is being opened by a thread that may be stuck: nobody waits longer than is right."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from paddle._launch.errors import HostKeyUnknown, NodeError, NodeLost, NodeUnreachable
from paddle._launch.machines import opening as opening_of
from paddle._launch.machines.opening import Opening
from paddle._launch.machines.patience import Gate
from tests.waiting import PATIENCE_S, until


class FakeLine:
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


class Stuck:
    """Opens a line once the test lets it."""

    def __init__(self) -> None:
        self.may_go = threading.Event()
        self.has_begun = threading.Event()
        self.line = FakeLine()

    def connect(self, end: float, is_off: threading.Event) -> FakeLine:
        self.has_begun.set()
        assert self.may_go.wait(PATIENCE_S)
        return self.line


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    made = Stuck()
    yield made
    made.may_go.set()


def opening(connect, gate: Gate | None = None) -> Opening[FakeLine]:
    return Opening(connect, gate or Gate(1, PATIENCE_S), lambda s: NodeUnreachable(f"{s:.1f} s"))


def failed(one: Opening[FakeLine], patience_s: float = PATIENCE_S) -> list[NodeError]:
    """Open it in a thread; why it fails will be in what this gives."""
    found: list[NodeError] = []

    def go() -> None:
        try:
            one.open(patience_s)
        except NodeError as error:
            found.append(error)

    threading.Thread(target=go, daemon=True).start()
    return found


def test_it_gives_the_line_or_why_there_is_none(stuck) -> None:
    stuck.may_go.set()
    assert opening(stuck.connect).open() is stuck.line

    def refused(end: float, is_off: threading.Event) -> FakeLine:
        raise HostKeyUnknown("never seen")

    with pytest.raises(HostKeyUnknown):
        opening(refused).open()


def test_who_calls_it_off_waits_for_no_thread_and_what_comes_late_is_closed(stuck) -> None:
    gate = Gate(1, PATIENCE_S)
    one = opening(stuck.connect, gate)
    found = failed(one)
    stuck.has_begun.wait(PATIENCE_S)
    one.call_off()
    until(lambda: found, "an answer")
    assert isinstance(found[0], NodeLost)
    with gate.passed():  # another one may be opened
        pass
    stuck.may_go.set()
    until(lambda: stuck.line.is_closed, "its end")


def test_those_who_wait_for_their_turn_are_called_off_too(stuck) -> None:
    gate = Gate(1, PATIENCE_S)
    first, second = opening(stuck.connect, gate), opening(lambda end, is_off: pytest.fail("it began"), gate)
    found = [failed(first)]
    stuck.has_begun.wait(PATIENCE_S)
    found.append(failed(second))
    for one in (second, first):
        one.call_off()
    until(lambda: all(found), "answers")


def test_a_deadline_holds_whatever_the_thread_is_stuck_in(stuck, monkeypatch) -> None:
    monkeypatch.setattr(opening_of, "_WORDS_S", 0.0)
    with pytest.raises(NodeUnreachable, match=r"0\.1 s"):
        opening(stuck.connect).open(0.1)
    stuck.may_go.set()
    until(lambda: stuck.line.is_closed, "its end")
