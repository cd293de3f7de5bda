"""A terminal: what stays scrolls up, below it a table changes."""

import contextlib
import io
import os
import pty
import re
from collections.abc import Iterator

import pytest

from paddle._launch.news import Changed, Printed, Progress, Waiting
from paddle._launch.screens.lines import PlainScreen
from paddle._launch.screens.live import LiveScreen
from paddle._launch.screens.screen import screen
from tests.launch.screens.boards import board_of, progress


@pytest.fixture
def terminal(monkeypatch) -> Iterator[tuple[int, int]]:
    monkeypatch.setenv("TERM", "xterm")
    ends = pty.openpty()
    yield ends
    os.close(ends[0])


def all_of(screen: int) -> str:
    """What a terminal shows that nobody writes to any more; one read may give only a part."""
    shown = b""
    with contextlib.suppress(OSError):  # how its end is told
        while part := os.read(screen, 1 << 16):
            shown += part
    return shown.decode()


def test_on_a_terminal_what_is_said_after_the_progress_stands_below_it(terminal) -> None:
    board = board_of(progress(0, 12))
    with os.fdopen(terminal[1], "w") as stream:
        screen = LiveScreen(stream)
        screen.say("starting")
        screen.show(board, 1.0)
        board.take(Waiting(("trainer-1",), 5.0))
        screen.show(board, 2.0)
        screen.fix()
        screen.say("collecting")
        board.take(Progress("trainer-0", 0, 99, 1.0, 1.0))
        screen.show(board, 3.0)
        screen.close()
    shown = all_of(terminal[0])
    assert "waiting for trainer-1 for 5 s" in shown
    assert shown.rindex("samples/s") < shown.rindex("waiting") < shown.index("collecting")
    assert "99" not in shown
    assert "12" in shown


def test_below_the_table_stands_what_trainers_print_that_say_nothing_of_how_far_they_are(terminal) -> None:
    board = board_of()
    for bulletin in (Changed("trainer-2", "starts"), Printed("trainer-2", ("loss \x1b[2J0.5",))):
        board.take(bulletin)
    with os.fdopen(terminal[1], "w") as stream:
        screen = LiveScreen(stream)
        screen.show(board, 1.0)
        screen.close()
    assert "\r\ntrainer-2: loss 0.5\r\n" in all_of(terminal[0])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_a_line_per_trainer_that_changes(monkeypatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "80"), ("LINES", "25")):
        monkeypatch.setenv(name, value)
    stream = Terminal()
    shown = screen(stream)
    assert isinstance(shown, LiveScreen)
    shown.say("starting [2] trainers")
    for batch in (1, 2):
        shown.show(board_of(progress(0, batch), progress(1, batch)), 0.0)
    shown.close()
    text = stream.getvalue()
    assert "starting [2] trainers" in text
    assert text.count("samples/s  ") == 3  # drawn, drawn anew, and left standing
    assert "and 3 more: waits 3" in text  # of 20, on a terminal of 25 lines
    assert "\x1b[1A" in text


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("make", [PlainScreen, LiveScreen])
def test_a_screen_that_is_gone_ends_nothing(make, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = make(Gone())
    shown.say("words")
    shown.show(board_of(progress()), 0.0)
    shown.close()


def test_roles_are_shown_from_their_start_and_all_of_them_in_the_end(monkeypatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "40"), ("LINES", "12")):
        monkeypatch.setenv(name, value)
    stream = Terminal()
    shown, board = LiveScreen(stream), board_of()
    shown.show(board, 0.0)
    assert stream.getvalue() == ""
    board.take(Changed("trainer-3", "starts"))
    shown.show(board, 1.0)
    assert "and 16 more: waits 16" in stream.getvalue()
    board.take(Progress("trainer-3", 0, 4, float("nan"), float("inf")))
    shown.show(board, 3601.5)
    shown.show(board, float("inf"))  # at once, whatever the time is
    begin = len(stream.getvalue())
    shown.fix()
    last = stream.getvalue()[begin:]
    assert last.count("trainer") == 20 and "more" not in last
    assert "1:00:00" in last


@pytest.mark.parametrize("width", [1, 20, 40, 80, 200])
def test_no_line_of_the_table_is_wider_than_the_terminal(monkeypatch, width: int) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", str(width)), ("LINES", "50"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    stream = Terminal()
    shown, board = LiveScreen(stream), board_of(progress(0), progress(1))
    board.take(Waiting(tuple(f"trainer-{rank}" for rank in range(20)), 5.0))
    shown.show(board, 0.0)
    shown.close()
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue()).splitlines()
    assert lines and max(map(len, lines)) <= width
