"""Modes, a second time: what trainers see, event by event, written from what each mode guarantees.

They know no shard, no message and no queue, and compute in float64. A trainer does a step, and then those
``meet`` with whom it counts: it alone, where a mode waits for nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from paddle._engine.exchange import ModeSpec

from .keeper import Keeper, Rows

Gradients = Mapping[str, Rows]
First = Callable[[str, list[int]], Rows]
"""The values of rows of an open table when they are made."""


def total(parts: list[Gradients], scale: float = 1.0) -> dict[str, Rows]:
    """Their sum, times ``scale``."""
    found: dict[str, Rows] = {name: {} for name in parts[0]}
    for part in parts:
        for name, rows in part.items():
            for key, row in rows.items():
                found[name][key] = found[name].get(key, 0) + scale * row
    return found


class Served:
    """Parameters that servers move. Synchronous: a step is what all push who do it, their sum or mean."""

    def __init__(self, server: Keeper, mode: ModeSpec, trainers: int, first: First, *, is_mean: bool) -> None:
        self.server, self.mode, self.trainers, self.first = server, mode, trainers, first
        self.is_mean = is_mean
        self.pending: list[list[tuple[Gradients, int]]] = [[] for _ in range(trainers)]
        self.seen = [server.dense() for _ in range(trainers)]

    def look(self, id: int, ids: Mapping[str, list[int]]) -> dict[str, Rows]:
        """The rows of a batch."""
        for name, keys in ids.items():
            if self.server.model[name].is_open:
                self.server.put(name, self.first(name, keys))
        return {name: self.server.look(name, keys) for name, keys in ids.items()}

    def step(self, id: int, gradients: Gradients, samples: int) -> bool:
        """Whether the trainer meets others then."""
        self.pending[id].append((gradients, samples))
        return len(self.pending[id]) == self.mode.max_merge_var_num

    def meet(self, *ids: int) -> bool:
        """Whether what these have done is discarded."""
        parts = [self.pending[id].pop() for id in ids]
        scale = 1 / len(ids) if self.is_mean else 1.0
        self.server.apply(total([part for part, _ in parts], scale), sum(count for _, count in parts))
        for id in ids:
            self.seen[id] = self.server.dense()
        return False

    def is_pending(self, id: int) -> bool:
        """Whether it has done what is not pushed yet."""
        return bool(self.pending[id])

    def dense(self, id: int) -> dict[str, np.ndarray]:
        return self.seen[id]

    def fetch(self, id: int) -> dict[str, Rows]:
        """All that the trainer sees then."""
        self.seen[id] = self.server.dense()
        return self.server.all()

    def averages(self) -> dict[str, Rows]:
        return self.server.averages()

    def end_pass(self) -> None:
        """All have."""
        self.server.passes += 1
        self.seen = [self.server.dense() for _ in self.seen]


class Async(Served):
    """A push counts at once, alone; after too many of others it is discarded. Where late ones are corrected,
    g counts as g + g * g * (w - w as it was given)."""

    def __init__(self, *args: object, **more: bool) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        self.others = [0] * self.trainers

    def meet(self, *ids: int) -> bool:
        (id,) = ids
        ratio = self.mode.discard_ratio if self.mode.discard_ratio > 1 else 1.5
        is_late = self.others[id] > 0 and self.others[id] + 1 >= int(self.trainers * ratio)
        self.others = [0 if other == id else count + 1 for other, count in enumerate(self.others)]
        ((gradients, samples),) = self.pending[id]
        self.pending[id].clear()
        if self.mode.compensates:
            now = self.server.dense()
            gradients = {n: {0: g[0] + g[0] ** 2 * (now[n] - self.seen[id][n])} for n, g in gradients.items()}
        if not is_late:
            self.server.apply(gradients, samples)
        self.seen[id] = self.server.dense()
        return is_late

    def fetch(self, id: int) -> dict[str, Rows]:
        self.others[id] = 0
        return super().fetch(id)

    def end_pass(self) -> None:
        super().end_pass()
        self.others = [0] * self.trainers


class Stale(Served):
    """Bounded staleness: a push counts at once, alone, and none is discarded."""


class HalfAsync(Served):
    """Each step's gradient is in one push, with those of at most so many, as their sum or mean."""

    def meet(self, *ids: int) -> bool:
        (id,) = ids
        pending, self.pending[id] = self.pending[id], []
        scale = 1 / len(pending) if self.mode.merge == "mean" else 1.0
        self.server.apply(total([part for part, _ in pending], scale), sum(count for _, count in pending))
        self.seen[id] = self.server.dense()
        return False

    def fetch(self, id: int) -> dict[str, Rows]:
        if self.pending[id]:
            self.meet(id)
        return super().fetch(id)


