"""What a launch shows while it runs: a line for each change, and how far the trainers are.

It must never know what comes next, and it never fails: a terminal that is gone, or a pipe that nobody reads,
ends no job.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

from paddle._launch import bulletins
from paddle._launch.board import HEADINGS, Board, Row, cells, shortened
from paddle._launch.news import Bulletin, Said

if TYPE_CHECKING:  # loaded only where there is a terminal
    from rich.console import Console
    from rich.table import Table

EVERY_S = 5.0
_AROUND = 6  # lines of a terminal that the rows of a table leave free
_LEAST = 3
_WIDE = 100  # columns of a terminal that has room for addresses
_STYLES = {"failed": "red", "stopped": "dim", "ended": "dim", "trains": "green", "serves": "green"}


class Screen(Protocol):
    """Where a launch shows itself. ``is_gone``: whoever read it went away."""

    @property
    def is_gone(self) -> bool: ...

    def say(self, text: str) -> None:
        """Show a line that stays."""
        ...

    @property
    def takes_news(self) -> bool:
        """Whether it is for programs, which want all news, one by one; people see lines and the board."""
        ...

    def tell(self, bulletin: Bulletin) -> None:
        """Take news."""
        ...

    def show(self, board: Board, now: float) -> None:
        """Show how far the trainers are, if it is time."""
        ...

    def fix(self) -> None:
        """Leave the progress as text that stays: it changes no more, and what is said now comes below it."""
        ...

    def close(self) -> None:
        """Nothing is shown any more."""
        ...


class PlainScreen:
    """Lines for a file or a pipe: of progress one every ``EVERY_S``, and none that says nothing new. That
    others begin to wait for a trainer is said at once."""

    takes_news = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._due = 0.0
        self._shown = ""
        self._waits = False
        self.is_gone = False

    def say(self, text: str) -> None:
        """Write a line."""
        try:
            print(text, file=self._stream, flush=True)
        except BrokenPipeError:
            self.is_gone = True
        except (OSError, ValueError):
            pass  # a disk is full, or the stream is closed

    def tell(self, bulletin: Bulletin) -> None:
        """People read the lines that are said."""

    def show(self, board: Board, now: float) -> None:
        """Write the line of progress, if it is time and there is news."""
        line, waited, self._waits = board.line(), self._waits, bool(board.waiting)
        begins_to_wait = self._waits and not waited
        if (now >= self._due or begins_to_wait) and line != self._shown:
            self._due, self._shown = now + EVERY_S, line
            self.say(line)

    def fix(self) -> None:
        """It is such text already."""

    def close(self) -> None:
        """Nothing is left to do."""


class LiveScreen:
    """A terminal: what stays scrolls up, and below it a table with a line per role keeps changing."""

    takes_news = False
    is_gone = False  # a terminal that goes away says so itself, by HUP

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=stream, highlight=False, markup=False)
        self._live = Live(
            console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._shown: object = None
        self._is_started = self._is_fixed = False

    def say(self, text: str) -> None:
        """Print above the changing lines."""
        with contextlib.suppress(OSError, ValueError):
            self._console.print(text, soft_wrap=True)

    def tell(self, bulletin: Bulletin) -> None:
        """People see the board."""

    def show(self, board: Board, now: float) -> None:
        """Draw the changing lines anew, when they have changed."""
        state = (board.rows(), board.waiting, line := board.line())
        if self._is_fixed or not line or state == self._shown:
            return
        self._shown = state
        from rich.console import Group

        with contextlib.suppress(OSError, ValueError):
            if not self._is_started:
                self._is_started = True
                self._live.start()
                self._console.show_cursor(True)  # whoever is killed cannot bring it back
            progress = table(board.rows(), self._console) if board.moving() else board.sending.table()
            self._live.update(Group(progress, *filter(None, [board.waiting])), refresh=True)

    def fix(self) -> None:
        """Leave the last state standing."""
        with contextlib.suppress(OSError, ValueError):
            if self._is_started and not self._is_fixed:
                self._live.stop()
        self._is_fixed = True

    def close(self) -> None:
        """See ``fix``."""
        self.fix()


def table(rows: Sequence[Row], console: Console) -> Table:
    """Draw the rows of a board as a terminal has room for them."""
    from rich.table import Table

    shown, left_out = shortened(rows, max(console.height - _AROUND, _LEAST))
    left_out_column = HEADINGS.index("address") if console.width < _WIDE else len(HEADINGS)
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _without(HEADINGS, left_out_column):
        is_number = heading not in ("address", "role", "state")
        drawn.add_column(heading, justify="right" if is_number else "left", no_wrap=True)
    for row in shown:
        style = "yellow" if row.restarts and row.is_ordinary else _STYLES.get(row.state)
        drawn.add_row(*_without(cells(row), left_out_column), style=style)
    if left_out:
        drawn.caption = f"and {left_out} more, of which there is nothing to be seen"
        drawn.caption_justify = "left"
    return drawn


def _without(texts: tuple[str, ...], column: int) -> tuple[str, ...]:
    return texts[:column] + texts[column + 1 :]


class JsonScreen(PlainScreen):
    """A program that reads: one JSON object per line, and nothing else (bulletins.py)."""

    takes_news = True

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.time) -> None:
        super().__init__(stream)
        self._clock = clock

    def say(self, text: str) -> None:
        """Write a line that is for people, as such."""
        self.tell(Said(text))

    def tell(self, bulletin: Bulletin) -> None:
        """Write news, but for what roles print, which is in their logs."""
        if not isinstance(bulletin, bulletins.OF_LOGS):
            super().say(bulletins.line(bulletin, self._clock()))

    def show(self, board: Board, now: float) -> None:
        """Nothing: how far trainers are was told."""


def screen(stream: TextIO, form: str = "text") -> Screen:
    """Make the screen that suits a stream, in a form that was asked for."""
    if form == "json":
        return JsonScreen(stream)
    return LiveScreen(stream) if stream.isatty() else PlainScreen(stream)
