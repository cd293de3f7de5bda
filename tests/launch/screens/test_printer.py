"""What shows a launch waits for no reader."""

import os
import threading

import pytest

from paddle._launch.board import Board, Row
from paddle._launch.news import Progress
from paddle._launch.screens import printer
from paddle._launch.screens.printer import Printer
from paddle._launch.screens.stream import own
from tests.waiting import PATIENCE_S


class Paused:
    """A terminal after Ctrl+S: what is shown waits in it for ``goes_on``."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.is_reached, self.goes_on = threading.Event(), threading.Event()

    def _wait(self) -> None:
        self.is_reached.set()
        assert self.goes_on.wait(PATIENCE_S)

    def say(self, text: str) -> None:
        self._wait()
        self.shown.append(text)

    def tell(self, bulletin: object) -> None:
        self.shown.append(str(bulletin))

    def show(self, board: Board, now: float) -> None:
        self._wait()
        self.shown.append(f"{board.line()} at {now}")

    def close(self) -> None:
        self.say("closed")


@pytest.fixture
def terminal():
    terminal = Paused()
    yield terminal
    terminal.goes_on.set()


def board() -> Board:
    row = Row(node=0, address="127.0.0.1", role="trainer-0", kind="trainer", rank=0)
    board = Board([row])
    board.take(Progress("trainer-0", 0, 1, 2.0, 3.0))
    return board


def test_a_paused_terminal_keeps_nobody_waiting_and_shows_all_when_it_goes_on(terminal) -> None:
    shown = Printer(terminal, patience_s=PATIENCE_S)
    shown.say("one")
    assert terminal.is_reached.wait(PATIENCE_S)
    for now in (1.0, 2.0, 3.0):
        shown.show(board(), now)
    shown.say("two")
    shown.show(board(), 4.0)
    terminal.goes_on.set()
    shown.close()
    shown.say("last")
    assert terminal.shown == ["one", "two", f"{board().line()} at 4.0", "closed", "last"]


def test_progress_is_shown_as_it_was_when_told_and_not_before_a_line_that_was_told_before_it(
    terminal,
) -> None:
    shown, told = Printer(terminal, patience_s=PATIENCE_S), board()
    line = told.line()
    shown.show(told, 1.0)
    assert terminal.is_reached.wait(PATIENCE_S)  # and it reads the board only when it goes on
    shown.say("a second one reports")
    told.take(Progress("trainer-0", 0, 2, 4.0, 3.0))
    shown.show(told, 2.0)
    terminal.goes_on.set()
    shown.close()
    assert terminal.shown == [f"{line} at 1.0", "a second one reports", f"{told.line()} at 2.0", "closed"]


def test_what_nobody_reads_for_long_is_left_out_and_that_is_said(terminal, monkeypatch) -> None:
    monkeypatch.setattr(printer, "MOST", 3)
    shown = Printer(terminal, patience_s=PATIENCE_S)
    shown.say("first")
    assert terminal.is_reached.wait(PATIENCE_S)
    for line in range(10):
        shown.say(str(line))
    terminal.goes_on.set()
    shown.close()
    assert terminal.shown == [
        "first",
        "... 7 lines that nobody read are left out here",
        "7",
        "8",
        "9",
        "closed",
    ]


def test_a_terminal_that_never_goes_on_is_given_up(terminal) -> None:
    shown = Printer(terminal, patience_s=0.05)
    shown.say("one")
    shown.close()
    shown.say("last")
    assert terminal.shown == []


def test_a_stream_of_its_own_leads_to_the_same_file(tmp_path) -> None:
    with (tmp_path / "file").open("w") as stream:
        other = own(stream)
        assert other.fileno() != stream.fileno()
        with other:
            other.write("words")
        os.fstat(stream.fileno())  # it is still open
    assert (tmp_path / "file").read_text() == "words"


@pytest.mark.parametrize("takes_news", [False, True])
def test_news_that_a_screen_does_not_take_cost_no_line(terminal, takes_news: bool) -> None:
    terminal.takes_news = takes_news
    shown = Printer(terminal, patience_s=PATIENCE_S)
    shown.say("one")
    assert terminal.is_reached.wait(PATIENCE_S)
    shown.say("two")
    for batch in range(2 * printer.MOST):
        shown.tell(Progress("trainer-0", 0, batch, 2.0, 3.0))
    terminal.goes_on.set()
    shown.close()
    assert ("two" in terminal.shown) is not takes_news
    assert any("that nobody read are left out" in line for line in terminal.shown) is takes_news


class Broken(Paused):
    """A terminal whose table cannot be drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.is_broken = threading.Event()

    def show(self, board: Board, now: float) -> None:
        self.is_broken.set()
        raise ZeroDivisionError("no width")

    def close(self) -> None:
        self.shown.append("given back")


def test_a_screen_that_breaks_is_said_once_and_the_rest_is_shown_plainly(terminal) -> None:
    broken, plain = Broken(), terminal
    for each in (broken, plain):
        each.goes_on.set()
    shown = Printer(broken, patience_s=PATIENCE_S, plain=plain)
    shown.say("one")
    shown.show(board(), 1.0)
    assert broken.is_broken.wait(PATIENCE_S)
    shown.say("two")
    shown.show(board(), 2.0)
    shown.close()
    assert broken.shown == ["one", "given back"]
    said, *rest = plain.shown
    assert said == "the display failed (ZeroDivisionError: no width); the job goes on"
    assert rest == ["two", f"{board().line()} at 2.0", "closed"]


def test_one_that_has_no_other_goes_on_with_what_it_can_show(terminal) -> None:
    broken = Broken()
    broken.goes_on.set()
    shown = Printer(broken, patience_s=PATIENCE_S)
    for now in (1.0, 2.0):
        shown.show(board(), now)
        assert broken.is_broken.wait(PATIENCE_S)
        broken.is_broken.clear()
        shown.say(f"after {now}")
    shown.close()
    assert [line for line in broken.shown if "failed" in line] == broken.shown[:1]
    assert broken.shown[1:] == ["after 1.0", "after 2.0", "given back"]
