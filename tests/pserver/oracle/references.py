"""Modes, a second time: what trainers see, event by event, each written from what the mode guarantees, on one
page. They know no shard, no message, no queue and no test, and compute in float64.

To read one: what all modes guarantee (reference.py), then the mode: here where servers apply the rule, in
alone.py where trainers update by themselves. What a rule makes of a step is the keeper's (keeper.py). All
else in this folder is about the tests: what is trained (job.py, table.py), what may happen (course.py), and
how trainers come to what is tested (seat.py, sockets.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .reference import Gradients, Reference, total

if TYPE_CHECKING:
    from .job import Job


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
