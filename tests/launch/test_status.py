"""What a launch shows: how far trainers are, for whom they wait, and that nobody reads it any more."""

import contextlib
import io
import os
import pty
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.board import Board, Row
from paddle._launch.news import Changed, Progress, Waiting
from paddle._launch.status import LiveScreen, PlainScreen

TRAINERS = [
    Row(node=rank, address=f"127.0.0.{rank + 1}", role=f"trainer-{rank}", kind="trainer", rank=rank)
    for rank in (0, 1)
]


@pytest.fixture
def board() -> Board:
    board = Board(TRAINERS)
    board.take(Progress("trainer-0", 0, 12, 6.5, 100.0))
    return board


def test_a_line_tells_progress_and_for_whom_all_wait_until_it_goes_on(board) -> None:
    progress = board.line()
    assert progress == "trainer-0 pass 0 batch 12 cost 6.5000 | 100 samples/s"
    board.take(Waiting(("trainer-1",), 5.0))
    assert board.line() == f"{progress} | waiting for trainer-1 since 5 s"
    board.take(Progress("trainer-0", 0, 12, 6.5, 100.0))
    assert board.line() == progress


def test_a_trainer_that_failed_is_in_the_line_no_more_while_others_go_on_and_one_that_waits_has_no_rate(
    board,
) -> None:
    board.take(Progress("trainer-1", 0, 13, 4.5, 200.0))
    board.take(Changed("trainer-0", "failed", -9))
    assert board.line() == "trainer-1 pass 0 batch 13 cost 4.5000 | 200 samples/s"
    board.take(Changed("trainer-0", "waits"))
    assert board.line().endswith("trainer-1 pass 0 batch 13 cost 4.5000 | 200 samples/s")
    assert board.line().startswith("trainer-0 pass 0 batch 12")
    for role in ("trainer-0", "trainer-1"):
        board.take(Changed(role, "failed", 1))
    assert "trainer-0" in board.line() and "trainer-1" in board.line()


def test_a_copy_says_what_was_so_when_it_was_made(board) -> None:
    board.take(Waiting(("trainer-1",), 5.0))
    copied, line, waiting = board.copy(), board.line(), board.waiting
    board.take(Progress("trainer-0", 0, 13, 4.5, 200.0))
    assert (copied.line(), copied.waiting) == (line, waiting)
    assert board.line() != line
    copied.take(Progress("trainer-0", 0, 13, 4.5, 200.0))
    assert copied.line() == board.line()


def test_the_cost_shown_is_the_mean_of_a_trainers_last_reports_so_that_its_fall_is_seen() -> None:
    board = Board(TRAINERS)
    shown = []
    for step in range(200):
        noise = 0.5 if step % 2 else -0.5
        board.take(Progress("trainer-0", 0, step, 7.0 - step / 100 + noise, 100.0))
        board.take(Progress("trainer-1", 0, step, 3.0, 100.0))
        first, second = board.moving()
        shown.append(first.cost)
        assert second.cost == 3.0
    assert shown[0] == 6.5
    assert all(later < sooner for sooner, later in zip(shown[24::5], shown[29::5], strict=False))
    assert shown[199] == pytest.approx(7.0 - 1.87, abs=0.021)
    assert f"cost {shown[199]:.4f}" in board.line()


def test_while_all_wait_the_line_changes_rarely_and_the_exact_time_every_second(board) -> None:
    lines, exact = set(), set()
    for seconds in range(5, 100):
        board.take(Waiting(("trainer-1",), float(seconds)))
        lines.add(board.line().rpartition(" since ")[2])
        exact.add(board.waiting)
    assert lines == {"5 s", "10 s", "20 s", "40 s", "80 s"}
    assert len(exact) == 95
    board.take(Waiting(("trainer-0",), 6.0))
    assert board.line().endswith("waiting for trainer-0 since 6 s")


def test_a_wait_before_any_progress_is_told_too() -> None:
    board = Board(TRAINERS)
    assert board.line() == ""
    board.take(Waiting(("trainer-0", "trainer-1"), 5.0))
    assert board.line() == "waiting for trainer-0, trainer-1 since 5 s"


def test_in_a_pipe_it_is_said_at_once_that_others_begin_to_wait(board) -> None:
    stream = io.StringIO()
    screen = PlainScreen(stream)
    screen.show(board, 1.0)
    board.take(Waiting(("trainer-1",), 5.0))
    screen.show(board, 1.5)
    screen.show(board, 1.6)
    board.take(Waiting(("trainer-1",), 10.0))
    screen.show(board, 2.0)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[1].endswith("waiting for trainer-1 since 5 s")


def test_a_pipe_that_nobody_reads_is_noticed_and_a_full_disk_is_not_one() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        screen = PlainScreen(stream)
        screen.say("one")
        assert not screen.is_gone
        os.close(reader)
        screen.say("two")
        assert screen.is_gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)  # what could not be written goes somewhere
    stream = Path("/dev/full").open("w")  # noqa: SIM115  closing it fails
    screen = PlainScreen(stream)
    screen.say("one")
    assert not screen.is_gone
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    stream.close()


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


def test_on_a_terminal_what_is_said_after_the_progress_stands_below_it(board, terminal) -> None:
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
    assert "waiting for trainer-1 since 5 s" in shown
    assert shown.rindex("samples/s") < shown.rindex("waiting") < shown.index("collecting")
    assert "99" not in shown
    assert "12" in shown
