"""Trainers that update by themselves, with an open table: once they have met its rows, all is as with a table
of a declared height."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, RowsSpec, RuleSpec, StepReport
from paddle._engine.row_initial import RowInitial, row_key
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.errors import Refused
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.local_updates import LocalUpdates
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.examples import one_fixture_for_all

from ..conftest import Pservers, Start
from .test_modes_local import NOT_IN_STEP, Step, update

ROWS = RowsSpec(initial=RowInitial("uniform", -1.0, 1.0), seed=4)
W = ParameterSpec(name="w", shape=(3, 2))
OPEN_MODEL = (W, ParameterSpec(name="t", shape=(OPEN, 2), sparse=True, rows=ROWS))
PACKED_MODEL = (W, ParameterSpec(name="t", shape=(5, 2), sparse=True))
RULES: dict[str, tuple[RuleSpec, float]] = {
    "sgd": (RuleSpec(name="sgd"), 0.0),
    "adagrad": (RuleSpec(name="adagrad"), 0.0),
    "sgd, decay": (RuleSpec(name="sgd"), 0.1),
    "sparse momentum": (RuleSpec(name="momentum", options={"momentum": 0.5, "sparse": 1.0}), 0.1),
    "rmsprop": (RuleSpec(name="rmsprop"), 1e-4),
}
"""And an L2 rate. With the last three, rows change in steps that pass them by."""
MET = np.arange(4)
"""Rows that all have met before anybody has changed one. Row 4 nobody ever meets."""
STEPS = st.tuples(st.integers(-8, 8), st.lists(st.integers(0, 3), max_size=3))
EVENTS = st.one_of(STEPS, st.sampled_from(["fetch", "test"]))
IN_STEP = st.builds(
    ModeSpec,
    name=st.sampled_from(["average", "elastic_average"]),
    k_steps=st.integers(1, 3),
    delta_add_rate=st.sampled_from([0.5, 1.0]),
)


def first_values(ids: Sequence[int]) -> np.ndarray:
    t = np.empty((len(ids), 2), np.float32)
    ROWS.initial.fill(row_key(ROWS.seed, "t"), np.array(ids, np.int64), t)
    return t


VALUES = {"w": np.ones((3, 2), np.float32), "t": first_values(range(5))}


class Job:
    """All trainers of a job, in this thread."""

    def __init__(
        self, pservers: Pservers, mode: ModeSpec, model: tuple[ParameterSpec, ...], rule: str
    ) -> None:
        self.trainers: list[tuple[Exchange, Mapping[str, np.ndarray]]] = []
        self.height = model[1].shape[0]
        how, l2_rate = RULES[rule]
        for id in range(pservers.num_gradient_servers):
            exchange = in_mode(pservers.exchange(id), mode, pservers.num_gradient_servers)
            spec = replace(update(mode, how), l2_rate=l2_rate)
            self.trainers.append((exchange, exchange.start(model, spec, VALUES)))
        for id, _ in enumerate(self.trainers):
            self.rows(id, MET, training=True)

    def rows(self, id: int, ids: np.ndarray, *, training: bool) -> np.ndarray:
        exchange, arrays = self.trainers[id]
        if self.height == OPEN:
            return exchange.lookup({"t": ids}, training=training)["t"]
        if training:
            exchange.prefetch({"t": ids})
        return arrays["t"][ids]

    def step(self, id: int, step: Step) -> list[np.ndarray]:
        """What is seen before the step and after it."""
        value, touched = step
        ids, places = np.unique(np.array(touched, np.int64), return_inverse=True)
        exchange, arrays = self.trainers[id]
        before = self.rows(id, ids, training=True)[places]
        gradient = SparseRows(np.array(touched, np.int64), before / 4 + np.float32(value), self.height)
        exchange.step({"w": arrays["w"] / 4 + np.float32(value), "t": gradient}, samples=1)
        return [before, arrays["w"].copy(), self.rows(id, ids, training=True)]

    def do(self, id: int, event: Step | str) -> list[np.ndarray]:
        if not isinstance(event, str):
            return self.step(id, event)
        exchange, arrays = self.trainers[id]
        if event == "fetch":
            exchange.fetch()
        return [arrays["w"].copy()]

    def close(self) -> None:
        for exchange, _ in self.trainers:
            exchange.close()


@given(
    mode=NOT_IN_STEP,
    trainers=st.integers(1, 3),
    rule=st.sampled_from(sorted(RULES)),
    data=st.data(),
)
@settings(one_fixture_for_all, max_examples=40)
def test_trainers_that_wait_for_nobody_see_the_same_rows_bit_for_bit(
    start_pservers: Start, mode: ModeSpec, trainers: int, rule: str, data: st.DataObject
) -> None:
    jobs = [
        Job(
            start_pservers(ports_num_for_sparse=2, num_gradient_servers=trainers),
            replace(mode, is_async=True) if mode.name != "geo" else mode,
            model,
            rule,
        )
        for model in (OPEN_MODEL, PACKED_MODEL)
    ]
    for id, event in data.draw(st.lists(st.tuples(st.integers(0, trainers - 1), EVENTS), max_size=12)):
        opened, packed = (job.do(id, event) for job in jobs)
        for one, other in zip(opened, packed, strict=True):
            assert one.tobytes() == other.tobytes(), event
    for id in range(trainers):
        for job in jobs:
            job.trainers[id][0].fetch()
        shown = jobs[0].rows(id, MET, training=False)
        assert shown.tobytes() == jobs[1].rows(id, MET, training=False).tobytes()
        exported = jobs[0].trainers[id][0].export("t")
        assert exported.ids.tolist() == MET.tolist() and np.array_equal(exported.values, shown)
    for job in jobs:
        job.close()


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("name", ["geo", "average", "elastic_average"])
def test_so_do_two_whose_rows_the_other_changes_while_they_are_idle(
    start_pservers: Start, name: Any, rule: str
) -> None:
    """The same by one course that has all of it, whatever chance brings."""
    mode = ModeSpec(name=name, k_steps=2, is_async=name != "geo", delta_add_rate=0.5)
    pservers = [start_pservers(ports_num_for_sparse=1, num_gradient_servers=2) for _ in range(2)]
    jobs = [Job(*of) for of in zip(pservers, [mode] * 2, (OPEN_MODEL, PACKED_MODEL), [rule] * 2, strict=True)]
    steps: list[tuple[int, Step]] = [
        *[(0, (3, [0, 1])), (0, (-2, [1])), (1, (5, [0])), (1, (1, [2])), (0, (1, [3])), (0, (2, [3]))],
        *[(1, (4, [0, 3])), (1, (-3, [0])), (0, (2, [0])), (0, (0, [1, 2])), (1, (1, [0, 1, 2, 3]))],
    ]
    for id, step in steps:
        opened, packed = (job.do(id, step) for job in jobs)
        assert [one.tobytes() for one in opened] == [other.tobytes() for other in packed], step
    for job in jobs:
        job.close()


@given(mode=IN_STEP, rule=st.sampled_from(sorted(RULES)), events=st.lists(STEPS, max_size=8))
@settings(one_fixture_for_all, max_examples=15)
def test_so_does_one_that_meets_in_step(
    start_pservers: Start, mode: ModeSpec, rule: str, events: list[Step]
) -> None:
    jobs = [Job(start_pservers(ports_num_for_sparse=1), mode, m, rule) for m in (OPEN_MODEL, PACKED_MODEL)]
    for event in events:
        opened, packed = (job.do(0, event) for job in jobs)
        assert [one.tobytes() for one in opened] == [other.tobytes() for other in packed]
    for job in jobs:
        job.close()


def test_a_row_that_a_trainer_meets_late_is_as_the_others_have_made_it(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num_for_sparse=2, num_gradient_servers=2)
    job = Job(pservers, ModeSpec(name="geo", k_steps=1), OPEN_MODEL, "sgd")
    late = np.array([7, -5])
    _, _, before = job.step(0, (1, [7]))
    center = job.rows(1, late, training=True)
    moved = (before - first_values([7])) / 2  # of two trainers
    assert np.array_equal(center[:1], first_values([7]) + moved)
    assert np.array_equal(center[1:], first_values([-5]))
    job.step(1, (0, []))  # hears of row 7 what it knows
    assert np.array_equal(job.rows(1, late, training=True), center)
    job.close()


def test_a_test_between_two_meetings_shows_what_the_trainer_has_itself(start_pservers: Start) -> None:
    job = Job(start_pservers(ports_num_for_sparse=1), ModeSpec(name="geo", k_steps=9), OPEN_MODEL, "sgd")
    ids = np.array([7, 8, 9])
    assert not job.rows(0, ids, training=False).any()  # nobody has made them
    job.step(0, (2, [7, 8]))
    own = job.rows(0, ids, training=False)
    assert own[:2].any() and not own[2].any()
    assert not np.array_equal(own[:2], first_values([7, 8]))
    job.close()


@pytest.mark.parametrize("name", ["geo", "average", "elastic_average"])
def test_what_each_trainer_would_see_otherwise_is_refused_by_name(start_pservers: Start, name: Any) -> None:
    mode = ModeSpec(name=name)
    pservers = start_pservers(ports_num_for_sparse=1)
    exchange = in_mode(pservers.exchange(0), mode, 1)
    choosy = replace(OPEN_MODEL[1], rows=replace(ROWS, entry=Entry("count", 2)))
    with pytest.raises(Refused, match=f"mode {name}.*entry policy of 't'"):
        exchange.start((W, choosy), update(mode), VALUES)
    with pytest.raises(ExchangeError, match=f"forget no rows in mode {name}"):
        exchange.shrink(1)


class Center(LocalExchange):
    """What one trainer shares with nobody. It tells of the rows that were pushed, or of all."""

    def __init__(self, *, tells_all: bool) -> None:
        super().__init__()
        self._tells_all, self._pushed = tells_all, np.empty(0, np.int64)

    def step(self, gradients: Mapping[str, Any], samples: int, *, rate: float | None = None) -> StepReport:
        self._pushed = gradients["t"].ids
        return super().step(gradients, samples, rate=rate)

    def pull(self) -> None:
        """It always is up to date."""

    def start(self, *given: Any) -> Mapping[str, np.ndarray]:
        """A table that has a height is not the shard's own, as it is not where that is remote."""
        arrays = super().start(*given)
        self._is_open = "t" not in arrays
        return arrays if self._is_open else {**arrays, "t": arrays["t"].copy()}

    def changes(self) -> Iterator[Mapping[str, SparseRows]]:
        ids, self._pushed = self._pushed, np.empty(0, np.int64)
        if self._is_open:
            ids = self.export("t").ids if self._tells_all else np.unique(ids)
            yield {"t": SparseRows(ids, self.lookup({"t": ids}, training=False)["t"], OPEN)}
        else:
            ids = np.arange(5) if self._tells_all else np.unique(ids)
            yield {"t": SparseRows(ids, self._tables.table("t").gather(ids), 5)}


