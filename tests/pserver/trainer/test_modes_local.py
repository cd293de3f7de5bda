"""Modes in which trainers update by themselves, event by event against a simulation of what they guarantee.

The simulation knows no shard, no message and no queue: one center, and per trainer its own parameters and the
center as it last knew it. Trainers that wait for nobody are driven one call at a time, so that the order of
events is the one that was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.engine.rules.rule_twins import OPTIONS, Twin
from tests.examples import one_fixture_for_all

from ..conftest import Pservers, Start, values_of

MODEL = (ParameterSpec(name="w", shape=(3, 2)), ParameterSpec(name="t", shape=(5, 2), sparse=True))
VALUES = values_of(MODEL, 0)
RATE = 0.25
RULES = {name: RuleSpec(name=name, options=OPTIONS[name]) for name in ("sgd", "adagrad", "ftrl", "adam")}
RULES["momentum"] = RuleSpec(name="momentum", options={"momentum": 0.5})
"""Rows that a batch does not touch stay as they are with all of them."""

Arrays = dict[str, np.ndarray]
Step = tuple[int, list[int]]
"""A gradient: its value everywhere, and the rows of t that it touches."""

STEPS = st.tuples(st.integers(-8, 8), st.lists(st.integers(0, 4), max_size=3))
EVENTS = st.one_of(STEPS, st.just("fetch"))
Event = tuple[int, Step | str]
"""A trainer, and what it does."""
NOT_IN_STEP = st.one_of(
    st.builds(ModeSpec, name=st.just("geo"), k_steps=st.integers(1, 3)),
    st.builds(
        ModeSpec,
        name=st.sampled_from(["average", "elastic_average"]),
        k_steps=st.integers(1, 3),
        delta_add_rate=st.sampled_from([0.5, 1.0]),
        is_async=st.just(True),
    ),
)


def update(mode: ModeSpec, rule: str | RuleSpec = "sgd") -> UpdateSpec:
    spec = RULES[rule] if isinstance(rule, str) else rule
    return UpdateSpec(rule=spec, schedule=ScheduleSpec(learning_rate=RATE), mode=mode)


def gradient(step: Step) -> dict[str, np.ndarray | SparseRows]:
    value, ids = step
    rows = np.full((len(ids), 2), value, np.float32)
    return {
        "w": np.full((3, 2), value, np.float32),
        "t": SparseRows(np.array(ids, np.int64), rows, MODEL[1].shape[0]),
    }


class Simulation:
    """The center and its trainers, all tables as dense arrays; each applies the ``rule`` by itself."""

    def __init__(self, mode: ModeSpec, trainers: int, rule: str) -> None:
        self.mode, self.trainers = mode, trainers
        momentum = RULES[rule].options.get("momentum", 0.0)
        self.twins = [
            {name: Twin(rule, value, momentum, Penalties()) for name, value in VALUES.items()}
            for _ in range(trainers)
        ]
        self.center: Arrays = {name: value.astype(np.float64) for name, value in VALUES.items()}
        self.own = [self.copy() for _ in range(trainers)]
        self.known = [self.copy() for _ in range(trainers)]
        self.touched: list[set[int]] = [set() for _ in range(trainers)]
        self.steps = [0] * trainers

    def copy(self) -> Arrays:
        return {name: value.copy() for name, value in self.center.items()}

    def step(self, id: int, step: Step) -> bool:
        """Whether the trainer is to meet the others now."""
        value, ids = step
        rows = np.zeros((5, 2))
        np.add.at(rows, ids, value)
        self.apply(id, "w", np.full((3, 2), float(value)), [0, 1, 2])
        self.apply(id, "t", rows, ids)
        self.touched[id] |= set(ids)
        self.steps[id] += 1
        return self.steps[id] == self.mode.k_steps

    def apply(self, id: int, name: str, gradient: np.ndarray, ids: list[int]) -> None:
        """The rule, to these rows and what it remembers of them."""
        twin, own = self.twins[id][name], self.own[id][name]
        before = [kept.copy() for kept in (twin.velocity, twin.first, twin.second)]
        twin.w = own.copy()
        twin.update(gradient, RATE)
        own[ids] = twin.w[ids]
        for kept, new in zip(before, (twin.velocity, twin.first, twin.second), strict=True):
            others = np.setdiff1d(np.arange(len(own)), ids)
            new[others] = kept[others]

    def meet(self, *ids: int) -> None:
        """These meet at the same time; each in order where there is one."""
        if self.mode.name == "elastic_average":  # where the center is looked at just before
            for id in ids:
                self.known[id] = self.copy()
        moves = {id: self.moved(id) for id in ids}
        rate = self.mode.delta_add_rate if self.mode.name != "geo" else 1.0
        is_mean = self.mode.name == "average" and self.mode.is_in_step
        part = 1 / (len(ids) if is_mean else self.trainers)
        for move in moves.values():
            for name in self.center:
                self.center[name] += rate * part * move[name]
        for id, move in moves.items():
            for name, own in self.own[id].items():
                if self.mode.name == "geo":
                    own += self.center[name] - (self.known[id][name] + part * move[name])
                elif self.mode.name == "average":
                    own[...] = self.center[name]
                else:
                    own -= rate / self.trainers * move[name]
            self.known[id] = self.copy()
            self.touched[id].clear()
            self.steps[id] = 0

    def hear(self, id: int) -> None:
        """Of the center, without a push: when parameters are fetched, and at the end of a pass."""
        for name, own in self.own[id].items():
            if self.mode.name == "geo":
                own += self.center[name] - self.known[id][name]
            elif self.mode.name == "average":
                own[...] = self.center[name]
        self.known[id] = self.copy()

    def moved(self, id: int) -> Arrays:
        move = {name: own - self.known[id][name] for name, own in self.own[id].items()}
        untouched = sorted(set(range(5)) - self.touched[id])
        move["t"][untouched] = 0
        return move


def joined(
    pservers: Pservers, mode: ModeSpec, rule: str | RuleSpec = "sgd"
) -> list[tuple[Exchange, Mapping[str, Any]]]:
    """All trainers of a job, in this thread, each with its arrays."""
    made = []
    for id in range(pservers.num_gradient_servers):
        exchange = in_mode(pservers.exchange(id), mode, pservers.num_gradient_servers)
        made.append((exchange, exchange.start(MODEL, update(mode, rule), VALUES)))
    return made


def look_at(exchange: Exchange, step: Step) -> None:
    exchange.prefetch({"t": np.array(step[1], np.int64)})


def close(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> None:
    for name, array in other.items():
        np.testing.assert_allclose(one[name], array, rtol=1e-4, atol=1e-4, err_msg=name)


@given(
    mode=NOT_IN_STEP,
    rule=st.sampled_from(sorted(RULES)),
    shape=st.sampled_from([(1, 1), (2, 3)]),
    trainers=st.integers(1, 3),
    data=st.data(),
)
@settings(one_fixture_for_all, max_examples=40)
def test_trainers_that_wait_for_nobody_equal_the_simulation_of_every_event(
    start_pservers: Start,
    mode: ModeSpec,
    rule: str,
    shape: tuple[int, int],
    trainers: int,
    data: st.DataObject,
) -> None:
    ports, sparse = shape
    pservers = start_pservers(ports_num=ports, ports_num_for_sparse=sparse, num_gradient_servers=trainers)
    events = data.draw(st.lists(st.tuples(st.integers(0, trainers - 1), EVENTS), max_size=15))
    compare(joined(pservers, mode, rule), Simulation(mode, trainers, rule), events)


def compare(job: Sequence[tuple[Exchange, Any]], simulation: Simulation, events: Sequence[Event]) -> None:
    """All that trainers see of these events, and what they leave behind."""
    for id, event in events:
        exchange, arrays = job[id]
        if isinstance(event, str):
            fetch(exchange, simulation, id)
            close(arrays, simulation.center)
            continue
        look_at(exchange, event)
        close(arrays, simulation.own[id])
        exchange.step(gradient(event), samples=1)
        if simulation.step(id, event):
            simulation.meet(id)
        close(arrays, simulation.own[id])
    *leaving, (last, arrays) = job
    for id, (exchange, _) in enumerate(leaving):
        exchange.close()
        if simulation.steps[id]:
            simulation.meet(id)
    fetch(last, simulation, len(job) - 1)
    close(arrays, simulation.center)
    last.close()


def fetch(exchange: Exchange, simulation: Simulation, id: int) -> None:
    """What is pending is pushed; otherwise the trainer only hears of the center."""
    exchange.fetch()
    if simulation.steps[id]:
        return simulation.meet(id)
    return simulation.hear(id)


IN_STEP = st.builds(
    ModeSpec,
    name=st.sampled_from(["average", "elastic_average"]),
    k_steps=st.integers(1, 3),
    delta_add_rate=st.sampled_from([0.5, 1.0]),
)
PASSES = st.lists(st.lists(st.lists(STEPS, max_size=5), min_size=3, max_size=3), min_size=1, max_size=2)
"""What three trainers do in each."""


@given(
    mode=IN_STEP,
    rule=st.sampled_from(sorted(RULES)),
    shape=st.sampled_from([(1, 1), (2, 3)]),
    passes=PASSES,
    trainers=st.integers(1, 3),
)
@settings(one_fixture_for_all, max_examples=30)
def test_trainers_that_wait_for_each_other_equal_the_simulation_of_their_meetings(
    start_pservers: Start,
    mode: ModeSpec,
    rule: str,
    shape: tuple[int, int],
    passes: list[list[list[Step]]],
    trainers: int,
) -> None:
    """Each with as many batches as it has: who has no more is not waited for."""
    ports, sparse = shape
    pservers = start_pservers(ports_num=ports, ports_num_for_sparse=sparse, num_gradient_servers=trainers)
    compare_passes(pservers, Simulation(mode, trainers, rule), rule, passes)


def compare_passes(
    pservers: Pservers, simulation: Simulation, rule: str | RuleSpec, passes: list[list[list[Step]]]
) -> None:
    """What each trainer of a job has at the end of each pass, of which it has ``passes[pass][id]``."""
    mode, trainers = simulation.mode, simulation.trainers

    def run(id: int) -> Any:
        def train(remote: Any) -> list[Arrays]:
            exchange = in_mode(remote, mode, trainers)
            arrays, seen = exchange.start(MODEL, update(mode, rule), VALUES), []
            for pass_id, batches in enumerate(passes):
                exchange.begin_pass(pass_id)
                for step in batches[id]:
                    look_at(exchange, step)
                    exchange.step(gradient(step), samples=1)
                exchange.end_pass(pass_id)
                seen.append({name: array.copy() for name, array in arrays.items()})
            return seen

        return train

    results = pservers.train(*(run(id) for id in range(trainers)))
    for pass_id, batches in enumerate(passes):
        todo = {id: list(batches[id]) for id in range(trainers)}
        while any(todo.values()):
            simulation.meet(*until_they_meet(simulation, todo))
        for id, result in enumerate(results):
            simulation.hear(id)
            close(result[pass_id], simulation.center)


def until_they_meet(simulation: Simulation, todo: dict[int, list[Step]]) -> list[int]:
    """Who meets next, having done its steps."""
    meeting = [id for id, steps in todo.items() if steps]
    for id in meeting:
        while todo[id] and not simulation.step(id, todo[id].pop(0)):
            pass
    return meeting


@pytest.mark.parametrize("name", ["geo", "average", "elastic_average"])
@pytest.mark.parametrize("is_async", [False, True])
def test_the_number_of_shards_changes_no_bit(start_pservers: Start, name: Any, is_async: bool) -> None:
    mode = ModeSpec(name=name, k_steps=2, is_async=is_async)
    found = []
    for hosts, ports, sparse in [(1, 1, 1), (2, 2, 2)]:
        pservers = start_pservers(hosts, ports, sparse, num_gradient_servers=1)
        ((exchange, arrays),) = joined(pservers, mode, "adagrad")
        for step in [(3, [0, 4]), (-2, [1, 1]), (5, [4]), (1, [2])]:
            look_at(exchange, step)
            exchange.step(gradient(step), samples=1)
        exchange.end_pass(0)
        exchange.fetch()
        found.append({name: array.tobytes() for name, array in arrays.items()})
        exchange.close()
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["geo", "average", "elastic_average"])
def test_shards_count_each_sample_once(start_pservers: Start, name: Any) -> None:
    pservers = start_pservers(ports_num=1, ports_num_for_sparse=1)
    ((exchange, _),) = joined(pservers, ModeSpec(name=name, k_steps=2))
    for samples in (1, 2, 4, 8, 16):
        exchange.step(gradient((1, [0])), samples=samples)
    exchange.end_pass(0)
    assert [hub.shard.clocks.samples for hub in pservers.hubs] == [31, 31]
    exchange.close()


def test_one_trainer_that_averages_with_itself_trains_as_if_it_were_alone(start_pservers: Start) -> None:
    mode = ModeSpec(name="average", k_steps=3)
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1)
    ((exchange, arrays),) = joined(pservers, mode, "adagrad")
    alone = LocalExchange()
    expected = alone.start(MODEL, update(ModeSpec(), "adagrad"), VALUES)
    steps: Sequence[Step] = [(3, [0, 4]), (-2, [1, 1]), (5, [4]), (1, [2])]
    for step in steps:
        exchange.step(gradient(step), samples=1)
        alone.step(gradient(step), samples=1)
    exchange.end_pass(0)
    close(arrays, expected)
    exchange.close()


@pytest.mark.parametrize("name", ["average", "elastic_average"])
def test_a_fetch_makes_nobody_wait_and_shows_what_all_shared_last(start_pservers: Start, name: Any) -> None:
    job = joined(
        start_pservers(ports_num_for_sparse=1, num_gradient_servers=2), ModeSpec(name=name, k_steps=2)
    )
    exchange, arrays = job[0]
    exchange.step(gradient((3, [1])), samples=1)
    before = {name: array.copy() for name, array in arrays.items()}
    exchange.fetch()
    close(arrays, VALUES)
    look_at(exchange, (0, []))
    close(arrays, before)
    for each, _ in job:
        each.close()


@pytest.mark.parametrize("mode", [ModeSpec(name="geo"), ModeSpec(name="ssp", staleness=3)], ids=str)
def test_a_new_process_joins_a_running_job_with_the_parameters_as_they_are(
    start_pservers: Start, mode: ModeSpec
) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2, num_gradient_servers=2)
    first, old, new = pservers.exchange(0), pservers.exchange(1), pservers.exchange(1)
    exchange, late = in_mode(first, mode, 2), in_mode(new, mode, 2)
    arrays = exchange.start(MODEL, update(mode), VALUES)
    in_mode(old, mode, 2).start(MODEL, update(mode), VALUES)
    exchange.step(gradient((3, [1, 4])), samples=1)
    for shard in old._shards:
        shard.line.client.close()
    while pservers.call(lambda: any(hub.shard.roster.trainers[1].session for hub in pservers.hubs)):
        pass
    theirs = late.start(MODEL, update(mode), VALUES)
    late.fetch()
    exchange.fetch()
    close(theirs, arrays)
    late.step(gradient((2, [0])), samples=1)
    exchange.fetch()
    late.fetch()
    close(theirs, arrays)
    late.close()
    exchange.close()
