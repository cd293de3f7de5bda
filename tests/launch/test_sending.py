"""How far the sending of a package is, as a line and as bars."""

import io
from pathlib import Path

from rich.console import Console

from paddle._launch.board import Board, Row
from paddle._launch.news import Progress, Sent
from paddle._launch.screens.lines import PlainScreen
from paddle._launch.screens.live import LiveScreen
from paddle._launch.sending import Sending

TRAINER = Row(node=0, address="127.0.0.1", role="trainer-0", kind="trainer", rank=0)


def sending(*pairs: tuple[int, int]) -> Sending:
    of = Sending()
    for node, (sent, total) in enumerate(pairs):
        of.add(Sent(node, sent, total))
    return of


def drawn(of: Sending) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=80).print(of.table())
    return stream.getvalue().splitlines()


def test_a_line_says_it_for_all_nodes_together() -> None:
    of = sending((5_000_000, 10_000_000), (10_000_000, 10_000_000))
    assert of.line() == "sent 15.0 MB of 20.0 MB (75 %), 1 of 2 nodes have all they lacked"


def test_where_nothing_is_lacked_nothing_is_said() -> None:
    assert sending().line() == sending((0, 0), (0, 0)).line() == ""


def test_of_what_is_over_in_a_moment_nothing_is_said() -> None:
    assert sending((0, 1000)).line() == sending((1000, 1000)).line() == ""


def test_of_one_node_it_is_not_said_how_many_nodes_are_done() -> None:
    assert sending((1_000_000, 2_000_000)).line() == "sent 1.0 MB of 2.0 MB (50 %)"


def test_every_node_has_a_bar_that_grows() -> None:
    early, late = drawn(sending((1_000_000, 4_000_000), (4_000_000, 4_000_000)))
    assert early.startswith("node 0")
    assert early.endswith("1.0 MB of 4.0 MB")
    assert late.endswith("4.0 MB of 4.0 MB")


def test_of_many_nodes_those_that_are_behind_have_a_bar() -> None:
    lines = drawn(sending(*((1_000_000 * node, 40_000_000) for node in range(40))))
    assert [line.split()[1] for line in lines] == [str(node) for node in range(8)]


def test_a_screen_shows_it_until_trainers_make_progress() -> None:
    board, stream = Board([TRAINER]), io.StringIO()
    screen = PlainScreen(stream)
    board.take(Sent(0, 1_000_000, 2_000_000))
    copied = board.copy()
    board.take(Sent(0, 2_000_000, 2_000_000))
    screen.show(copied, 0.0)
    board.take(Progress("trainer-0", 0, 1, 2.0, 3.0))
    screen.show(board, 10.0)
    assert stream.getvalue().splitlines() == [
        "sent 1.0 MB of 2.0 MB (50 %)",
        "trainer-0 pass 0 batch 1 cost 2.0000 | 3 samples/s",
    ]


def test_bars_of_a_terminal_grow_while_it_is_sent(tmp_path: Path) -> None:
    board = Board([TRAINER])
    with (tmp_path / "screen").open("w+") as stream:
        screen = LiveScreen(stream)
        for sent in (500_000, 1_500_000):
            board.take(Sent(0, sent, 2_000_000))
            screen.show(board, 0.0)
        screen.close()
        stream.seek(0)
        assert "1.5 MB of 2.0 MB" in stream.read()
