"""What is trained in one cell of the table: a model with everything in it, and batches for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._engine.exchange import AverageSpec, ParameterSpec, RuleSpec, UpdateSpec
from paddle._engine.row_initial import row_key
from paddle._engine.rows import SparseRows

from .keeper import Keeper, Rows, Setting
from .references import Alone, Served
from .table import AVERAGE, DENSE, OPENED, PACKED, PENALTIES, ROWS, RULES, SCHEDULES, Cell

TRAINERS = 2
Event = tuple[int, str]
"""A trainer, and whether it takes a step or fetches all there is."""


def samples(place: int) -> int:
    """Of the batch with this number."""
    return 1 + place % 4


def first(name: str, ids: Sequence[int]) -> Rows:
    (width,) = (p.shape[1] for p in OPENED if p.name == name)
    values = np.empty((len(ids), width), np.float32)
    ROWS.initial.fill(row_key(ROWS.seed, name), np.array(ids, np.int64), values)
    return dict(zip(ids, values, strict=True))


class Job:
    """``turn``: whose schedule and penalties it has. What is averaged has no open tables."""

    def __init__(self, cell: Cell, how: Setting, turn: int, *, is_averaged: bool) -> None:
        self.cell, self.how, self.penalties = cell, how, PENALTIES[turn % 3]
        schedule, self.rate = SCHEDULES[turn // 3 % 3]
        tables = () if cell.is_dense else PACKED if is_averaged else (*PACKED, *OPENED)
        self.model, self.average = (*DENSE, *tables), AVERAGE if is_averaged else None
        random = np.random.default_rng(7)
        self.values = {
            p.name: random.standard_normal(p.shape).astype(np.float32) for p in self.model if not p.is_open
        }
        clip = self.penalties.clip
        self.update = UpdateSpec(
            rule=RuleSpec(name=how.name, options=how.told),
            schedule=schedule,
            l1_rate=self.penalties.l1,
            l2_rate=self.penalties.l2,
            gradient_clipping_threshold=clip if np.isfinite(clip) else 0.0,
            reduce=cell.reduce,
            mode=cell.mode,
            average=self.average,
        )

    def batch(self, place: int) -> dict[str, np.ndarray | SparseRows]:
        """The gradients of the batch with this number; ids repeat."""
        random, found = np.random.default_rng(place), dict[str, np.ndarray | SparseRows]()
        for p in self.model:
            if p.sparse:
                ids = random.integers(-3, 4, 3) << 40 if p.is_open else random.integers(0, p.shape[0], 3)
                values = random.normal(0, 0.5, (3, p.shape[1])).astype(np.float32)
                found[p.name] = SparseRows(ids, values, p.shape[0])
            else:
                found[p.name] = random.normal(0, 0.5, p.shape).astype(np.float32)
        return found

    def rows(self, place: int) -> dict[str, np.ndarray]:
        """Those of tables that a batch looks at, each once: more than its gradient is of."""
        random, batch = np.random.default_rng(place + 50), self.batch(place)
        found = {}
        for p in self.model:
            if isinstance(gradient := batch[p.name], SparseRows):
                more = random.integers(-3, 4, 1) << 40 if p.is_open else random.integers(0, p.shape[0], 1)
                found[p.name] = np.unique(np.concatenate([gradient.ids, more]))
        return found

    def reference(self) -> Served | Alone:
        """Before the first step."""
        values: dict[str, Rows] = {
            p.name: dict(enumerate(self.values[p.name])) if p.sparse else {0: self.values[p.name]}
            for p in self.model
            if not p.is_open
        }

        def keeper(average: AverageSpec | None = None) -> Keeper:
            return Keeper(self.model, self.how, self.rate, values, self.penalties, average)

        mode, made = self.cell.mode, self.cell.reference
        if issubclass(made, Served):
            return made(keeper(self.average), mode, TRAINERS, first, is_mean=self.cell.reduce == "mean")
        plain = [ParameterSpec(name=p.name, shape=p.shape, sparse=p.sparse, rows=p.rows) for p in self.model]
        center = Keeper(plain, RULES["sgd"], lambda *_: 1.0, values, average=self.average)
        return made(center, [keeper() for _ in range(TRAINERS)], mode, first)
