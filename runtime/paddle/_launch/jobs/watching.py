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
from paddle._launch.screens.stream import width_of

EVERY_S = 1.0


def changes(
    job: Job, form: str, width: int | None, pause: Callable[[float], None] = time.sleep
) -> Iterator[str]:
    """Say how a job stands, and again whenever that has changed. ``width``: of what it is shown on."""
    shown = ""
    for seen in _looks(job, pause):
        text = as_json(seen) if form == "json" else "\n".join(in_words(seen, width))
        if text != shown:
            yield text
        shown = text


def draw(job: Job, stream: TextIO, pause: Callable[[float], None] = time.sleep) -> None:
    """Show a job on a terminal as a table that changes."""
    from rich.console import Console, Group
    from rich.live import Live

    from paddle._launch.screens.live import line, table

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    seen = None
    with contextlib.suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False) as live:
        for seen in _looks(job, pause):
            state = seen.state
            said = [headline(seen), *filter(None, [seen.trouble, state.waiting if state else ""])]
            rows = state.rows if state else ()
            live.transient = seen.standing is not Standing.RUNS  # all of it is said below, then
            live.update(
                Group(*map(line, said), table(rows, console.width, console.height - len(said) - 2)),
                refresh=True,
            )
    if seen is not None and seen.standing is not Standing.RUNS:
        print("\n".join(in_words(seen, width_of(stream))), file=stream, flush=True)


def _looks(job: Job, pause: Callable[[float], None]) -> Iterator[Look]:
    while True:
        seen = look(job)
        yield seen
        if seen.standing is not Standing.RUNS:
            return
        pause(EVERY_S)
