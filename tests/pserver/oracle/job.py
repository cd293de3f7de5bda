"""What a course trains: a model with everything in it, and batches for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, UpdateSpec
from paddle._engine.row_initial import row_key
from paddle._engine.rows import SparseRows

from .keeper import Keeper, Rows, Setting
from .table import AVERAGE, DENSE, OPENED, PACKED, PENALTIES, ROWS, RULES, SCHEDULES, Cell

KEYS = np.arange(-3, 4) << 40
"""Ids of rows of open tables."""


def samples(place: int) -> int:
    """Of the batch with this number."""
    return 1 + place % 4


class Job:
    """``turn``: whose schedule and penalties it has. What is averaged has no open tables."""

    def __init__(
        self, cell: Cell, mode: ModeSpec, how: Setting, trainers: int, turn: int, *, is_averaged: bool
    ) -> None:
        self.trainers, self.how, self.penalties = trainers, how, PENALTIES[turn % 3]
        schedule, self.rate = SCHEDULES[turn // 3 % 3]
        tables = () if cell.is_dense else PACKED if is_averaged else (*PACKED, *OPENED)
        self.model = (*DENSE, *tables)
        random = np.random.default_rng(7)
        self.values = {
            p.name: random.standard_normal(p.shape).astype(np.float32) for p in self.model if not p.is_open
        }
        self.memory = {p.name: np.empty(p.shape, np.float32) for p in DENSE}
        clip = self.penalties.clip
        self.update = UpdateSpec(
            rule=RuleSpec(name=how.name, options=how.told),
            schedule=schedule,
            l1_rate=self.penalties.l1,
            l2_rate=self.penalties.l2,
            gradient_clipping_threshold=clip if np.isfinite(clip) else 0.0,
            reduce=cell.reduce,
            mode=mode,
            average=AVERAGE if is_averaged else None,
        )

    def batch(self, place: int) -> dict[str, np.ndarray | SparseRows]:
        """The gradients of the batch with this number; ids repeat. Those that are dense lie where those of
        the last one did, as an executor's do."""
        random, found = np.random.default_rng(place), dict[str, np.ndarray | SparseRows]()
        for p in self.model:
            if p.sparse:
                ids = random.choice(KEYS, 3) if p.is_open else random.integers(0, p.shape[0], 3)
                values = random.normal(0, 0.5, (3, p.shape[1])).astype(np.float32)
                found[p.name] = SparseRows(ids, values, p.shape[0])
            else:
                self.memory[p.name][...] = random.normal(0, 0.5, p.shape)
                found[p.name] = self.memory[p.name]
        return found

    def rows(self, place: int) -> dict[str, np.ndarray]:
        """Those of tables that a batch looks at, each once: more than its gradient is of."""
        random, batch = np.random.default_rng(place + 50), self.batch(place)
        found = {}
        for p in self.model:
            if isinstance(gradient := batch[p.name], SparseRows):
                more = random.choice(KEYS, 1) if p.is_open else random.integers(0, p.shape[0], 1)
                found[p.name] = np.unique(np.concatenate([gradient.ids, more]))
        return found

    # For references.

    def gradients(self, place: int) -> dict[str, Rows]:
        """Those of the batch, as rows by key."""
        found: dict[str, Rows] = {}
        for name, given in self.batch(place).items():
            found[name] = rows = {}
            if isinstance(given, SparseRows):
                for key, row in zip(given.ids.tolist(), given.values.astype(np.float64), strict=True):
                    rows[key] = rows.get(key, 0) + row
            else:
                rows[0] = given.astype(np.float64)
        return found

    def first(self, name: str, ids: Sequence[int]) -> Rows:
        """The values of rows of an open table when they are made."""
        (width,) = (p.shape[1] for p in OPENED if p.name == name)
        values = np.empty((len(ids), width), np.float32)
        ROWS.initial.fill(row_key(ROWS.seed, name), np.array(ids, np.int64), values)
        return dict(zip(ids, values, strict=True))

    def server(self) -> Keeper:
        """What servers have before the first step; where trainers apply the rule they only add to it."""
        if not self.update.mode.is_local:
            return self.keeper(is_averaged=self.update.average is not None)
        plain = [ParameterSpec(name=p.name, shape=p.shape, sparse=p.sparse, rows=p.rows) for p in self.model]
        return Keeper(plain, RULES["sgd"], lambda *_: 1.0, self._rows(), average=self.update.average)

    def keeper(self, values: Mapping[str, Rows] | None = None, *, is_averaged: bool = False) -> Keeper:
        """What the rule moves."""
        average = self.update.average if is_averaged else None
        return Keeper(self.model, self.how, self.rate, values or self._rows(), self.penalties, average)

    def _rows(self) -> dict[str, Rows]:
        tables = {p.name for p in self.model if p.sparse}
        return {
            name: dict(enumerate(value)) if name in tables else {0: value}
            for name, value in self.values.items()
        }
