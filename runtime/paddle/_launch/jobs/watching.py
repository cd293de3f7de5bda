"""What `fab status --watch` does: shows how a job stands until it is over.

It must never change anything, and who stops watching stops nothing else.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from paddle._launch.jobs.index import Job, Standing
from paddle._launch.jobs.looking import Look, as_json, headline, in_words, look
from paddle._launch.status import table

EVERY_S = 1.0


def watch(job: Job, stream: TextIO, form: str, pause: Callable[[float], None] = time.sleep) -> None:
    """Show a job on a terminal as a table that changes; elsewhere write it anew when it has changed."""
    if form == "text" and stream.isatty():
        _draw(job, stream, pause)
        return
    shown = ""
    for seen in _looks(job, pause):
        text = as_json(seen) if form == "json" else "\n".join(in_words(seen))
        if text != shown:
            print(text, file=stream, flush=True)
        shown = text


def _looks(job: Job, pause: Callable[[float], None]) -> Iterator[Look]:
    while True:
        seen = look(job)
        yield seen
        if seen.standing is not Standing.RUNS:
            return
        pause(EVERY_S)


def _draw(job: Job, stream: TextIO, pause: Callable[[float], None]) -> None:
    from rich.console import Console, Group
    from rich.live import Live

    console = Console(file=stream, highlight=False, markup=False)
    seen = None
    with contextlib.suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False) as live:
        for seen in _looks(job, pause):
            state = seen.state
            parts = [headline(seen), *filter(None, [seen.trouble, state.waiting if state else ""])]
            rows = state.rows if state else ()
            live.update(Group(*parts, table(rows, console)), refresh=True)
    if seen is not None and seen.standing is not Standing.RUNS:
        print("\n".join(in_words(seen)), file=stream, flush=True)
