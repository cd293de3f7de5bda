"""The table of this project, through the methods that a shard calls."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np

from benchmarks.tables.data import LEARNING_RATE, WIDTH, all_ids, by_id, gradient, work
from benchmarks.worker import Work
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import OPEN
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.hash_table import HashTable
from paddle._pserver.tables.table_room import TableRoom

_ROWS_AT_ONCE = 1 << 16


def prepare(settings: Mapping[str, Any]) -> Work:
    """A table that has made all its rows, batch by batch."""
    spec = ParameterSpec(name="table", shape=(OPEN, WIDTH), sparse=True, rows=RowsSpec())
    update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec())
    table, pushed, step = HashTable(RowRange(spec, 0, 1, 0), update, TableRoom(1 << 62)), gradient(), count(1)
    ids = all_ids(settings["rows"])
    for begin in range(0, len(ids), _ROWS_AT_ONCE):
        table.gather(ids[begin : begin + _ROWS_AT_ONCE])

    def pull(ids: np.ndarray) -> np.ndarray:
        table.check(ids)
        return table.gather(ids)

    def push(ids: np.ndarray) -> None:
        table.check(ids)
        table.apply([Rows(ids, pushed)], None, LEARNING_RATE, next(step))

    return work(settings, by_id(settings), pull, push)
