"""Reference: what all modes guarantee, whoever computes.

A push counts once those count for which its mode has it wait, and is answered when its mode lets it be; with
an answer a trainer sees all that is dense. A pass is over for all when all in it have ended it, and nobody
waits for one that has, or that has left. Who is not answered does nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .keeper import Rows

if TYPE_CHECKING:
    from .job import Job

Gradients = Mapping[str, Rows]


def total(parts: Sequence[Gradients], scale: float = 1.0) -> dict[str, Rows]:
    """Their sum, times ``scale``."""
    found: dict[str, Rows] = {name: {} for name in parts[0]}
    for part in parts:
        for name, rows in part.items():
            for key, row in rows.items():
                found[name][key] = found[name].get(key, 0) + scale * row
    return found


class Reference:
    """Of what servers have, and who waits for whom: a push for those that its mode names, the end of a pass
    for all that are in it. What a trainer sees of dense parameters it sees with an answer."""

    def __init__(self, job: Job) -> None:
        self.job, self.mode, self.trainers = job, job.update.mode, job.trainers
        self.server = job.server()
        self.here = set(range(self.trainers))  # of whom none has left
        self.present = set(self.here)  # in the pass
        self.pending: dict[int, tuple[Gradients, int]] = {}  # pushes that do not count yet
        self.waiting: set[int] = set()  # for the answer to a push
        self.ending: set[int] = set()  # who end the pass once that has come
        self.ended: set[int] = set()  # who wait for the others to
        self.dense = [self.server.dense() for _ in self.here]
        self.dropped = [False] * self.trainers

    # A mode's own.

    def due(self) -> set[int]:
        """Whose pushes count now, as one step: of all in the pass, or where nobody waits each alone."""
        if self.mode.is_in_step:
            return set(self.pending) if self.present <= self.pending.keys() else set()
        return set(list(self.pending)[:1])

    def apply(self, parts: Mapping[int, tuple[Gradients, int]]) -> None:
        """One step, of what these have pushed."""
        ((gradients, samples),) = parts.values()
        self.server.apply(gradients, samples)

    def is_free(self, id: int) -> bool:
        """Whether one whose push counts is answered."""
        return True

    def flush(self, id: int) -> None:
        """Push what a trainer keeps to itself until it fetches, ends its pass or leaves."""

    def told(self, id: int) -> None:
        """It has an answer that brings it up to date."""
        self.dense[id] = self.server.dense()

    def begin_pass(self) -> None:
        """All have ended the one before."""

    def show(self, id: int) -> None:
        """Let a trainer see what servers have."""
        self.told(id)

    def restart(self) -> None:
        """The shard goes on from a snapshot of all that it had."""

    # What may happen.

    def join(self, id: int) -> None:
        self.told(id)

    def look(self, id: int, ids: Mapping[str, list[int]]) -> dict[str, Rows]:
        """The rows of a batch."""
        for name, keys in ids.items():
            if self.server.model[name].is_open:
                self.server.put(name, self.job.first(name, keys))
        return {name: self.server.look(name, keys) for name, keys in ids.items()}

    def step(self, id: int, gradients: Gradients, samples: int) -> None:
        self.push(id, gradients, samples)

    def push(self, id: int, gradients: Gradients, samples: int) -> None:
        self.pending[id] = gradients, samples
        self.waiting.add(id)
        self.settle()

    def fetch(self, id: int) -> dict[str, Rows]:
        """All there is."""
        self.flush(id)
        self.show(id)
        return self.server.all()

    def end_pass(self, id: int) -> None:
        self.flush(id)
        self.ending.add(id)
        self.settle()

    def leave(self, id: int) -> None:
        self.here.discard(id)
        self.present.discard(id)
        self.settle()

    def waits(self, id: int) -> bool:
        return id in self.waiting | self.ending | self.ended

    def settle(self) -> None:
        """Do all that has become possible."""
        while True:
            if due := self.due():
                self.apply({id: self.pending.pop(id) for id in sorted(due)})
            elif free := {id for id in self.waiting - self.pending.keys() if self.is_free(id)}:
                self.waiting -= free
                for id in free:
                    self.told(id)
            elif ready := self.ending - self.waiting:
                self.ending, self.ended = self.ending - ready, self.ended | ready
                self.present -= ready
            elif self.ended and not self.present:
                self.server.passes += 1
                self.begin_pass()
                for id in self.ended:
                    self.show(id)
                self.present, self.ended = set(self.here), set()
            else:
                return
