"""Course: trainers of one job, of whom anything may happen to each in any order, and what the reference of
their mode says that they see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Hold, Keep
from paddle._pserver.trainer.trainer_modes import in_mode

from ..talk import Talk
from .job import KEYS, Job, samples
from .keeper import Rows
from .seat import Seat
from .table import MODES, RULES

SOMEBODY = 9
KEPT = SnapshotOptions(folder="a folder", period=1 << 20)
PLACES = st.lists(st.integers(0, 40), min_size=1, max_size=4)
"""Batches, by number."""
LEAST = 2
"""So many steps are applied in a course; if need be at its end,"""
MOST_TURNS = 20
"""for which a trainer does no more batches than these."""


def assert_close(found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], about: str) -> None:
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-4, err_msg=f"{name}, {about}")


class Course(RuleBasedStateMachine):
    """See the module's text. One trainer is there from the start, and never leaves. ``applied``: how many
    steps were, of each course."""

    is_right = False  # all was as it must be when one last looked

    def __init__(self, mode: str, rule: str, applied: list[int] | None = None) -> None:
        super().__init__()
        self.mode, self.rule = mode, rule
        self.applied = [] if applied is None else applied
        self.seats: list[Any] = []

    @initialize(
        data=st.data(),
        trainers=st.integers(2, 3),
        turn=st.integers(0, 8),
        is_averaged=st.booleans(),
        places=PLACES,
    )
    def begin(
        self, data: st.DataObject, trainers: int, turn: int, is_averaged: bool, places: list[int]
    ) -> None:
        """All that are there from the start do these batches, as far as they may: no course is without."""
        cell = MODES[self.mode]
        spec = data.draw(st.sampled_from(cell.modes))
        self.job = Job(cell, spec, RULES[self.rule], trainers, turn, is_averaged=is_averaged)
        self.reference = cell.reference(self.job)
        self.exchanges = [in_mode(each, spec, trainers) for each in self.take_seats(trainers)]
        self.arrays: dict[int, Mapping[str, np.ndarray]] = {}  # as each sees them
        self.dropped = [False] * trainers
        self.in_pass = [-1] * trainers
        self.late = set(data.draw(st.sampled_from([(), (), (1,), range(1, trainers)])))
        self.here: set[int] = set()
        for id in sorted(set(range(trainers)) - self.late):
            self.do_join(id)
        self.step_in_turns(places)

    def step_in_turns(self, places: list[int]) -> None:
        for place, id in product(places, sorted(self.here)):
            if id in self.free():
                self.step(id, place)
                self.trainers_see_what_their_mode_promises()

    def take_seats(self, trainers: int) -> list[Any]:
        """Let there be a shard, and places of trainers at it. Gives the exchange of each."""
        self.talk = Talk(trainers, self.job.update, snapshots=KEPT)
        self.seats = [Seat(self.talk, id) for id in range(trainers)]
        return self.seats

    def do(self, id: int, work: Callable[[], Any]) -> None:
        """A trainer does it, and then all go on that can."""
        seat, self.is_right = self.seats[id], False
        if self.in_pass[id] != self.reference.server.passes:
            self.in_pass[id] = self.reference.server.passes
            seat.do(partial(self.exchanges[id].begin_pass, self.in_pass[id]))
        seat.do(work)
        self.go_on()

    def go_on(self) -> None:
        while any(seat.go_on() for seat in self.seats):
            pass

    def do_join(self, id: int) -> None:
        self.here.add(id)

        def start() -> None:
            self.arrays[id] = self.exchanges[id].start(self.job.model, self.job.update, self.job.values)

        self.seats[id].do(start)
        self.go_on()

    def free(self) -> list[int]:
        """Who may do something: at least one trainer, or there is one that has not come yet."""
        return [id for id in sorted(self.here) if not self.reference.waits(id)]

    def draw(self, data: st.DataObject, *, is_forgetful: bool = False) -> int:
        """One of these."""
        id = data.draw(st.sampled_from(self.free()))
        self.seats[id].is_forgetful = is_forgetful
        return id

    # What may happen.

    @precondition(lambda self: self.free())
    @rule(data=st.data(), places=PLACES, is_forgetful=st.booleans())
    def steps(self, data: st.DataObject, places: list[int], is_forgetful: bool) -> None:
        """Until it has to wait."""
        id = self.draw(data, is_forgetful=is_forgetful)
        for place in places:
            if id in self.free():
                self.step(id, place)
                self.trainers_see_what_their_mode_promises()

    def step(self, id: int, place: int) -> None:
        ids, exchange, seen = self.job.rows(place), self.exchanges[id], dict[str, np.ndarray]()

        def work() -> None:
            opened = {p.name: ids[p.name] for p in self.job.model if p.is_open}
            packed = {name: mine for name, mine in ids.items() if name not in opened}
            exchange.prefetch(packed)
            seen.update({name: self.arrays[id][name][mine] for name, mine in packed.items()})
            if opened:
                seen.update(exchange.lookup(opened, training=True))
            self.dropped[id] = exchange.step(self.job.batch(place), samples(place)).dropped > 0

        self.do(id, work)
        rows = self.reference.look(id, {name: mine.tolist() for name, mine in ids.items()})
        looked = {name: np.array([rows[name][key] for key in ids[name].tolist()]) for name in ids}
        assert_close(seen, looked, f"rows of a batch of trainer {id}")
        self.reference.step(id, self.job.gradients(place), samples(place))

    @precondition(lambda self: self.free())
    @rule(data=st.data(), is_forgetful=st.booleans())
    def fetch(self, data: st.DataObject, is_forgetful: bool) -> None:
        id = self.draw(data, is_forgetful=is_forgetful)
        seen, averages = dict[str, np.ndarray](), dict[str, np.ndarray]()

        def work() -> None:
            exchange = self.exchanges[id]
            exchange.fetch()
            seen.update({name: array.copy() for name, array in self.arrays[id].items()})
            for p in self.job.model:
                if p.is_open:
                    looked = exchange.lookup({p.name: KEYS}, training=False)[p.name]  # which makes no row
                    rows = exchange.export(p.name).merged()
                    seen.update({p.name: rows.values, f"ids of {p.name}": rows.ids, f"any {p.name}": looked})
            if self.job.update.average is not None:
                averages.update(exchange.averages())

        self.do(id, work)
        assert_close(seen, self.whole(self.reference.fetch(id)), f"fetched by trainer {id}")
        if averages:
            expected = self.whole(self.reference.server.averages())
            assert_close(averages, expected, f"averages for trainer {id}")

    def whole(self, found: Mapping[str, Rows]) -> dict[str, np.ndarray]:
        seen = dict[str, np.ndarray]()
        for p in self.job.model:
            keys = sorted(found[p.name])
            rows = [found[p.name][key] for key in keys]
            seen[p.name] = np.reshape(rows, (-1, p.shape[1])) if p.sparse else rows[0]
            if p.is_open:
                seen[f"ids of {p.name}"] = np.array(keys)
                none = np.zeros(p.shape[1])  # what has no row is zero for a test
                seen[f"any {p.name}"] = np.array([found[p.name].get(key, none) for key in KEYS.tolist()])
        return seen

    @precondition(lambda self: self.free())
    @rule(data=st.data(), is_forgetful=st.booleans())
    def end_pass(self, data: st.DataObject, is_forgetful: bool) -> None:
        id = self.draw(data, is_forgetful=is_forgetful)
        self.do(id, partial(self.exchanges[id].end_pass, self.reference.server.passes))
        self.reference.end_pass(id)

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def join(self, data: st.DataObject) -> None:
        self.late_one_joins(data.draw(st.sampled_from(sorted(self.late))))

    def late_one_joins(self, id: int) -> None:
        self.late.discard(id)
        self.do_join(id)
        self.reference.join(id)

    @precondition(lambda self: set(self.free()) - {0})
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(set(self.free()) - {0})))
        self.do(id, self.exchanges[id].close)
        self.here.discard(id)
        self.reference.leave(id)

    @rule(data=st.data(), is_shard=st.booleans())
    def break_down(self, data: st.DataObject, is_shard: bool) -> None:
        """A trainer's connection, or the shard, which goes on from a snapshot. Who waits asks again."""
        self.is_right = False
        if is_shard:
            self.talk.ask(SOMEBODY, Hold(self.talk.shard.clocks.version))
            self.talk.ask(SOMEBODY, Keep())
            self.talk = self.talk.restart()
            for seat in self.seats:
                seat.talk = self.talk
            self.reference.restart()
            again = sorted(self.here)
        else:
            again = [data.draw(st.sampled_from(sorted(self.here)))]
            self.talk.lose(*again)
        for id in again:
            self.seats[id].come()
        self.go_on()

    # What must be.

    @invariant()
    def trainers_see_what_their_mode_promises(self) -> None:
        for id in sorted(self.here):
            assert self.seats[id].is_waiting == self.reference.waits(id), f"whether trainer {id} waits"
        for id in self.free():
            assert_close(self.arrays[id], self.reference.dense[id], f"as trainer {id} has it")
            assert self.dropped[id] == self.reference.dropped[id]
        self.is_right = True

    def end(self) -> None:
        """Where too little has come of it, who is late comes, and all do batches in turn."""
        steps = self.reference.server.rates
        for id in sorted(self.late if len(steps) < LEAST else ()):
            self.late_one_joins(id)
            self.trainers_see_what_their_mode_promises()
        for place in range(MOST_TURNS):
            if len(steps) < LEAST:
                self.step_in_turns([place])
        self.applied.append(len(steps))

    def teardown(self) -> None:
        if self.is_right:
            self.end()
        for seat in self.seats:
            seat.is_over = True
            seat.go_on()
