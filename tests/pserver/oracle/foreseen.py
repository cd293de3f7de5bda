"""What trainers should see of a job, in the same order, by the references."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddle._engine.rows import SparseRows

from .job import TRAINERS, Event, Job, samples
from .keeper import Rows
from .seeing import Sight


class Foreseen:
    """What trainers should see."""

    def __init__(self, job: Job) -> None:
        self.job, self.reference = job, job.reference()
        self.sights: list[list[Sight]] = [[] for _ in range(TRAINERS)]
        self.ending: set[int] = set()  # who has no more steps in this pass

    def fetch(self, id: int) -> None:
        self.sights[id].append(self.whole(self.reference.fetch(id)))
        if self.job.average is not None:
            self.sights[id].append(self.whole(self.reference.averages()))

    def whole(self, found: Mapping[str, Rows]) -> Sight:
        seen: Sight = {}
        for p in self.job.model:
            keys = sorted(found[p.name])
            rows = [found[p.name][key] for key in keys]
            seen[p.name] = np.reshape(rows, (-1, p.shape[1])) if p.sparse else rows[0]
            if p.is_open:
                seen[f"ids of {p.name}"] = np.array(keys)
        return seen

    def step(self, id: int, place: int) -> bool:
        """Whether it meets others then."""
        gradients: dict[str, Rows] = {}
        for name, given in self.job.batch(place).items():
            if isinstance(given, SparseRows):
                rows = gradients[name] = {}
                for key, row in zip(given.ids.tolist(), given.values.astype(np.float64), strict=True):
                    rows[key] = rows.get(key, 0) + row
            else:
                gradients[name] = {0: given.astype(np.float64)}
        ids = {name: rows.tolist() for name, rows in self.job.rows(place).items()}
        rows_seen = self.reference.look(id, ids)
        self.sights[id].append(
            {name: np.array([rows[key] for key in ids[name]]) for name, rows in rows_seen.items()}
        )
        return self.reference.step(id, gradients, samples(place))

    def stepped(self, id: int, *, dropped: bool) -> None:
        self.sights[id].append({**self.reference.dense(id), "dropped": np.array(dropped)})

    def one_by_one(self, passes: list[list[Event]]) -> None:
        for number, events in enumerate(passes):
            for place, (id, what) in enumerate(events):
                if what == "fetch":
                    self.fetch(id)
                else:
                    meets = self.step(id, 100 * number + place)
                    self.stepped(id, dropped=meets and self.reference.meet(id))
            for id in range(TRAINERS):
                self.fetch(id)
            self.reference.end_pass()
        for id in range(TRAINERS):
            self.fetch(id)

    def in_step(self, passes: list[list[Event]]) -> None:
        for number, events in enumerate(passes):
            todo: dict[int, list[tuple[int, str]]] = {id: [] for id in range(TRAINERS)}
            for place, (id, what) in enumerate(events):
                todo[id].append((100 * number + place, what))
            self.ending.clear()
            while any(todo.values()):
                self.until_they_meet(todo)
            self.reference.end_pass()
            for id in range(TRAINERS):
                self.fetch(id)

    def until_they_meet(self, todo: dict[int, list[tuple[int, str]]]) -> None:
        meeting = [id for id in todo if self.until_it_waits(id, todo[id])]
        if meeting:
            self.reference.meet(*meeting)
        for id in meeting:
            if id not in self.ending:
                self.sights[id][-1] |= self.reference.dense(id)

    def until_it_waits(self, id: int, todo: list[tuple[int, str]]) -> bool:
        """Whether it does; one that has no more steps does where what it has done is pushed as its pass
        ends."""
        while todo:
            place, what = todo.pop(0)
            if what == "fetch":
                self.fetch(id)
                continue
            meets = self.step(id, place)
            self.stepped(id, dropped=False)
            if meets:
                return True
        self.ending.add(id)
        return self.reference.is_pending(id)


def foreseen(job: Job, passes: list[list[Event]]) -> list[list[Sight]]:
    """By trainer."""
    made = Foreseen(job)
    if job.cell.mode.is_in_step:
        made.in_step(passes)
    else:
        made.one_by_one(passes)
    return made.sights
