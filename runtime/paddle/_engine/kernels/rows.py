"""Rows of tables: adding them in, and merging of repeated rows.

It must never know what a row means. Guarantee: repeated rows are summed in order of occurrence, so equal
inputs give equal bits.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.ordering import ascending
from paddle._engine.kernels.prefetch import AHEAD, LINE, prefetch


def merge_rows(ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, ascending, with the sum of its rows in order of occurrence.

    ``ids``: int64 (n,). ``values``: float32 (n, width). Returns new arrays (m,) and (m, width), m <= n.
    """
    merged_ids, merged = np.empty_like(ids), np.empty_like(values)
    count = _merge(ids, values, merged_ids, merged) if len(ids) else 0
    return merged_ids[:count], merged[:count]


@kernel
def add_rows(table: np.ndarray, index: np.ndarray, rows: np.ndarray) -> None:
    """``table[index[i]] += rows[i]`` in order; ids may repeat. The caller vouches for the index."""
    for i in range(index.shape[0]):
        row = table[index[i]]
        for j in range(row.shape[0]):
            row[j] += rows[i, j]


@kernel
def put_rows(table: np.ndarray, index: np.ndarray, rows: np.ndarray) -> None:
    """``table[index[i]] = rows[i]``, each row at most once. The caller vouches for the index."""
    for i in range(index.shape[0]):
        if i + AHEAD < index.shape[0]:
            for j in range(0, rows.shape[1], LINE):
                prefetch(table, index[i + AHEAD] * rows.shape[1] + j)
        for j in range(rows.shape[1]):
            table[index[i], j] = rows[i, j]


@kernel
def _merge(ids: np.ndarray, values: np.ndarray, merged_ids: np.ndarray, merged: np.ndarray) -> int:
    """Sum runs of equal ids, in a stable order; returns how many runs there are."""
    order, keys = ascending(ids)
    count, width = 0, values.shape[1]
    for k in range(order.shape[0]):
        source = order[k]
        if k == 0 or keys[k] != keys[k - 1]:
            merged_ids[count] = ids[source]
            for j in range(width):
                merged[count, j] = values[source, j]
            count += 1
        else:
            for j in range(width):
                merged[count - 1, j] += values[source, j]
    return count
