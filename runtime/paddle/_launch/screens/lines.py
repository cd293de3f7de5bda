"""Lines of a launch, for a file, a pipe or a program: one for each change, and how far the trainers are.

It must never know what comes next, and it never fails: a pipe that nobody reads ends no job. Guarantee: no
byte of a line is obeyed by a terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from paddle._launch import bulletins
from paddle._launch.board import Board, Row
from paddle._launch.news import Bulletin, Said
from paddle._visible import visible

EVERY_S = 5.0
_SINGLY = 4  # roles that a line names


class PlainScreen:
    """Lines for a file or a pipe: of progress one every ``EVERY_S``, and none that says nothing new. That
    others begin to wait for a trainer is said at once, and so is which trainers have ended before others."""

    takes_news = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._due = 0.0
        self._shown = ""
        self._waits = False
        self._ended: list[str] = []
        self.is_gone = False

    def say(self, text: str) -> None:
        """Write a line."""
        self._write(visible(text))

    def quote(self, head: str, colour: int, text: str) -> None:
        """Write a line of a role."""
        self._write(f"{head} {visible(text)}")

    def tell(self, bulletin: Bulletin) -> None:
        """People read the lines that are said."""

    def show(self, board: Board, now: float) -> None:
        """Write the line of progress, if it is time and there is news."""
        self._show_ended(board.rows())
        line, waited, self._waits = board.line(), self._waits, bool(board.waiting)
        begins_to_wait = self._waits and not waited
        if (now >= self._due or begins_to_wait) and line not in ("", self._shown):
            self._due, self._shown = now + EVERY_S, line
            self.say(line)

    def fix(self) -> None:
        """It is such text already."""

    def close(self) -> None:
        """Nothing is left to do."""

    def _show_ended(self, rows: list[Row]) -> None:
        """Say which trainers have ended well since, while others train."""
        trainers = [row for row in rows if row.kind == "trainer"]
        ended = [row.role for row in trainers if row.state == "ended"]
        new = [role for role in ended if role not in self._ended]
        self._ended = ended
        if new and len(ended) < len(trainers):
            who = ", ".join(new) if len(new) <= _SINGLY else f"{len(new)} trainers"
            self.say(f"{who} succeeded; {len(trainers) - len(ended)} of {len(trainers)} still running")

    def _write(self, line: str) -> None:
        try:
            print(line, file=self._stream, flush=True)
        except BrokenPipeError:
            self.is_gone = True
        except (OSError, ValueError):
            pass  # a disk is full, or the stream is closed


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
        """Write news."""
        self._write(bulletins.line(bulletin, self._clock()))

    def show(self, board: Board, now: float) -> None:
        """Nothing: how far trainers are was told."""