@pytest.mark.parametrize("model", [OPEN_MODEL, PACKED_MODEL], ids=["open", "of a height"])
@pytest.mark.parametrize("name", ["geo", "average", "elastic_average"])
def test_hearing_again_of_rows_that_are_as_they_were_changes_no_bit(
    name: Any, model: tuple[ParameterSpec, ...]
) -> None:
    """As of a shard that was started again, whose trainers hear of all rows anew: rows that were not used for
    a while decay, and make up for all of it when they are used again."""
    ends = []
    for tells_all in (False, True):
        mode = ModeSpec(name=name, k_steps=2, delta_add_rate=0.75)
        rule = RuleSpec(name="momentum", options={"momentum": 0.9})
        spec = replace(update(mode), rule=rule, l2_rate=0.05)
        trainer = LocalUpdates(Center(tells_all=tells_all), LocalExchange(), mode, 2)
        arrays = trainer.start(model, spec, VALUES)
        trainer.begin_pass(0)
        for step in range(40):
            ids = np.unique([step % 5, step % 3])
            if model is OPEN_MODEL:
                rows = trainer.lookup({"t": ids}, training=True)["t"]
            else:
                trainer.prefetch({"t": ids})
                rows = arrays["t"][ids]
            height = model[1].shape[0]
            trainer.step({"w": arrays["w"] / 4, "t": SparseRows(ids, rows + 1, height)}, samples=1)
        trainer.end_pass(0)
        ends.append((arrays["t"] if "t" in arrays else trainer.export("t").values).tobytes())
    assert ends[0] == ends[1]


class Unreachable(Center):
    """One that no pserver answers for."""

    told: str | None = None

    def start(self, *_: Any) -> Mapping[str, np.ndarray]:
        raise ExchangeError("no pserver answers")

    def close(self, failure: str | None = None) -> None:
        self.told = failure


def test_a_trainer_that_could_not_start_says_so_to_those_who_wait_for_it() -> None:
    """It has no parameters of its own yet, and nothing of its own to close."""
    center, mode = Unreachable(tells_all=False), ModeSpec(name="geo")
    trainer = LocalUpdates(center, LocalExchange(), mode, 2)
    with pytest.raises(ExchangeError, match="no pserver answers"):
        trainer.start(OPEN_MODEL, update(mode), VALUES)
    trainer.close("no pserver answers")
    assert center.told == "no pserver answers"
