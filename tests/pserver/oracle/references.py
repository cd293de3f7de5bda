"""Modes, a second time: what trainers see, event by event, each written from what the mode guarantees.

They know no shard, no message and no queue, and compute in float64; what a rule makes of a step is the
keeper's (keeper.py). What all modes share is here, each mode below it, or in alone.py where trainers update
by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

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


class Sync(Reference):
    """A step is what all in the pass push, their sum or mean; nothing else is visible in between."""

    def apply(self, parts: Mapping[int, tuple[Gradients, int]]) -> None:
        scale = 1 / len(parts) if self.job.update.reduce == "mean" else 1.0
        gradients = total([gradients for gradients, _ in parts.values()], scale)
        self.server.apply(gradients, sum(samples for _, samples in parts.values()))


class Async(Reference):
    """A push counts at once, alone, or is discarded: where it and those that came since its trainer was last
    up to date are too many. Where late ones are corrected, g counts as g + g * g * (w - w when given)."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.most = max(int(self.trainers * (ratio if (ratio := self.mode.discard_ratio) > 1 else 1.5)), 2)
        self.pushes = [0] * self.trainers  # since then
        self.given: list[dict[str, np.ndarray] | None] = [*self.dense]

    def apply(self, parts: Mapping[int, tuple[Gradients, int]]) -> None:
        ((id, (gradients, samples)),) = parts.items()
        self.pushes = [count + 1 for count in self.pushes]
        self.dropped[id] = self.pushes[id] >= self.most
        if self.mode.compensates:
            now = self.server.dense()
            before = self.given[id] or now
            gradients = {n: {0: g[0] + g[0] ** 2 * (now[n] - before[n])} for n, g in gradients.items()}
        if not self.dropped[id]:
            self.server.apply(gradients, samples)

    def told(self, id: int) -> None:
        super().told(id)
        self.pushes[id], self.given[id] = 0, self.dense[id]

    def restart(self) -> None:
        """What it has given to whom is in no snapshot: all count as up to date, until they have pushed."""
        self.pushes, self.given = [0] * self.trainers, [None] * self.trainers


class Ssp(Reference):
    """A push counts at once, alone. Its trainer goes on when nobody in the pass has pushed fewer times in it
    than it has, less ``staleness``. One that comes late has pushed as often as the slowest."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.paces = [0] * self.trainers

    def apply(self, parts: Mapping[int, tuple[Gradients, int]]) -> None:
        super().apply(parts)
        (id,) = parts
        self.paces[id] += 1

    def is_free(self, id: int) -> bool:
        return all(self.paces[other] >= self.paces[id] - self.mode.staleness for other in self.present)

    def join(self, id: int) -> None:
        self.paces[id] = min((self.paces[other] for other in self.present - {id}), default=0)
        super().join(id)
        self.settle()

    def begin_pass(self) -> None:
        self.paces = [0] * self.trainers


class HalfAsync(Reference):
    """Each step's gradient is in one push, with those of at most so many, as their sum or mean; a push counts
    at once, alone, and none is discarded."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.kept: list[list[tuple[Gradients, int]]] = [[] for _ in self.here]

    def step(self, id: int, gradients: Gradients, samples: int) -> None:
        self.kept[id].append((gradients, samples))
        if len(self.kept[id]) == self.mode.max_merge_var_num:
            self.flush(id)

    def flush(self, id: int) -> None:
        if kept := self.kept[id]:
            scale = 1 / len(kept) if self.mode.merge == "mean" else 1.0
            self.push(id, total([part for part, _ in kept], scale), sum(count for _, count in kept))
            kept.clear()

    def leave(self, id: int) -> None:
        self.flush(id)
        super().leave(id)
