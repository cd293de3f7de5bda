"""A screen: where a launch shows itself, and which one suits a stream.

It must never know what comes next, and it never fails: a terminal that is gone, or a pipe that nobody reads,
ends no job.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol, TextIO

from paddle._launch.board import Board
from paddle._launch.news import Bulletin


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


class QuotingScreen(Screen, Protocol):
    """One that shows what others print, too."""

    def quote(self, head: str, colour: int, text: str) -> None:
        """Show a line of a role, with its ``head`` before it; ``colour``: one of a terminal's first 16."""
        ...


def screen(stream: TextIO, form: str = "text", environ: Mapping[str, str] = os.environ) -> QuotingScreen:
    """Make the screen that suits a stream, in a form that was asked for."""
    from paddle._launch.screens.lines import JsonScreen, PlainScreen

    if form == "json":
        return JsonScreen(stream)
    if not can_draw(stream, environ):
        return PlainScreen(stream)
    from paddle._launch.screens.live import LiveScreen  # rich loads slowly

    return LiveScreen(stream)


def can_draw(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream leads to a terminal that can write over what it shows."""
    return stream.isatty() and environ.get("TERM", "dumb").lower() not in ("", "dumb", "unknown")


def has_colours(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether it has colours, and its user wants them."""
    return can_draw(stream, environ) and not environ.get("NO_COLOR")
