"""Rows of tables: adding them in, and merging of repeated rows.

It must never know what a row means. Guarantee: repeated rows are summed in order of occurrence, so equal
inputs give equal bits.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel


def merge_rows(ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, ascending, with the sum of its rows in order of occurrence.

    ``ids``: int64 (n,). ``values``: float32 (n, width). Returns new arrays (m,) and (m, width), m <= n.
    """
    order = np.argsort(ids, kind="stable")
    merged_ids = np.empty_like(ids)
    merged = np.empty_like(values)
    count = _sum_runs(ids, order, values, merged_ids, merged)
    return merged_ids[:count], merged[:count]


@kernel
def add_rows(table: np.ndarray, index: np.ndarray, rows: np.ndarray) -> None:
    """``table[index[i]] += rows[i]`` in order; ids may repeat. The caller vouches for the index."""
    for i in range(index.shape[0]):
        row = table[index[i]]
        for j in range(row.shape[0]):
            row[j] += rows[i, j]


@kernel
def _sum_runs(
    ids: np.ndarray, order: np.ndarray, values: np.ndarray, merged_ids: np.ndarray, merged: np.ndarray
) -> int:
    """Sum runs of equal ids along the stable ``order``; returns how many runs there are."""
    count = 0
    for k in range(order.shape[0]):
        source = order[k]
        if k == 0 or ids[source] != merged_ids[count - 1]:
            merged_ids[count] = ids[source]
            merged[count] = values[source]
            count += 1
        else:
            merged[count - 1] += values[source]
    return count
