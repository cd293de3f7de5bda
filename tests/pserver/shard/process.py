"""Process: a trainer of a course, by line.py's rules and a real journal, without threads and bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from paddle._pserver.protocol.messages import (
    EndPass,
    Goodbye,
    Mark,
    Pull,
    PullRows,
    Push,
    Request,
    Welcome,
)
from paddle._pserver.tables.gradient import NOTHING, Gradient
from paddle._pserver.trainer.journal import Entry, Journal

from ..talk import gradient


class Process:
    """One trainer: what it still has to ask, what it asks, and what it would tell again. ``first``: the pass
    with which it begins."""

    def __init__(self, id: int, passes: list[int], *, ends: bool, first: int = 0, number: int = 0) -> None:
        self.id, self.name, self.passes, self.ends = id, f"process {id}.{number}", passes, ends
        self.number, self.came_at = number, 0.0
        self.is_here = self.is_in = self.is_done = self.has_given_up = self.is_dead = False
        self.is_between = True  # of the pass it is in it has told nothing
        self.over = 0  # passes that all have ended, as far as it knows
        self.seen = 0  # the shard that it was at last, by how often there had been another
        self.has_told_all = True  # it had when it was killed
        self.is_unknown = False  # it was let go, and no snapshot knows
        self.journal, self.answered = Journal(), Mark()
        self.begin(first)
        self.open: tuple[Request, Entry | None] | None = None
        self.again: deque[Entry] = deque()
        self.asks: Request | None = None  # what the shard has of it unanswered

    def begin(self, first: int) -> None:
        """With this pass."""
        self.next_pass = first
        self.todo: Iterator[Request] = questions(self.passes, ends=self.ends, first=first)

    def welcomed(self, reply: Welcome) -> None:
        """One that has not begun hears how many passes are over."""
        self.over = self.over if self.is_in else max(self.over, reply.over)

    def successor(self, first: int) -> Process:
        """The process that takes its place."""
        return Process(self.id, self.passes, ends=self.ends, first=first, number=self.number + 1)

    def gradient_of(self, message: Request) -> Gradient:
        return gradient([1, 0, 0, 0], [self.id]) if isinstance(message, Push) else NOTHING


def questions(passes: list[int], *, ends: bool, first: int) -> Iterator[Request]:
    """``ends``: also its last pass; else it leaves before."""
    steps = 0
    for number, batches in enumerate(passes[first:], first):
        for batch in range(batches):
            yield PullRows((5,))
            steps += 1
            yield Push(steps, number, 1, pace=batch + 1)
        if number + 1 < len(passes) or ends:
            yield EndPass(number, number + 1 - first)
            yield Pull()
    yield Goodbye()
