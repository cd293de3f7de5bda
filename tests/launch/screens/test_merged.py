"""What roles print is shown with its role and address, as far as it was asked for; nobody waits."""

from __future__ import annotations

import io
import json
import re
import threading
from pathlib import Path

import pytest

from paddle._launch.board import Board, rows_of
from paddle._launch.news import Changed, Printed, Said
from paddle._launch.screens import printer
from paddle._launch.screens.lines import JsonScreen, PlainScreen
from paddle._launch.screens.live import LiveScreen
from paddle._launch.screens.merged import Heads, MergedScreen
from paddle._launch.screens.printer import Printer
from tests.launch.jobs.conftest import plan
from tests.waiting import PATIENCE_S

LINES = Printed("trainer-1", ("cost 1.5", "\x1b[2Jwords\x07", "cost 1.4"))


@pytest.fixture
def heads(tmp_path: Path) -> Heads:
    return Heads(plan(tmp_path))


def test_in_a_file_they_are_plain(heads: Heads) -> None:
    stream = io.StringIO()
    shown = MergedScreen(PlainScreen(stream), heads, None)
    shown.tell(LINES)
    shown.tell(Said("not shown by this"))
    assert stream.getvalue().splitlines() == [
        "[trainer-1 127.0.0.2] cost 1.5",
        "[trainer-1 127.0.0.2] words\\x07",
        "[trainer-1 127.0.0.2] cost 1.4",
    ]


def test_they_are_not_shown_as_progress_again(heads: Heads, tmp_path: Path) -> None:
    board, stream = Board(rows_of(plan(tmp_path))), io.StringIO()
    for bulletin in (Changed("trainer-1", "starts"), LINES):
        board.take(bulletin)
    MergedScreen(PlainScreen(stream), heads, None).show(board, 1.0)
    assert stream.getvalue() == ""
    PlainScreen(stream).show(board, 1.0)
    assert stream.getvalue() == "trainer-1: cost 1.4\n"


def test_on_a_terminal_their_heads_have_colours(heads: Heads, monkeypatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "30"), ("FORCE_COLOR", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = io.StringIO()
    MergedScreen(LiveScreen(stream), heads, re.compile("cost")).tell(LINES)
    coloured = "\x1b[35m[trainer-1 127.0.0.2]\x1b[0m"
    assert stream.getvalue() == f"{coloured} cost 1.5\n{coloured} cost 1.4\n"


def test_for_programs_they_stay_what_they_are(heads: Heads) -> None:
    stream = io.StringIO()
    shown = MergedScreen(JsonScreen(stream, lambda: 7.0), heads, re.compile("^cost"))
    shown.tell(LINES)
    shown.tell(Printed("trainer-0", ("words",)))
    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    lines = ["cost 1.5", "cost 1.4"]
    assert told == [{"event": "lines", "time": 7.0, "role": "trainer-1", "lines": lines}]


class Paused(PlainScreen):
    """A pipe that is full until it goes on."""

    def __init__(self, stream: io.StringIO) -> None:
        super().__init__(stream)
        self.is_reached, self.goes_on = threading.Event(), threading.Event()

    def say(self, text: str) -> None:
        self.is_reached.set()
        assert self.goes_on.wait(PATIENCE_S)
        super().say(text)


def test_of_what_comes_too_fast_lines_of_roles_are_left_out_first_and_counted(heads: Heads) -> None:
    stream = io.StringIO()
    paused = Paused(stream)
    shown = Printer(MergedScreen(paused, heads, None), patience_s=PATIENCE_S, with_logs=True)
    shown.say("first")
    assert paused.is_reached.wait(PATIENCE_S)
    shown.say("the launch says this")
    for number in range(100):
        shown.tell(Printed("trainer-0", tuple(f"line {number}" for _ in range(printer.MOST // 10))))
    paused.goes_on.set()
    shown.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "first" and "the launch says this" in lines
    kept = [line for line in lines if line.startswith("[trainer-0")]
    assert kept[-1] == "[trainer-0 127.0.0.1] line 99"
    (left_out,) = re.findall(r"\.\.\. (\d+) lines that nobody read", stream.getvalue())
    assert int(left_out) + len(kept) == 10 * printer.MOST


def test_who_did_not_ask_for_them_does_not_see_them(heads: Heads) -> None:
    stream = io.StringIO()
    shown = Printer(PlainScreen(stream), patience_s=PATIENCE_S)
    shown.tell(LINES)
    shown.close()
    assert stream.getvalue() == ""
