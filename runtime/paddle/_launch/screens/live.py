"""A terminal: what stays scrolls up, and below it a table with a line per role keeps changing.

It must never know what comes next. Guarantee: no line is wider than the terminal is when it is drawn; what is
said is there whole, and none of it is obeyed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from paddle._launch.board import Board, Row
from paddle._launch.news import Bulletin
from paddle._launch.screens.grid import grid
from paddle._visible import visible

_AROUND = 7  # lines of a terminal that the rows of a table leave free
_STYLES = {"failed": "red", "stopped": "dim", "ended": "dim", "trains": "green", "serves": "green"}
_BEGUN = ("starts", "serves", "trains", "ended", "failed", "stopped")


class LiveScreen:
    """See the module's text."""

    takes_news = False
    is_gone = False  # a terminal that goes away says so itself, by HUP

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._live = Live(
            console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._began: float | None = None
        self._seconds = 0  # since then
        self._shown: object = None
        self._last: Board | None = None  # that was shown
        self._is_started = self._is_fixed = False

    def say(self, text: str) -> None:
        """Print above the changing lines."""
        with contextlib.suppress(OSError, ValueError):
            self._console.print(Text(visible(text)), soft_wrap=True)

    def quote(self, head: str, colour: int, text: str) -> None:
        """Print a line of a role likewise."""
        with contextlib.suppress(OSError, ValueError):
            line = Text.assemble((head, f"color({colour})"), " ", visible(text))
            self._console.print(line, soft_wrap=True)

    def tell(self, bulletin: Bulletin) -> None:
        """People see the board."""

    def show(self, board: Board, now: float) -> None:
        """Draw the changing lines anew, when they have changed."""
        if self._is_fixed or not _has_begun(board):
            return
        if isfinite(now):  # else: at once, whatever the time is
            self._began = now if self._began is None else self._began
            self._seconds = int(now - self._began)
        state = (board.rows(), board.line(), board.waiting, self._seconds, self._console.size)
        if state == self._shown:
            return
        self._shown = state
        with contextlib.suppress(OSError, ValueError):
            if not self._is_started:
                self._is_started = True
                self._live.start()
                self._console.show_cursor(True)  # whoever is killed cannot bring it back
            most = self._console.height - _AROUND
            self._live.update(Group(*self._parts(board, most)), refresh=True)
            self._last = board

    def fix(self) -> None:
        """Leave the last state standing, with every row: it may scroll now."""
        with contextlib.suppress(OSError, ValueError):
            if self._last is not None and not self._is_fixed:
                self._live.update(Group(*self._parts(self._last, None)))
                self._live.stop()
        self._is_fixed = True

    def close(self) -> None:
        """See ``fix``."""
        self.fix()

    def _parts(self, board: Board, most: int | None) -> Iterator[RenderableType]:
        if not _has_started(board):
            yield board.sending.table()
            return
        printed = board.printing()
        yield table(board.rows(), self._console.width, None if most is None else most - len(printed))
        yield from (line(visible(text)) for text in printed)
        yield line(" | ".join(filter(None, [_clock(self._seconds), board.together, board.waiting])))


def table(rows: Sequence[Row], width: int, most: int | None) -> Text:
    """Draw the rows of a board, at most so many."""
    lines = grid(rows, width=width, most=most)
    drawn = [Text(one.text, style=_style(one.row)) for one in lines]
    drawn[0].stylize("bold")
    joined = Text("\n", no_wrap=True, overflow="crop").join(drawn)
    joined.no_wrap, joined.overflow = True, "crop"
    return joined


def line(text: str) -> Text:
    """One line that is cut where the terminal ends."""
    return Text(text, no_wrap=True, overflow="crop")


def _style(row: Row | None) -> str:
    if row is None:
        return ""
    return "yellow" if row.restarts and row.is_ordinary else _STYLES.get(row.state, "")


def _has_begun(board: Board) -> bool:
    return bool(board.sending.line()) or _has_started(board)


def _has_started(board: Board) -> bool:
    return any(row.state in _BEGUN for row in board.rows())


def _clock(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
