"""Tables whose rows are made when asked for: against a dict of arrays, a packed table, and one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paddle._engine.entry import Entry
from paddle._engine.rules import RULES
from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.placement import row_ranges
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.packed_table import PackedTable
from paddle._pserver.tables.sparse_table import SparseTable

from ..hashed import (
    IDS,
    MOMENTUM,
    RATE,
    WIDTH,
    as_saved,
    assert_equal,
    first,
    int64,
    normal,
    spec,
    state_of,
    table,
    update,
)


class TableMachine(RuleBasedStateMachine):
    """Momentum on a dict of arrays, with an entry policy that wants ``NEEDED`` sightings."""

    NEEDED = 1

    def __init__(self) -> None:
        super().__init__()
        self.entry = Entry() if self.NEEDED == 1 else Entry("count", self.NEEDED)
        self.table, self.step = table(self.entry), 0
        self.hidden: set[int] = set()
        self.values: dict[int, np.ndarray] = {}
        self.velocity: dict[int, np.ndarray] = {}
        self.last_step: dict[int, int] = {}
        self.seen: dict[int, list[int]] = {}  # id -> the days
        self.ends: list[int] = []  # the last step of each day

    def told_step(self, id: int) -> int:
        """The step that is told to have touched a row last: its own where an entry policy or a day asks for
        it."""
        step = self.last_step[id]
        return step if self.NEEDED > 1 or self.ends or step == -self.step else self.step

    def make(self, id: int) -> None:
        if id not in self.values:
            self.values[id], self.velocity[id] = first([id])[0], np.zeros(WIDTH, np.float32)
            self.last_step[id] = -self.step

    @rule(ids=IDS)
    def gather(self, ids: list[int]) -> None:
        for id in ids:
            if id not in self.values:
                self.seen.setdefault(id, []).append(len(self.ends))
                if len(self.seen[id]) >= self.NEEDED:
                    del self.seen[id]
                    self.make(id)
                    self.hidden |= {id} if self.NEEDED > 1 else set()
        shown = {id: row for id, row in self.values.items() if id not in self.hidden}
        expected = [shown.get(id, np.zeros(WIDTH)) for id in ids]
        assert np.array_equal(self.table.gather(int64(ids)), np.reshape(expected, (-1, WIDTH)))

    @rule(ids=IDS)
    def peek(self, ids: list[int]) -> None:
        expected = [self.values.get(id, np.zeros(WIDTH)) for id in ids]
        assert np.array_equal(self.table.peek(int64(ids)), np.reshape(expected, (-1, WIDTH)))

    @rule(batches=st.lists(IDS, min_size=1, max_size=3), seed=st.integers(0, 99), mean=st.booleans())
    def apply(self, batches: list[list[int]], seed: int, mean: bool) -> None:
        scale = np.float32(1 / len(batches)) if mean else None
        parts = [Rows(int64(ids), normal(seed + i, len(ids))) for i, ids in enumerate(batches)]
        self.table.apply(parts, scale, RATE, self.step + 1)
        total: dict[int, np.ndarray] = {}
        for part in parts:
            for id, row in zip(part.ids.tolist(), part.values, strict=True):
                total[id] = total[id] + row if id in total else row
        for id in total:
            if self.NEEDED == 1:
                self.make(id)
        self.step += 1
        self.hidden.clear()
        for id, gradient in total.items():
            if id in self.values:
                gradient = gradient if scale is None else gradient * scale
                move = np.float32(MOMENTUM) * self.velocity[id] - np.float32(RATE) * gradient
                self.values[id], self.velocity[id] = self.values[id] + move, move
                self.last_step[id] = self.step

    @rule(threshold=st.integers(1, 3))
    def shrink(self, threshold: int) -> None:
        self.last_step = {id: self.told_step(id) for id in self.last_step}
        self.ends.append(self.step)
        if (last := len(self.ends) - threshold) >= 0:
            for id, step in list(self.last_step.items()):
                if (step if step > 0 else 1 - step) <= self.ends[last]:
                    del self.values[id], self.velocity[id], self.last_step[id]
            self.seen = {id: days for id, days in self.seen.items() if days[-1] > last}
        self.table.shrink(threshold)

    @rule(random=st.randoms(use_true_random=False))
    def restart(self, random: Any) -> None:
        """From its state, ids in any order, on any number of shards in between."""
        state = self.table.state()
        order, waiting = (np.arange(len(state[kind])) for kind in ("ids", "candidates"))
        random.shuffle(order), random.shuffle(waiting)
        for kind in state:
            if kind in ("candidates", "seen", "seen_on"):
                state[kind] = state[kind][waiting]
            elif kind not in ("rates", "days", "entered"):
                state[kind] = state[kind][order]
        self.table = table(self.entry)
        self.table.restore(as_saved(state), self.step)

    @invariant()
    def it_has_what_it_should(self) -> None:
        ids = sorted(self.values)
        state = state_of(self.table)
        assert state["ids"].tolist() == ids
        assert np.array_equal(state["values"], np.reshape([self.values[id] for id in ids], (-1, WIDTH)))
        velocity = np.reshape([self.velocity[id] for id in ids], (-1, WIDTH))
        assert np.array_equal(state["slot velocity"], velocity)
        assert state["last_step"].tolist() == [self.told_step(id) for id in ids]
        assert state["candidates"].tolist() == sorted(self.seen)
        assert state["seen"].tolist() == [len(self.seen[id]) for id in sorted(self.seen)]
        assert state["seen_on"].tolist() == [self.seen[id][-1] for id in sorted(self.seen)]
        assert state["days"].tolist() == self.ends
        assert (self.table.rows, self.table.candidates) == (len(self.values), len(self.seen))

    @invariant()
    def an_export_has_each_row_once(self) -> None:
        found: dict[int, np.ndarray] = {}
        after, ids = None, int64([])
        while after is None or len(ids):
            portion = self.table.listed(after, 3)
            ids, values = portion.ids, portion.values
            assert not found.keys() & set(ids.tolist())
            found |= dict(zip(ids.tolist(), values, strict=True))
            after = int(ids[-1]) if len(ids) else 0
        assert found.keys() == self.values.keys()
        assert all(np.array_equal(found[id], self.values[id]) for id in found)


class ChoosyMachine(TableMachine):
    NEEDED = 3


TestTable = TableMachine.TestCase
TestChoosyTable = ChoosyMachine.TestCase
TestTable.settings = TestChoosyTable.settings = settings(
    max_examples=40, stateful_step_count=15, deadline=None
)


def test_packed_and_hashed_tables_meet_the_same_contract():
    (held,) = row_ranges([spec(shape=(10, WIDTH), rows=None)], 0, 1)
    tables: list[SparseTable] = [PackedTable(held, update()), table()]
    for one in tables:
        before = one.gather(int64([2, 0, 1]))
        one.check(int64([1, 2]))
        one.apply([Rows(int64([2, 1, 2]), np.ones((3, WIDTH), np.float32))], None, RATE, 1)
        moved = np.array([[-0.5], [0], [-0.25]], np.float32)
        assert np.array_equal(one.gather(int64([2, 0, 1])), before + moved)
        assert np.array_equal(one.peek(int64([2, 0, 1])), before + moved)
        assert one.name == "t" and one.rows >= 3 and one.nbytes >= 3 * WIDTH * 4


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("rates", [{}, {"l2_rate": 0.1}, {"l1_rate": 0.01, "l2_rate": 0.1}])
@settings(max_examples=10, deadline=None)
@given(
    batches=st.lists(st.lists(st.integers(0, 29), max_size=60), min_size=1, max_size=6),
    width=st.sampled_from([1, 3, 1500]),
)
def test_it_equals_a_packed_table_with_the_same_first_values_bit_for_bit(name, rates, batches, width):
    how, own = update(name, gradient_clipping_threshold=2.0, **rates), {"learning_rate": 0.5}
    (held,) = row_ranges([spec(shape=(30, width), rows=None, **own)], 0, 1)
    packed, hashed = PackedTable(held, how), table(how=how, width=width, **own)
    everything = np.arange(30)
    packed.values[...] = first(everything, width)
    if rates or name == "adam":
        hashed.gather(everything)  # rows that idle steps change must be there from the beginning
    for step, ids in enumerate(batches, 1):
        for one in (packed, hashed):
            if step % 2:
                one.gather(int64(ids))
            halves = [Rows(int64(part), normal(step, len(part), width)) for part in (ids[::2], ids[1::2])]
            one.apply(halves, np.float32(0.5), RATE, step)
    assert np.array_equal(hashed.gather(everything), packed.gather(everything))


@pytest.mark.parametrize("entry", [Entry(), Entry("count", 2), Entry("probability", 0.4)])
@settings(max_examples=20, deadline=None)
@given(batches=st.lists(IDS, min_size=1, max_size=6), shards=st.integers(2, 5), data=st.data())
def test_any_number_of_shards_and_any_order_keep_the_same_rows(entry, batches, shards, data):
    whole = table(entry)
    spread = [table(entry, shard=shard, shards=shards) for shard in range(shards)]
    for step, ids in enumerate(batches, 1):
        gradient = normal(step, len(ids))
        whole.gather(int64(ids))
        whole.apply([Rows(int64(ids), gradient)], None, RATE, step)
        shuffled = int64(data.draw(st.permutations(ids)))
        for part in spread:
            part.gather(shuffled[part.held.pick(shuffled)])
            mine = part.held.pick(int64(ids))
            part.apply([Rows(int64(ids)[mine], gradient[mine])], None, RATE, step)
    assert_equal(state_of(*spread), state_of(whole))


def test_rows_are_shown_as_a_pull_would_bring_them_without_touching_the_table():
    decaying = table(how=update("sgd", l2_rate=0.5))
    for step, ids in enumerate([[1, 2], [2], [2]], 1):
        decaying.apply([Rows(int64(ids), normal(step, len(ids)))], None, RATE, step)
    as_it_is = state_of(decaying)
    assert as_it_is["last_step"].tolist() == [1, 3]
    peeked = decaying.peek(int64([1, 2, 3]))
    found = decaying.listed(None, 9)
    ids, values = found.ids, found.values
    assert_equal(state_of(decaying), as_it_is)
    assert np.array_equal(values, peeked[ids - 1]) and not peeked[2].any()
    assert not np.array_equal(peeked[0], as_it_is["values"][0])
    assert np.array_equal(peeked[:2], decaying.gather(int64([1, 2])))


def test_what_a_step_shows_of_an_id_that_enters_does_not_depend_on_who_came_first():
    choosy = table(Entry("count", 2))
    first_comer, second, third = (choosy.gather(int64([7])) for _ in range(3))
    assert not first_comer.any() and not second.any() and not third.any() and choosy.rows == 1
    choosy.apply([Rows(int64([7]), np.zeros((1, WIDTH), np.float32))], None, RATE, 1)
    assert np.array_equal(choosy.gather(int64([7])), first([7]))


def test_a_row_that_a_pull_names_twice_catches_up_once():
    ids = [*range(40), 0]  # more than one block, so that the repeat meets the row after it was written back
    once, twice = (table(how=update("sgd", l2_rate=0.5), width=1500) for _ in range(2))
    for one, named in ((once, ids[:40]), (twice, ids)):
        one.gather(int64(ids))
        for step in (1, 2):
            one.apply([Rows(int64([]), np.empty((0, 1500), np.float32))], None, RATE, step)
        one.gather(int64(named))
    assert np.array_equal(twice.peek(int64(ids)), once.peek(int64(ids)))
    assert not np.array_equal(once.peek(int64([0])), first([0], 1500))


def test_an_id_of_another_shard_is_refused_and_any_other_id_is_not():
    part = table(shard=1, shards=3)
    part.check(int64([1, 4, -2, 2**63 - 7, -(2**63) + 3]))
    with pytest.raises(BadMessage, match="'t' belongs to another shard"):
        part.check(int64([1, 2]))


def test_a_row_that_was_forgotten_begins_anew():
    kept = table()
    kept.apply([Rows(int64([1, 2, 3]), np.ones((3, WIDTH), np.float32))], None, RATE, 1)
    kept.shrink(2)
    assert kept.rows == 3
    kept.apply([Rows(int64([3]), np.ones((1, WIDTH), np.float32))], None, RATE, 2)
    kept.shrink(2)
    state = kept.state()
    assert state["ids"].tolist() == [3] and state["last_step"].tolist() == [2]
    assert np.array_equal(kept.gather(int64([1, 2])), first([1, 2]))
    assert not state_of(kept)["slot velocity"][:2].any()  # and without the velocity that was there


def test_steps_end_where_a_mark_does_and_not_where_none_is_kept():
    rows = [Rows(int64([1]), np.ones((1, WIDTH), np.float32))]
    with pytest.raises(BadMessage, match="counts steps"):
        table(Entry("count", 2)).apply(rows, None, RATE, 2**32)
    plain = table(how=update("sgd"))
    for step in range(2**32 - 2, 2**32 + 3):
        plain.apply(rows, None, RATE, step)
    assert np.array_equal(plain.gather(int64([1])), first([1]) - 5 * np.float32(RATE))
    assert plain.state()["last_step"].tolist() == [2**32 + 2]
    plain.shrink(2)  # from now on steps are counted
    assert plain.rows == 1
    with pytest.raises(BadMessage, match="counts steps"):
        plain.apply(rows, None, RATE, 2**32 + 3)
