"""What a launch shows: how far trainers are, for whom they wait, and that nobody reads it any more."""

import io
import os
from pathlib import Path

import pytest

from paddle._launch.board import Board, Row
from paddle._launch.news import Changed, Printed, Progress, Waiting
from paddle._launch.screens.lines import EVERY_S, PlainScreen
from paddle._launch.screens.screen import screen
from tests.launch.screens.boards import board_of, progress

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
    assert board.line() == f"{progress} | waiting for trainer-1 for 5 s"
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


def test_of_trainers_that_say_nothing_of_how_far_they_are_the_last_line_that_each_printed_is_shown() -> None:
    board = Board(TRAINERS)
    for rank in (0, 1):
        board.take(Printed(f"trainer-{rank}", ("words",)))
    assert board.line() == ""  # they wait to be started: it is of an earlier life
    for rank in (0, 1):
        board.take(Changed(f"trainer-{rank}", "starts"))
        board.take(Printed(f"trainer-{rank}", (f"step {rank},\tloss 0.5", " ")))
    board.take(Printed("trainer-1", (" ",)))
    assert board.line() == "trainer-0: step 0, loss 0.5 | trainer-1: step 1, loss 0.5"
    assert board.silent().line() == ""
    stream = io.StringIO()
    shown = PlainScreen(stream)
    for now in (1.0, 2.0, 7.0):
        shown.show(board, now)
        board.take(Changed("trainer-1", "ended"))
    for rank in (0, 1):
        board.take(Changed(f"trainer-{rank}", "stopped"))
    shown.show(board, 13.0)
    assert stream.getvalue().splitlines()[:1] == ["trainer-0: step 0, loss 0.5 | trainer-1: step 1, loss 0.5"]
    assert stream.getvalue().splitlines()[1:] == ["trainer-1 succeeded; 1 of 2 still running"]
    for rank in (0, 1):
        board.take(Changed(f"trainer-{rank}", "starts"))
    copied = board.copy()
    board.take(Printed("trainer-0", ("x" * 200,)))
    assert copied.line().startswith("trainer-0: step 0") and len(board.printing()[0]) == 111
    board.take(Progress("trainer-1", 0, 13, 4.5, 200.0))
    assert board.line() == "trainer-1 pass 0 batch 13 cost 4.5000 | 200 samples/s"


def test_of_many_trainers_one_is_heard() -> None:
    board = board_of()
    for rank in (7, 3):
        board.take(Changed(f"trainer-{rank}", "starts"))
        board.take(Printed(f"trainer-{rank}", ("loss 0.5",)))
    for rank in (0, 1, 2):
        board.take(Changed(f"trainer-{rank}", "starts"))
    assert board.line() == "trainer-3 of 5: loss 0.5"


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
        lines.add(board.line().rpartition(" for ")[2])
        exact.add(board.waiting)
    assert lines == {"5 s", "10 s", "20 s", "40 s", "80 s"}
    assert len(exact) == 95
    board.take(Waiting(("trainer-0",), 6.0))
    assert board.line().endswith("waiting for trainer-0 for 6 s")


def test_a_wait_before_any_progress_is_told_too() -> None:
    board = Board(TRAINERS)
    assert board.line() == ""
    board.take(Waiting(("trainer-0", "trainer-1"), 5.0))
    assert board.line() == "waiting for trainer-0, trainer-1 for 5 s"


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
    assert lines[1].endswith("waiting for trainer-1 for 5 s")


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


def test_progress_is_one_line_for_few_trainers_and_for_many() -> None:
    assert board_of().line() == ""
    line = board_of(progress(1), progress(0, 3, 6.5)).line()
    assert (
        line == "trainer-0 pass 0 batch 3 cost 6.5000 | trainer-1 pass 0 batch 0 cost 7.0000 | 200 samples/s"
    )
    many = board_of(*(progress(rank, 10 + rank, rank) for rank in range(20))).line()
    assert many.startswith("20 trainers from pass 0 batch 10 to pass 0 batch 29")
    assert len(many) < 120


def test_plain_lines_come_seldom_and_only_with_news() -> None:
    stream = io.StringIO()
    shown = screen(stream)
    assert isinstance(shown, PlainScreen)
    shown.show(board_of(), 0.0)
    shown.show(board_of(progress(0, 1)), 0.1)
    shown.show(board_of(progress(0, 2)), EVERY_S - 0.1)
    shown.show(board_of(progress(0, 2)), EVERY_S + 0.2)
    shown.show(board_of(progress(0, 2)), 3 * EVERY_S)
    assert [line.split(" cost")[0] for line in stream.getvalue().splitlines()] == [
        "trainer-0 pass 0 batch 1",
        "trainer-0 pass 0 batch 2",
    ]


def test_which_trainers_have_ended_is_said_while_others_go_on() -> None:
    stream = io.StringIO()
    shown, board = PlainScreen(stream), board_of()
    for rank in (3, 1):
        board.take(Changed(f"trainer-{rank}", "ended", 0))
    for _ in range(2):
        shown.show(board, 1.0)
    board.take(Changed("trainer-7", "failed", 3))
    for rank in range(10, 16):
        board.take(Changed(f"trainer-{rank}", "ended", 0))
    shown.show(board, 1.2)
    for rank in range(20):
        board.take(Changed(f"trainer-{rank}", "ended", 0))
    shown.show(board, 1.4)
    assert stream.getvalue().splitlines() == [
        "trainer-1, trainer-3 succeeded; 18 of 20 still running",
        "6 trainers succeeded; 12 of 20 still running",
    ]


def test_no_byte_that_is_said_is_obeyed_by_a_terminal() -> None:
    stream = io.StringIO()
    PlainScreen(stream).say("node 1: \x1b[2Jbad\r\n[trainer-0] forged")
    assert stream.getvalue() == "node 1: bad\\r\\n[trainer-0] forged\n"
