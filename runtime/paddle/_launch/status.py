"""What a launch shows while it runs: a line for each change, and how far the trainers are.

It must never know what comes next, and it never fails: a terminal that is gone, or a pipe that nobody reads,
ends no job.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TextIO

from paddle._launch.news import Progress, Waiting
from paddle._launch.sending import Sending

if TYPE_CHECKING:  # loaded only where there is a terminal
    from rich.table import Table

EVERY_S = 5.0
_MEANT = 25  # reports that a cost is the mean of: they come five times a second at most
_SINGLY = 4  # trainers that a plain line shows one by one


class Board:
    """How far each trainer is, as far as it has said.

    The cost is the mean over a trainer's last reports, which is where it goes; that of one batch hides it.
    """

    def __init__(self, trainers: tuple[str, ...]) -> None:
        self._trainers = trainers
        self._latest: dict[str, Progress] = {}
        self._costs: dict[str, tuple[float, ...]] = {}
        self._waiting: Waiting | None = None
        self._since_told = 0.0
        self.sending = Sending()

    def add(self, progress: Progress) -> None:
        """Take a report."""
        costs = (*self._costs.get(progress.role, ())[1 - _MEANT :], progress.cost)
        self._costs[progress.role] = costs
        self._latest[progress.role] = replace(progress, cost=sum(costs) / len(costs))
        self._waiting = None

    def copy(self) -> Board:
        """What it says now, whatever is added to it later."""
        copied = Board(self._trainers)
        copied._latest, copied._costs = self._latest.copy(), self._costs.copy()
        copied._waiting, copied._since_told = self._waiting, self._since_told
        copied.sending = self.sending.copy()
        return copied

    def wait(self, waiting: Waiting) -> None:
        """Nothing goes on: others wait for some trainers. The next progress ends that."""
        same = self._waiting is not None and self._waiting.trainers == waiting.trainers
        if not same or waiting.seconds >= 2 * self._since_told:
            self._since_told = waiting.seconds
        self._waiting = waiting

    @property
    def waiting(self) -> str:
        """For whom the others wait, and how long they have; empty when nobody does."""
        return _waits(self._waiting)

    def rows(self) -> list[Progress]:
        """Give the latest report of each trainer, by rank, with its mean cost."""
        return [self._latest[role] for role in self._trainers if role in self._latest]

    def line(self) -> str:
        """Say it all in one line, empty when nothing was reported yet. While all wait it changes rarely."""
        return " | ".join(filter(None, [self._progress(), _waits(self._waiting, self._since_told)]))

    def _progress(self) -> str:
        rows = self.rows()
        if not rows:
            return self.sending.line()
        rate = f"{sum(row.samples_per_s for row in rows):,.0f} samples/s"
        if len(rows) <= _SINGLY:
            parts = [
                f"{row.role} pass {row.pass_id} batch {row.batch_id} cost {row.cost:.4f}" for row in rows
            ]
            return " | ".join([*parts, rate])
        costs = [row.cost for row in rows]
        places = sorted((row.pass_id, row.batch_id) for row in rows)
        (first_pass, first), (last_pass, last) = places[0], places[-1]
        return (
            f"{len(rows)} trainers from pass {first_pass} batch {first} to pass {last_pass} batch {last} | "
            f"cost {min(costs):.4f} to {max(costs):.4f} | {rate}"
        )


def _waits(waiting: Waiting | None, seconds: float | None = None) -> str:
    if waiting is None:
        return ""
    seconds = waiting.seconds if seconds is None else seconds
    return f"waiting for {', '.join(waiting.trainers)} since {seconds:.0f} s"


class Screen(Protocol):
    """Where a launch shows itself. ``is_gone``: whoever read it went away."""

    @property
    def is_gone(self) -> bool: ...

    def say(self, text: str) -> None:
        """Show a line that stays."""
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
    """A terminal: what stays scrolls up, and below it one line per trainer keeps changing."""

    is_gone = False  # a terminal that goes away says so itself, by HUP

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=stream, highlight=False, markup=False)
        self._live = Live(
            console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._shown: tuple[str, str] | None = None
        self._is_started = self._is_fixed = False

    def say(self, text: str) -> None:
        """Print above the changing lines."""
        with contextlib.suppress(OSError, ValueError):
            self._console.print(text, soft_wrap=True)

    def show(self, board: Board, now: float) -> None:
        """Draw the changing lines anew, when they have changed."""
        state = (board.line(), board.waiting)
        if self._is_fixed or not state[0] or state == self._shown:
            return
        self._shown = state
        from rich.console import Group

        with contextlib.suppress(OSError, ValueError):
            if not self._is_started:
                self._is_started = True
                self._live.start()
            progress = _table(board) if board.rows() else board.sending.table()
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


def _table(board: Board) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for _ in range(5):
        table.add_column(justify="right")
    for row in board.rows():
        table.add_row(
            row.role,
            f"pass {row.pass_id}",
            f"batch {row.batch_id}",
            f"cost {row.cost:.4f}",
            f"{row.samples_per_s:,.0f} samples/s",
        )
    return table


def screen(stream: TextIO) -> Screen:
    """Make the screen that suits a stream."""
    return LiveScreen(stream) if stream.isatty() else PlainScreen(stream)
