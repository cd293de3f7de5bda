"""What roles print, merged: each line with its role and address before it, ``[trainer-1 10.0.0.2]``.

It must never know where lines come from. Guarantee: no byte of a line is obeyed by a terminal.
"""

from __future__ import annotations

import re

from paddle._launch.board import Board
from paddle._launch.news import Bulletin, Printed
from paddle._launch.plan import LaunchPlan
from paddle._launch.screens.screen import QuotingScreen
from paddle._visible import visible

_COLOURS = (6, 3, 2, 5, 4, 14, 11, 10, 13, 12)  # of terminals, one role after another


class Heads:
    """What stands before the lines of a job's roles, and in which colour."""

    def __init__(self, plan: LaunchPlan) -> None:
        roles = [(role.name, node.address) for node in plan.nodes for role in node.roles]
        self._heads = {
            role: (visible(f"[{role} {address}]"), _COLOURS[number % len(_COLOURS)])
            for number, (role, address) in enumerate(roles)
        }

    def of(self, role: str) -> tuple[str, int]:
        """Give the head and the colour of a role; one that is not known has just its name."""
        return self._heads.get(role) or (visible(f"[{role}]"), _COLOURS[0])

    def line(self, role: str, text: str, *, is_coloured: bool) -> str:
        """Write a line as it is shown; one of no role is said by the launch itself."""
        if not role:
            return visible(text)
        head, colour = self.of(role)
        if is_coloured:
            head = f"\x1b[{colour + (30 if colour < 8 else 82)}m{head}\x1b[0m"  # as every terminal knows it
        return f"{head} {visible(text)}"


class MergedScreen:
    """A screen that shows these lines, too: all, or those in which ``pattern`` is found."""

    def __init__(self, screen: QuotingScreen, heads: Heads, pattern: re.Pattern[str] | None) -> None:
        self._screen, self._heads, self._pattern = screen, heads, pattern

    @property
    def is_gone(self) -> bool:
        """Whether whoever read the screen went away."""
        return self._screen.is_gone

    @property
    def takes_news(self) -> bool:
        """As the screen does."""
        return self._screen.takes_news

    def say(self, text: str) -> None:
        """Show a line that stays."""
        self._screen.say(text)

    def tell(self, bulletin: Bulletin) -> None:
        """Take news; what roles print becomes lines, but for programs."""
        if not isinstance(bulletin, Printed):
            self._screen.tell(bulletin)
            return
        lines = tuple(filter(self._is_wanted, bulletin.lines))
        if self._screen.takes_news and lines:
            self._screen.tell(Printed(bulletin.role, lines))
        elif lines:
            head, colour = self._heads.of(bulletin.role)
            for line in lines:
                self._screen.quote(head, colour, line)

    def show(self, board: Board, now: float) -> None:
        """Show how far the trainers are."""
        self._screen.show(board.silent(), now)

    def fix(self) -> None:
        """Leave the progress as text that stays."""
        self._screen.fix()

    def close(self) -> None:
        """Nothing is shown any more."""
        self._screen.close()

    def _is_wanted(self, line: str) -> bool:
        return self._pattern is None or self._pattern.search(line) is not None