class Alone:
    """Trainers that apply the rule by themselves to parameters of their own. ``center``: what all share, to
    which a gradient with its sign turned is added."""

    def __init__(self, center: Keeper, own: list[Keeper], mode: ModeSpec, first: First) -> None:
        self.center, self.own, self.mode, self.first = center, own, mode, first
        self.known = [center.all() for _ in own]
        self.touched: list[dict[str, set[int]]] = [{name: set() for name in center.model} for _ in own]
        self.steps = [0] * len(own)

    def look(self, id: int, ids: Mapping[str, list[int]]) -> dict[str, Rows]:
        """The rows of a batch; one that the trainer has not met is as the center has it."""
        for name, keys in ids.items():
            self.touched[id][name] |= set(keys)
            new = [key for key in keys if key not in self.known[id][name]]
            if new:
                self.center.put(name, self.first(name, new))
                self.own[id].put(name, self.center.look(name, new))
                self.known[id][name] |= self.center.look(name, new)
        return {name: self.own[id].look(name, keys) for name, keys in ids.items()}

    def step(self, id: int, gradients: Gradients, samples: int) -> bool:
        self.own[id].apply(gradients, samples)
        self.steps[id] += 1
        return self.steps[id] == self.mode.k_steps

    def meet(self, *ids: int) -> bool:
        """At the same time."""
        parts = {id: self.moved(id) for id in ids}
        is_mean = self.mode.name == "average" and self.mode.is_in_step
        rate = 1.0 if self.mode.name == "geo" else self.mode.delta_add_rate
        share = rate / (len(ids) if is_mean else len(self.own))
        self.center.apply(total(list(parts.values()), -share), 1)
        pull = rate / len(self.own) if self.mode.name == "elastic_average" else 0.0
        for id, moved in parts.items():
            for name, rows in moved.items():
                self.give(id, name, rows, share, pull)
            self.hear(id, moved)
            self.steps[id] = 0
        return False

    def give(self, id: int, name: str, rows: Rows, share: float, pull: float) -> None:
        """What it has told counts for it as known, and draws it back."""
        for key, move in rows.items():
            self.known[id][name][key] = self.known[id][name][key] + share * move
            self.own[id].rows[name][key].twin.w -= pull * move

    def moved(self, id: int) -> dict[str, Rows]:
        """All that is dense, and the rows that were touched."""
        if self.mode.name == "elastic_average":
            self.hear(id, {})  # where nobody waits, the center is looked at just before
        found: dict[str, Rows] = {}
        for name, parameter in self.center.model.items():
            keys = self.touched[id][name] if parameter.sparse else {0}
            now = self.own[id].look(name, sorted(keys))
            found[name] = {key: row - self.known[id][name][key] for key, row in now.items()}
            self.touched[id][name] = set()
        return found

    def hear(self, id: int, moved: Mapping[str, Rows]) -> None:
        """What others have made of the center since. Rows that nobody has changed are left alone."""
        for name, known in self.known[id].items():
            for key, before in known.items():
                now = self.center.look(name, [key])[key]
                if (now == before).all() and key not in moved.get(name, {}):
                    continue
                if self.mode.name != "elastic_average":
                    mine = self.own[id].look(name, [key])[key]
                    self.own[id].rows[name][key].twin.w = (
                        mine + (now - before) if self.mode.name == "geo" else now.copy()
                    )
                known[key] = now

    def is_pending(self, id: int) -> bool:
        return self.steps[id] > 0

    def dense(self, id: int) -> dict[str, np.ndarray]:
        return self.own[id].dense()

    def fetch(self, id: int) -> dict[str, Rows]:
        if not self.mode.is_in_step:
            if self.steps[id]:
                self.meet(id)
            self.hear(id, {})
        return self.center.all()

    def averages(self) -> dict[str, Rows]:
        return self.center.averages()

    def end_pass(self) -> None:
        for id, own in enumerate(self.own):
            self.hear(id, {})
            own.passes += 1
