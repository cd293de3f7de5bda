"""Every rule on a table whose rows are made when asked for, against a dict of rows, each updated by itself:
entering, decay of idle rows, days that end and starts from a snapshot included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from paddle._engine.entry import Entry
from paddle._engine.exchange import UpdateSpec
from paddle._engine.penalties import penalties
from paddle._engine.rates import Rates
from paddle._engine.rules import rule as rule_of
from paddle._pserver.tables.gradient import Rows

from ..hashed import IDS, RATE, WIDTH, as_saved, first, int64, normal, spec, state_of, table
from ..test_equality import RULE_SPECS, update


class Row:
    """One id's: a table of one row."""

    def __init__(self, id: int, slots: int, step: int) -> None:
        self.values = first([id])
        self.slots = [np.zeros_like(self.values) for _ in range(slots)]
        self.last_step = int64([-step])


class Machine(RuleBasedStateMachine):
    """``how``: the rule and its rates; ``needed``: sightings until an id has a row."""

    def __init__(self, how: UpdateSpec, needed: int) -> None:
        super().__init__()
        self.how, self.needed = how, needed
        self.entry = Entry() if needed == 1 else Entry("count", needed)
        self.table = table(self.entry, how=how)
        self.rule, self.penalties = rule_of(how.rule, None), penalties(spec(), how)
        self.rates, self.step = Rates(), 0
        self.rows: dict[int, Row] = {}
        self.seen: dict[int, list[int]] = {}  # id -> the days
        self.hidden: set[int] = set()
        self.ends: list[int] = []

    @property
    def counts_steps(self) -> bool:
        """Whether somebody asks for the steps of rows."""
        return bool(self.needed > 1 or self.ends or self.rule.changes_idle_rows(self.penalties))

    def told_step(self, row: Row) -> int:
        """The step that is told to have touched a row last."""
        step = int(row.last_step[0])
        return step if self.counts_steps or step == -self.step else self.step

    def caught_up(self, id: int) -> Row:
        row = self.rows[id]
        self.rule.catch_up(row.values, None, row.slots, row.last_step, self.rates, self.penalties, self.step)
        return row

    def make(self, id: int) -> None:
        if id not in self.rows:
            self.rows[id] = Row(id, len(self.rule.slots), self.step)

    @rule(ids=IDS)
    def gather(self, ids: list[int]) -> None:
        for id in ids:
            if id not in self.rows:
                self.seen.setdefault(id, []).append(len(self.ends))
                if len(self.seen[id]) >= self.needed:
                    del self.seen[id]
                    self.make(id)
                    self.hidden |= {id} if self.needed > 1 else set()
        shown = {id for id in self.rows if id not in self.hidden}
        expected = [self.caught_up(id).values[0] if id in shown else np.zeros(WIDTH) for id in ids]
        assert np.array_equal(self.table.gather(int64(ids)), np.reshape(expected, (-1, WIDTH)))

    @rule(batches=st.lists(IDS, min_size=1, max_size=3), seed=st.integers(0, 99))
    def push(self, batches: list[list[int]], seed: int) -> None:
        parts = [Rows(int64(ids), normal(seed + i, len(ids))) for i, ids in enumerate(batches)]
        self.table.apply(parts, np.float32(0.5), RATE / (1 + self.step), self.step + 1)
        total: dict[int, np.ndarray] = {}
        for part in parts:
            for id, gradient in zip(part.ids.tolist(), part.values, strict=True):
                total[id] = total[id] + gradient if id in total else gradient
        for id, gradient in total.items():
            if self.needed == 1:
                self.make(id)
            if id in self.rows:
                row = self.caught_up(id)
                how = RATE / (1 + self.step), self.penalties, self.step + 1
                whole = (gradient * np.float32(0.5)).reshape(1, -1)
                self.rule.rows(row.values, int64([0]), whole, row.slots, row.last_step, *how)
        self.rates.add(RATE / (1 + self.step))
        self.step += 1
        self.hidden.clear()

    @rule(threshold=st.integers(1, 3))
    def shrink(self, threshold: int) -> None:
        if not self.counts_steps:
            for row in self.rows.values():
                row.last_step[0] = self.told_step(row)
        self.ends.append(self.step)
        self.table.shrink(threshold)
        if (last := len(self.ends) - threshold) >= 0:
            steps = {id: int(row.last_step[0]) for id, row in self.rows.items()}
            kept = {id for id, step in steps.items() if (step if step > 0 else 1 - step) > self.ends[last]}
            self.rows = {id: row for id, row in self.rows.items() if id in kept}
            self.seen = {id: days for id, days in self.seen.items() if days[-1] > last}

    @rule()
    def restart(self) -> None:
        state = self.table.state()
        self.table = table(self.entry, how=self.how)
        self.table.restore(as_saved(state), self.step)

    @invariant()
    def it_has_what_it_should(self) -> None:
        state, ids = state_of(self.table), sorted(self.rows)
        assert state["ids"].tolist() == ids
        for kind, read in {
            "values": lambda row: row.values[0],
            "last_step": self.told_step,
            **{f"slot {name}": lambda row, i=i: row.slots[i][0] for i, name in enumerate(self.rule.slots)},
        }.items():
            expected = np.array([read(self.rows[id]) for id in ids]).reshape(state[kind].shape)
            assert np.array_equal(state[kind], expected), kind
        assert state["candidates"].tolist() == sorted(self.seen)


@pytest.mark.parametrize("rates", [{}, {"l2_rate": 0.1}], ids=["plain", "decay"])
@pytest.mark.parametrize("name", sorted(RULE_SPECS))
def test_a_table_is_its_rows(name: str, rates: dict[str, float]) -> None:
    how = update(name, gradient_clipping_threshold=1.5, **rates)
    run_state_machine_as_test(
        lambda: Machine(how, needed=2 if rates else 1),
        settings=settings(max_examples=12, stateful_step_count=12, deadline=None),
    )
