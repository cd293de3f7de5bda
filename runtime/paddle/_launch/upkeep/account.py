"""What is shown of work on many nodes: what each does, as it comes; or the same as JSON, an object a line.

It must never decide. Guarantee: no byte of what a node says is obeyed by a terminal. On a terminal a node has
a line that changes, elsewhere one for each step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from paddle._launch.machines.crowd import Bytes
from paddle._launch.screens import sizes
from paddle._launch.settings import Host
from paddle._streams import show
from paddle._visible import visible

if TYPE_CHECKING:  # loaded only where there is a terminal
    from rich.live import Live


class Account:
    """Shows on standard output; ``form``: text or json."""

    def __init__(self, hosts: Sequence[Host], form: str) -> None:
        self.names = [name_of(host) for host in hosts]
        self.is_json = form == "json"
        self._does: dict[int, str] = {}
        self._live: Live | None = None

    def hear(self, node: int | None, news: str | Bytes) -> None:
        """Show what goes on at a node, or with all."""
        if self.is_json:
            what = {"text": news} if isinstance(news, str) else {"sent": news.sent, "total": news.total}
            self.tell({"event": "doing", **({} if node is None else {"node": node}), **what})
        elif node is None:
            self.say(str(news))
        elif sys.stdout.isatty():
            self._does[node] = _far(news) if isinstance(news, Bytes) else visible(news)
            self._show()
        elif isinstance(news, str) or not news.sent:
            text = news if isinstance(news, str) else f"sending {news.what}, {sizes.of(news.total)}"
            self.say(f"node {node:<3} {self.names[node]}  {text}")

    def say(self, text: str) -> None:
        """Show a line that stays."""
        if not self.is_json:
            show(visible(text))

    def tell(self, told: dict[str, object]) -> None:
        """Say it to a program that reads this."""
        if self.is_json:
            show(json.dumps(told))

    def close(self) -> None:
        """No line changes any more."""
        if self._live:
            self._live.stop()
            self._live = None

    def _show(self) -> None:
        from rich.live import Live
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for node in sorted(self._does):
            table.add_row(f"node {node}", Text(self.names[node]), Text(self._does[node]))
        if self._live is None:
            self._live = Live(table, transient=True)
            self._live.start()
        self._live.update(table)


def name_of(host: Host) -> str:
    """A node as HOSTS has it."""
    if host.is_local:
        return "local"
    return f"{host.user}@{host.name}" + (f":{host.ssh_port}" if host.ssh_port else "")


def columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table as plain text: each column as wide as its widest."""
    table = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _far(news: Bytes) -> str:
    share = 100 * news.sent // max(1, news.total)
    return f"sending {news.what}: {sizes.of(news.sent)} of {sizes.of(news.total)} ({share} %)"
