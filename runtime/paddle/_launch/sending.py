"""How far the sending of a package is, on all nodes together and on each.

It must never know how anything is sent. Guarantee: one line says it for any number of nodes, and a terminal
has a bar for each of the ``_BARS`` that are furthest behind. Of what is over in a moment nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle._launch.news import Sent
from paddle._launch.screens import sizes

if TYPE_CHECKING:  # loaded only where there is a terminal
    from rich.table import Table

_BARS = 8
_WORTH_TELLING = 1_000_000  # bytes


class Sending:
    """What nodes have been sent, as far as was told."""

    def __init__(self, latest: dict[int, Sent] | None = None) -> None:
        self._latest = latest or {}

    def add(self, sent: Sent) -> None:
        """Take news."""
        self._latest[sent.node] = sent

    def copy(self) -> Sending:
        """What it says now, whatever is added to it later."""
        return Sending(self._latest.copy())

    def line(self) -> str:
        """Say it in one line; empty where there is nothing to say."""
        sent, total = (
            (sum(numbers) for numbers in zip(*self._pairs(), strict=True)) if self._latest else (0, 0)
        )
        if total < _WORTH_TELLING:
            return ""
        line = f"sent {sizes.of(sent)} of {sizes.of(total)} ({100 * sent // total} %)"
        if len(self._latest) == 1:
            return line
        done = sum(one.sent >= one.total for one in self._latest.values())
        return f"{line}, {done} of {len(self._latest)} nodes have all they lacked"

    def table(self) -> Table:
        """Draw a bar for each node, of many nodes for those that have most before them."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        behind = sorted(self._latest.values(), key=lambda one: (one.sent / max(1, one.total), one.node))
        table = Table.grid(padding=(0, 2))
        for one in sorted(behind[:_BARS], key=lambda one: one.node):
            bar = ProgressBar(total=max(1, one.total), completed=one.sent if one.total else 1, width=30)
            table.add_row(f"node {one.node}", bar, f"{sizes.of(one.sent)} of {sizes.of(one.total)}")
        return table

    def _pairs(self) -> list[tuple[int, int]]:
        return [(one.sent, one.total) for one in self._latest.values()]
