"""Modes in which trainers update by themselves, a second time: what each guarantees (references.py).

What the server has is the center, to which a gradient with its sign turned is added; ``own``: what each
trainer makes of it by the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .keeper import Rows
from .reference import Gradients, Reference, total

if TYPE_CHECKING:
    from .job import Job


class Alone(Reference):
    """Each trains by itself, and every ``k_steps`` moves the center by a share of what it moved itself: of
    all that is dense, and of the rows that its batches used."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.own = [job.keeper() for _ in self.here]
        self.known = [self.server.all() for _ in self.here]  # the center, as each has last heard of it
        self.moves: list[Gradients] = [{} for _ in self.here]  # what each told last
        self.steps = [0] * self.trainers
        self.touched = [self.dense_ones() for _ in self.here]

    # A mode's own.

    def follow(self, id: int, name: str, key: int, change: np.ndarray) -> None:
        """The center's row is another than the trainer knew it would be."""

    def share(self, meeting: int) -> float:
        """Of what each of so many that meet moved, the center's part."""
        return self.mode.delta_add_rate / self.trainers

    # What all share.

    def look(self, id: int, ids: Mapping[str, list[int]]) -> dict[str, Rows]:
        """One that the trainer has not met is as the center has it."""
        for name, keys in ids.items():
            self.touched[id][name] |= set(keys)
            if new := [key for key in keys if key not in self.known[id][name]]:
                self.server.put(name, self.job.first(name, new))
                self.known[id][name] |= self.server.look(name, new)
                self.own[id].put(name, self.server.look(name, new))
        return {name: self.own[id].look(name, keys) for name, keys in ids.items()}

    def step(self, id: int, gradients: Gradients, samples: int) -> None:
        self.own[id].apply(gradients, samples)
        self.dense[id] = self.own[id].dense()
        self.steps[id] += 1
        if self.steps[id] == self.mode.k_steps:
            self.flush(id)

    def flush(self, id: int) -> None:
        if self.steps[id]:
            self.steps[id] = 0
            self.push(id, self.moved(id), 1)

    def moved(self, id: int) -> dict[str, Rows]:
        found: dict[str, Rows] = {}
        for name, keys in self.touched[id].items():
            now = self.own[id].look(name, sorted(keys))
            found[name] = {key: row - self.known[id][name][key] for key, row in now.items()}
        self.touched[id] = self.dense_ones()
        return found

    def dense_ones(self) -> dict[str, set[int]]:
        """Their keys, and none of tables."""
        return {p.name: set() if p.sparse else {0} for p in self.job.model}

    def apply(self, parts: Mapping[int, tuple[Gradients, int]]) -> None:
        share = self.share(len(parts))
        self.server.apply(total([moved for moved, _ in parts.values()], -share), 1)
        for id, (moved, _) in parts.items():
            self.moves[id] = moved
            for name, rows in moved.items():
                for key, move in rows.items():
                    self.known[id][name][key] = self.known[id][name][key] + share * move

    def told(self, id: int) -> None:
        """It hears what others have made of the center. A row that is as it was is left alone: to look at it
        would make up for its idle steps."""
        for name, known in self.known[id].items():
            now = self.server.look(name, list(known))
            for key, before in known.items():
                if (now[key] != before).any() or key in self.moves[id].get(name, ()):
                    self.follow(id, name, key, now[key] - before)
            self.known[id][name] = now
        self.moves[id], self.dense[id] = {}, self.own[id].dense()

    def show(self, id: int) -> None:
        """Until the trainer goes on from its own."""
        self.told(id)
        self.dense[id] = self.server.dense()

    def fetch(self, id: int) -> dict[str, Rows]:
        if not self.mode.is_in_step:
            self.flush(id)
        self.show(id)
        return self.server.all()

    def begin_pass(self) -> None:
        for own in self.own:
            own.passes = self.server.passes

    def leave(self, id: int) -> None:
        if not self.mode.is_in_step:
            self.flush(id)
        super().leave(id)

    def join(self, id: int) -> None:
        now = {p.name: {} if p.is_open else self.server.look(p.name) for p in self.job.model}
        self.known[id], self.own[id] = now, self.job.keeper(now)
        super().join(id)

    def row(self, id: int, name: str, key: int) -> np.ndarray:
        """A trainer's own, as it is now."""
        return self.own[id].look(name, [key])[key]

    def put(self, id: int, name: str, key: int, values: np.ndarray) -> None:
        self.own[id].rows[name][key].twin.w = values


class Geo(Alone):
    """The center gets 1/N of each move; a trainer adds what others have added since it last heard of it."""

    def share(self, meeting: int) -> float:
        return 1 / self.trainers

    def follow(self, id: int, name: str, key: int, change: np.ndarray) -> None:
        self.put(id, name, key, self.row(id, name, key) + change)


class Average(Alone):
    """The center gets the mean of what those moved that meet, who wait for each other, times the rate, or the
    rate's Nth part of each move; a trainer goes on from it."""

    def share(self, meeting: int) -> float:
        return self.mode.delta_add_rate / (meeting if self.mode.is_in_step else self.trainers)

    def follow(self, id: int, name: str, key: int, change: np.ndarray) -> None:
        self.row(id, name, key)  # makes up for its idle steps
        self.put(id, name, key, self.server.look(name, [key])[key])


class Elastic(Alone):
    """The center gets the rate's Nth part of each move, by which a trainer gives way; where nobody waits, the
    move is from the center as it is then. Nobody follows what others move."""

    def flush(self, id: int) -> None:
        if self.steps[id] and not self.mode.is_in_step:
            self.told(id)
        super().flush(id)

    def moved(self, id: int) -> dict[str, Rows]:
        found = super().moved(id)
        for name, rows in found.items():
            for key, move in rows.items():
                self.put(id, name, key, self.row(id, name, key) - self.share(1) * move)
        return found
