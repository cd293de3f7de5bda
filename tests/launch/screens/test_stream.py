"""No locale is in the way of a line, and a screen suits the terminal that it is on."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import struct
import termios
from pathlib import Path

import pytest

from paddle._launch.news import Printed
from paddle._launch.screens.lines import JsonScreen, PlainScreen
from paddle._launch.screens.live import LiveScreen
from paddle._launch.screens.screen import has_colours, screen
from paddle._launch.screens.stream import can_show, own, width_of

WORDS = "Größe \u8bcd \U0001f600 \udcff"


@pytest.fixture
def ascii_file(tmp_path: Path):
    with (tmp_path / "out").open("w", encoding="ascii") as file:
        yield file


def test_what_a_locale_lacks_is_an_escape(ascii_file, tmp_path: Path) -> None:
    with own(ascii_file) as mine:
        PlainScreen(mine).say(WORDS)
    assert (tmp_path / "out").read_bytes() == b"Gr\\xf6\\xdfe \\u8bcd \\U0001f600 \\udcff\n"
    assert not can_show(ascii_file, "\u256d")


def test_json_is_json_in_any_locale(ascii_file, tmp_path: Path) -> None:
    with own(ascii_file) as mine:
        shown = JsonScreen(mine)
        shown.say(WORDS)
        shown.tell(Printed("trainer-0", (WORDS,)))
    said, printed = map(json.loads, (tmp_path / "out").read_bytes().splitlines())
    told = "Größe \u8bcd \U0001f600 \\udcff"
    assert (said["text"], printed["lines"]) == (told, [told])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "kind", "is_coloured"),
    [
        ({"TERM": "xterm"}, LiveScreen, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, LiveScreen, False),
        ({"TERM": "dumb"}, PlainScreen, False),
        ({"TERM": ""}, PlainScreen, False),
        ({}, PlainScreen, False),
    ],
)
def test_a_screen_suits_its_terminal(environ: dict[str, str], kind: type, is_coloured: bool) -> None:
    stream = Terminal()
    assert type(screen(stream, environ=environ)) is kind
    assert has_colours(stream, environ) is is_coloured
    assert type(screen(io.StringIO(), environ=environ)) is PlainScreen
    assert type(screen(stream, "json", environ)) is JsonScreen
    assert not has_colours(io.StringIO(), environ)


def test_the_width_is_that_of_the_terminal_that_is_written_to() -> None:
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w") as terminal:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 33, 0, 0))
        assert width_of(terminal) == 33
    os.close(reader)
    assert width_of(io.StringIO()) is None
