"""A job's state that is cut for another number of shards goes on to the bits of one that was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.exchange import AverageSpec, ModeSpec, ParameterSpec, RowsSpec, RuleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.errors import CannotReshard
from paddle._pserver.options import Role, ShardOptions
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.shard.model import Model
from paddle._pserver.shard.state import Facts, TrainerState
from paddle._pserver.snapshots.gathering import Gathered
from paddle._pserver.snapshots.resharding import Resharding
from paddle._pserver.snapshots.snapshot_file import Opened, encoded, opened
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.tables.streamed import Array

from ..conftest import values_of
from ..test_equality import MODEL, RULE_SPECS, gradients_of, update


class Cluster:
    """The tables of all shards of a job, which train the same steps."""

    def __init__(self, model: Sequence[ParameterSpec], spec: UpdateSpec, dense: int, sparse: int) -> None:
        self.parameters, self.spec = model, spec
        self.places: list[tuple[Role, int, int]] = [("dense", i, dense) for i in range(dense)]
        self.places += [("sparse", i, sparse) for i in range(sparse)]
        self.models = [
            Model(Declare(tuple(model), spec, shard, shards), ShardOptions(roles=frozenset({role})))
            for role, shard, shards in self.places
        ]
        self.steps = 0

    def seed(self, values: Mapping[str, np.ndarray]) -> None:
        for model in self.models:
            for segment, part in zip(model.tables.layout.segments, self._dense(model, values), strict=True):
                model.tables.values[segment.span] = part
            for name, table in model.tables.rows.items():
                if not table.held.parameter.is_open:
                    table.values[...] = values[name][table.held.rows]

    def _dense(self, model: Model, values: Mapping[str, Any]) -> list[np.ndarray]:
        slices = model.tables.layout.slices
        return [
            np.concatenate([values[s.name].reshape(-1)[s.start : s.stop] for s in slices if s.name == name])
            for name in dict.fromkeys(s.name for s in slices)
        ]

    def train(self, steps: int) -> None:
        """Each step touches some rows; some rows are read by the way, and from time to time all."""
        for _ in range(steps):
            self.steps += 1
            gradients = gradients_of(self.parameters, self.steps)
            random = np.random.default_rng([self.steps, 1])
            for model in self.models:
                rows = [self._rows(table, gradients[name]) for name, table in model.tables.rows.items()]
                given = Gradient(self._dense(model, gradients), rows)
                model.tables.apply([given], samples=8 * self.steps, passes=0, step=self.steps)
            for parameter in self.parameters:
                if parameter.sparse:
                    read = random.permutation(parameter.shape[0])[: parameter.shape[0] // 3]
                    self._read(parameter.name, np.sort(read), whole=self.steps % 5 == 0)

    def _rows(self, table: Any, gradient: Any) -> Rows:
        assert isinstance(gradient, SparseRows)
        merged = gradient.merged()
        some = table.held.pick(merged.ids) & (merged.ids % 3 != self.steps % 3)
        return Rows(merged.ids[some], merged.values[some])

    def _read(self, name: str, ids: np.ndarray, *, whole: bool) -> None:
        for model in self.models:
            for table in [model.tables.rows[name]] if name in model.tables.rows else []:
                table.refresh(None if whole else ids[table.held.pick(ids)])

    def state(self) -> dict[str, np.ndarray]:
        """All arrays, put together; of what all shards have alike that of each."""
        found: dict[str, np.ndarray] = {}
        for index, model in enumerate(self.models):
            for key, array in model.tables.state().items():
                self._put(found, key, array, index)
        return found

    def _put(self, found: dict[str, np.ndarray], key: str, array: np.ndarray, index: int) -> None:
        role, _, shards = self.places[index]
        kind, name = key.split("/", 1)
        tables = self.models[index].tables
        parameter = next(p for p in self.parameters if p.name == name)
        if kind in ("rates", "average counts") or not array.size:
            found[f"{key} of {role} {index}" if shards > 1 else key] = array
        elif role == "dense":
            whole = found.setdefault(key, np.full((*array.shape[:-1], parameter.size), np.nan, array.dtype))
            at = 0
            for part in [s for s in tables.layout.slices if s.name == name]:
                whole[..., part.start : part.stop] = array[..., at : at + part.stop - part.start]
                at += part.stop - part.start
        else:
            axis = max(array.ndim - 2, 0)
            shape = [*array.shape[:axis], parameter.shape[0], *array.shape[axis + 1 :]]
            whole = found.setdefault(key, np.zeros(shape, array.dtype))
            whole[(slice(None),) * axis + (tables.rows[name].held.rows,)] = array

    def gathered(self, version: int | None = None) -> Gathered:
        states: dict[Role, list[Opened]] = {"dense": [], "sparse": []}
        for (role, shard, shards), model in zip(self.places, self.models, strict=True):
            declare = Declare(tuple(self.parameters), self.spec, shard, shards)
            facts = Facts(
                declare, self.steps, 8 * self.steps, (TrainerState("new", ("old",), 4), TrainerState())
            )
            states[role].append(written(facts, model.tables.state()))
        return Gathered(tuple(states["dense"]), tuple(states["sparse"]))


def written(facts: Facts, arrays: Mapping[str, Array]) -> Opened:
    """As it is read from a file."""
    return opened(memoryview(b"".join(encoded(facts, arrays))))


def resharded(old: Cluster, dense: int, sparse: int) -> Cluster:
    new = Cluster(old.parameters, old.spec, dense, sparse)
    resharding = Resharding(old.gathered())
    for (role, shard, shards), model in zip(new.places, new.models, strict=True):
        facts = resharding.facts(shard, shards)
        state = written(facts, resharding.arrays(role, shard, shards))
        assert state.facts.declaration == model.declaration
        model.restore(state.arrays, facts.version, "a folder")
    new.steps = old.steps
    return new


def cluster(model: Sequence[ParameterSpec], spec: UpdateSpec, dense: int, sparse: int) -> Cluster:
    made = Cluster(model, spec, dense, sparse)
    made.seed(values_of([parameter for parameter in model if not parameter.is_open], 7))
    return made


def assert_equal(one: Cluster, other: Cluster) -> None:
    mine, its = one.state(), other.state()
    common = {key: array for key, array in mine.items() if " of " not in key}
    for key, array in common.items():
        assert key in its or not array.size or key.startswith(("rates", "average counts")), key
        if key in its:
            assert array.tobytes() == its[key].tobytes(), key
    for key in ("rates", "average counts"):  # the same on all shards
        for name in {k.split(" of ")[0] for k in (*mine, *its) if k.startswith(key)}:
            kinds = [
                a.tobytes() for state in (mine, its) for k, a in state.items() if k.split(" of ")[0] == name
            ]
            assert len(set(kinds)) == 1, name


parameters = st.builds(
    lambda number, shape, sparse, l1, l2: ParameterSpec(
        name=f"p{number}/{'rows' if sparse else 'dense'}",
        shape=shape if sparse else (shape[0] * 150, shape[1]),
        sparse=sparse,
        l1_rate=l1,
        l2_rate=l2,
    ),
    st.integers(0, 10**6),
    st.tuples(st.integers(1, 30), st.integers(1, 3)),
    st.booleans(),
    st.sampled_from([0.0, 0.003]),
    st.sampled_from([0.0, 0.02]),
)
shards = st.integers(1, 5)


@settings(max_examples=60, deadline=None)
@given(
    model=st.lists(parameters, min_size=1, max_size=4, unique_by=lambda p: p.name),
    rule=st.sampled_from(sorted(RULE_SPECS)),
    before=st.tuples(shards, shards),
    after=st.tuples(shards, shards),
    steps=st.tuples(st.integers(0, 7), st.integers(1, 5)),
    is_averaged=st.booleans(),
)
def test_training_goes_on_to_the_bits_of_a_job_that_was_not_resharded(
    model: list[ParameterSpec],
    rule: str,
    before: tuple[int, int],
    after: tuple[int, int],
    steps: tuple[int, int],
    is_averaged: bool,
) -> None:
    average = AverageSpec(window=0.5, min_window=2, max_window=4) if is_averaged else None
    spec = update(rule, average=average)
    unbroken, old = cluster(model, spec, *before), cluster(model, spec, *before)
    for each in (unbroken, old):
        each.train(steps[0])
    new = resharded(old, *after)
    assert_equal(unbroken, new)
    for each in (unbroken, new):
        each.train(steps[1])
    assert_equal(unbroken, new)


@pytest.mark.parametrize("rule", sorted(RULE_SPECS))
def test_every_rule_goes_on_from_four_shards_on_one_and_back(rule: str) -> None:
    spec = update(rule, l1_rate=0.001)
    unbroken, some = cluster(MODEL, spec, 1, 1), cluster(MODEL, spec, 4, 3)
    unbroken.train(4)
    some.train(4)
    one = resharded(some, 1, 1)
    one.train(3)
    many = resharded(one, 2, 5)
    many.train(3)
    unbroken.train(6)
    assert_equal(unbroken, many)


def test_a_row_that_steps_passed_by_is_made_up_for_though_another_shard_has_forgotten_these_steps() -> None:
    """A shard of which all rows were read needs no learning rates of the past; the others do."""
    table = ParameterSpec(name="t", shape=(40, 2), sparse=True)
    spec = update("momentum", l2_rate=0.05)
    unbroken, old = cluster([table], spec, 1, 1), cluster([table], spec, 1, 2)
    for each in (unbroken, old):
        each.train(4)
    old.models[1].tables.rows["t"].refresh()  # of the first shard that has rows
    new = resharded(old, 1, 1)
    found, expected = (each.models[1].tables.rows["t"].refresh() for each in (new, unbroken))
    assert found.tobytes() == expected.tobytes()


def test_a_new_job_goes_on_from_it_and_the_old_ones_trainers_are_stale() -> None:
    old = cluster(MODEL, update("sgd"), 2, 1)
    facts = Resharding(old.gathered()).facts(0, 3)
    assert (facts.declaration.shard, facts.declaration.shards) == (0, 3)
    gone = {"is_present": False, "is_gone": True}
    assert facts.trainers == (TrainerState(past=("old", "new"), **gone), TrainerState(**gone))


# Rows with ids, as of tables without a declared height.


def keyed(ids: Sequence[int], candidates: Sequence[int], width: int = 2) -> dict[str, np.ndarray]:
    """What a shard has of a table: numbers that follow from the ids."""
    some, waiting = np.array(ids, np.int64), np.array(candidates, np.int64)
    rows = some[:, None] + np.arange(width) / 10
    return {
        "ids/t": some,
        "values/t": rows.astype(np.float32),
        "slot first/t": -rows.astype(np.float32),
        "last_step/t": some % 5 - 2,
        "candidates/t": waiting,
        "seen/t": waiting % 7,
        "seen_on/t": waiting % 3,
        "entered/t": some[::4],
        "rates/t": np.array([3.0, 0.1, 0.2, 2.0, 3.0, 0.1]),
        "days/t": np.array([1, 2], np.int64),
    }


@settings(max_examples=60, deadline=None)
@given(
    ids=st.lists(st.integers(-(2**62), 2**62), unique=True, max_size=40),
    candidates=st.lists(st.integers(-(2**62), 2**62), unique=True, max_size=20),
    before=shards,
    after=shards,
)
def test_rows_with_ids_go_where_their_ids_belong_with_all_that_is_kept_of_them(
    ids: list[int], candidates: list[int], before: int, after: int
) -> None:
    table = ParameterSpec(name="t", shape=(1, 2), sparse=True)
    old = cluster([table], update("momentum"), 1, before)
    states = []
    for shard, model in enumerate(old.models[1:]):
        held = model.tables.rows["t"].held
        mine = [[id for id in some if held.pick(np.array([id]))[0]] for some in (ids, candidates)]
        declare = Declare((table,), old.spec, shard, before)
        states.append(written(Facts(declare, 3, 3, ()), keyed(*mine)))
    resharding = Resharding(Gathered(old.gathered().dense, tuple(states)))
    found: list[list[int]] = [[], []]
    for shard, model in enumerate(cluster([table], old.spec, 1, after).models[1:]):
        state = written(resharding.facts(shard, after), resharding.arrays("sparse", shard, after)).arrays
        held = model.tables.rows["t"].held
        mine = [state["ids/t"].tolist(), state["candidates/t"].tolist()]
        expected = keyed(*mine) | {"entered/t": state["entered/t"]}
        for key, array in expected.items():
            np.testing.assert_array_equal(state[key], array, err_msg=key)
        for some in (*mine, state["entered/t"].tolist()):
            assert held.pick(np.array(some, np.int64)).all()
        found = [[*all, *some] for all, some in zip(found, mine, strict=True)]
    assert [sorted(some) for some in found] == [sorted(ids), sorted(candidates)]


OPEN_TABLE = ParameterSpec(
    name="t",
    shape=(OPEN, 3),
    sparse=True,
    l2_rate=0.02,
    rows=RowsSpec(initial=RowInitial("uniform", -1, 1), entry=Entry("count", 2)),
)


def train_open(trained: Cluster, steps: range) -> None:
    """Each step looks some rows up, and pushes to some of them; from time to time a day ends."""
    tables = [model.tables.open["t"] for model in trained.models[1:]]
    for step in steps:
        random = np.random.default_rng(step)
        ids = np.unique(random.integers(-20, 20, 25)) * (2**58 + 1)
        gradient = random.standard_normal((len(ids), tables[0].held.width)).astype(np.float32)
        for table in tables:
            mine = table.held.pick(ids)
            table.gather(ids[mine])
            pushed = mine & (ids % 2 == 0)
            table.apply([Rows(ids[pushed], gradient[pushed])], None, 0.1 / step, step)
            if step % 4 == 0:
                table.shrink(2)
    trained.steps = steps.stop - 1


def by_id(trained: Cluster, key: str, *kinds: str) -> dict[int, list[Any]]:
    states = [model.tables.open["t"].state() for model in trained.models[1:]]
    return {
        id: [state[kind][place].tolist() for kind in kinds]
        for state in states
        for place, id in enumerate(state[key].tolist())
    }


def test_open_tables_go_on_with_all_their_rows_candidates_and_days() -> None:
    spec = update("momentum")
    for stop in (1, 4, 9):
        unbroken, old = cluster([OPEN_TABLE], spec, 1, 3), cluster([OPEN_TABLE], spec, 1, 3)
        for each in (unbroken, old):
            train_open(each, range(1, stop + 1))
        new = resharded(old, 1, 4)
        for each in (unbroken, new):
            train_open(each, range(stop + 1, 14))
        for kinds in (("ids", "values", "slot velocity", "last_step"), ("candidates", "seen", "seen_on")):
            assert by_id(unbroken, *kinds) == by_id(new, *kinds) != {}
        assert {tuple(model.tables.open["t"]._days) for model in new.models[1:]} == {(4, 8, 12)}


def test_counted_rows_go_on_with_their_counts_and_scores() -> None:
    told = {"kind": 3.0, "x_kind": 2.0, "threshold": 0.3, "keep": 0.8, "least_score": 0.1, "days": 1.0}
    rows = RowsSpec(initial=RowInitial("uniform", -1, 1), rule=RuleSpec(name="counted", options=told))
    table, spec = replace(OPEN_TABLE, shape=(OPEN, 5), l2_rate=0.0, rows=rows), update("sgd")
    unbroken, old = cluster([table], spec, 1, 3), cluster([table], spec, 1, 3)
    for each in (unbroken, old):
        train_open(each, range(1, 7))
    new = resharded(old, 1, 2)
    for each in (unbroken, new):
        train_open(each, range(7, 16))
    found = by_id(new, "ids", "values", "slot memory", "slot other")
    assert by_id(unbroken, "ids", "values", "slot memory", "slot other") == found
    assert {memory[0] for _, memory, _ in found.values()} == {0.0, 1.0}  # some have all of their numbers


# Asynchronous jobs, whose shards have counted different steps.


def test_shards_that_differ_in_steps_go_by_the_one_that_has_most() -> None:
    spec = update("sgd", l2_rate=0.05, mode=ModeSpec(name="async"))
    ahead, behind = cluster(MODEL, spec, 1, 2), cluster(MODEL, spec, 1, 2)
    ahead.train(7)
    behind.train(4)
    states = (ahead.gathered().sparse[0], behind.gathered().sparse[1])
    resharding = Resharding(Gathered(ahead.gathered().dense, states))
    facts = resharding.facts(0, 1)
    assert (facts.version, facts.samples) == (7, 56)
    state = written(facts, resharding.arrays("sparse", 0, 1)).arrays
    one = cluster(MODEL, spec, 1, 1)
    one.models[1].restore(state, 7, "a folder")
    for name, table in one.models[1].tables.rows.items():
        for shard, source in ((0, ahead), (1, behind)):
            old = source.models[1 + shard].tables.rows[name]
            rows = table.refresh()[old.held.rows]
            np.testing.assert_allclose(rows, old.refresh(), rtol=2e-3, err_msg=name)


def test_averages_over_different_steps_are_not_joined() -> None:
    average = AverageSpec(window=0.5, min_window=2, max_window=4)
    spec = update("sgd", mode=ModeSpec(name="async"), average=average)
    ahead, behind = cluster(MODEL, spec, 1, 2), cluster(MODEL, spec, 1, 2)
    ahead.train(7)
    behind.train(4)
    states = (ahead.gathered().sparse[0], behind.gathered().sparse[1])
    with pytest.raises(CannotReshard, match="averaged over different steps"):
        Resharding(Gathered(ahead.gathered().dense, states))
