"""SparseRows: the gradient of a table of which a batch touched only some rows, or some rows of a table.

Guarantee: a SparseRows never stands for more than its listed rows; a row that is not listed has gradient
zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from paddle._engine.errors import ShapeError

OPEN = -1
"""The height of a table that has none: every int64 is an id of a row."""
COUNTS = 2
"""Columns of a counted row before its numbers: how often it was shown and clicked (rules/counted.py)."""


def each_once(ids: np.ndarray) -> np.ndarray:
    """Ids, int64 of any shape, each once, ascending."""
    if not ids.size:
        return np.empty(0, np.int64)
    from paddle._engine.kernels import ordering  # numba is loaded only where rows are met

    found: np.ndarray = ordering.each_once(np.array(ids, np.int64).reshape(-1))
    return found


def ascends(ids: np.ndarray) -> bool:
    """Whether ids, int64 (n,), are each there once, and in order."""
    if len(ids) < 2:
        return True
    from paddle._engine.kernels import ordering  # numba is loaded only where rows are met

    return bool(ordering.ascends(ids))


def put(table: np.ndarray, ids: np.ndarray, values: np.ndarray) -> None:
    """Rows ``ids``, each once and each one of the float32 ``table``, become ``values``."""
    from paddle._engine.kernels.rows import put_rows

    put_rows(table, ids, values)


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Rows ``ids[i]`` of a ``(height, width)`` table, with values ``values[i]``.

    ``ids``: int64, shape ``(n,)``, may repeat (repeated rows add up). ``values``: float32, shape
    ``(n, width)``. The field's other name for it is SelectedRows.
    """

    ids: np.ndarray
    values: np.ndarray
    height: int

    def __post_init__(self) -> None:
        if self.ids.ndim != 1 or self.values.ndim != 2 or len(self.ids) != len(self.values):
            raise ShapeError(
                "SparseRows needs ids (n,) and values (n, width), "
                f"got {self.ids.shape} and {self.values.shape}"
            )

    @property
    def width(self) -> int:
        """Number of columns of the table."""
        return int(self.values.shape[1])

    def merged(self) -> SparseRows:
        """The same gradient with each id once, ascending; repeats are added in order of occurrence."""
        from paddle._engine.kernels.rows import merge_rows  # numba is loaded only where rows are met

        ids, values = merge_rows(self.ids, self.values)
        return SparseRows(ids, values, self.height)

    def to_dense(self) -> np.ndarray:
        """The full ``(height, width)`` float32 array, for tests and small tables."""
        if self.height == OPEN:
            raise ShapeError("rows of a table without a height are not an array: there is no last one")
        dense = np.zeros((self.height, self.width), self.values.dtype)
        np.add.at(dense, self.ids, self.values)
        return dense

    @staticmethod
    def concatenate(parts: list[SparseRows]) -> SparseRows:
        """The sum of gradients of one table: their rows one after another."""
        first = parts[0]
        return SparseRows(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.values for part in parts]),
            first.height,
        )


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table, each once, with what their rule remembers: ``ids`` int64 (n,), ``values`` and each of
    ``slots``, by its name, float32 (n, width)."""

    ids: np.ndarray
    values: np.ndarray
    slots: Mapping[str, np.ndarray] = field(default_factory=dict)

    def sorted(self) -> SparseRows:
        """The rows alone, by ascending id."""
        order = np.argsort(self.ids)
        return SparseRows(self.ids[order], self.values[order], OPEN)

    @staticmethod
    def none(width: int) -> TableRows:
        """No rows at all."""
        return TableRows(np.empty(0, np.int64), np.empty((0, width), np.float32))

    @staticmethod
    def concatenate(parts: list[TableRows]) -> TableRows:
        """Rows one after another; a slot that some have not is zero in theirs, as it is at the start."""
        names = dict.fromkeys(name for part in parts for name in part.slots)
        return TableRows(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.values for part in parts]),
            {n: np.concatenate([p.slots.get(n, np.zeros_like(p.values)) for p in parts]) for n in names},
        )
