"""A screen whose news are also at the desk: what a launch says to its own terminal, others see as well.

It must never know what is shown.
"""

from __future__ import annotations

from typing import Protocol

from paddle._launch.board import Board
from paddle._launch.news import Bulletin, Said
from paddle._launch.screens.screen import Screen


class Listener(Protocol):
    """Who hears of everything."""

    def tell(self, bulletin: Bulletin) -> None:
        """Take news."""
        ...


class SharedScreen:
    """Shows on ``screen``, and tells all of it to ``listeners``."""

    def __init__(self, screen: Screen, *listeners: Listener) -> None:
        self._screen, self._listeners = screen, listeners

    @property
    def is_gone(self) -> bool:
        """Whether whoever read the screen went away."""
        return self._screen.is_gone

    @property
    def takes_news(self) -> bool:
        """Listeners do."""
        return True

    def say(self, text: str) -> None:
        """Show a line that stays."""
        self._screen.say(text)
        self._share(Said(text))

    def tell(self, bulletin: Bulletin) -> None:
        """Take news."""
        self._screen.tell(bulletin)
        self._share(bulletin)

    def show(self, board: Board, now: float) -> None:
        """Show how far the trainers are; listeners were told."""
        self._screen.show(board, now)

    def fix(self) -> None:
        """Leave the progress as text that stays."""
        self._screen.fix()

    def close(self) -> None:
        """Nothing is shown any more; what is told still is heard."""
        self._screen.close()

    def _share(self, bulletin: Bulletin) -> None:
        for listener in self._listeners:
            listener.tell(bulletin)
