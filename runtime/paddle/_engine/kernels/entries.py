"""Entries: rows of which few columns are not zero, one row after another, and what they are multiplied by.

Row i has the entries from ``starts[i]`` to ``starts[i + 1]``: ``amounts[k]`` in column ``columns[k]``, int64.
Entries of one column add up. The caller vouches that columns are rows of the table. It must never know what a
column means.

Guarantee: entries are added in their order, so equal inputs give equal bits; a row without entries is zero.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def multiply_entries(table: Array, columns: Array, amounts: Array, starts: Array, out: Array) -> None:
    """``out[i]`` is the sum of the rows of ``table`` that row i names, each times what it amounts to."""
    for i in range(out.shape[0]):
        total = out[i]
        for j in range(total.shape[0]):
            total[j] = 0
        for k in range(starts[i], starts[i + 1]):
            row, amount = table[columns[k]], amounts[k]
            for j in range(total.shape[0]):
                total[j] += amount * row[j]


@kernel
def add_entries(given: Array, columns: Array, amounts: Array, starts: Array, table: Array) -> None:
    """The gradient of ``multiply_entries``: ``given[i]`` is added to the rows that row i names."""
    for i in range(given.shape[0]):
        source = given[i]
        for k in range(starts[i], starts[i + 1]):
            row, amount = table[columns[k]], amounts[k]
            for j in range(source.shape[0]):
                row[j] += amount * source[j]


@kernel
def list_entries(given: Array, amounts: Array, starts: Array, rows: Array) -> None:
    """The same gradient as rows: ``rows[k]`` is what entry k adds to its row of the table."""
    for i in range(given.shape[0]):
        source = given[i]
        for k in range(starts[i], starts[i + 1]):
            row, amount = rows[k], amounts[k]
            for j in range(source.shape[0]):
                row[j] = amount * source[j]


@kernel
def spread_entries(columns: Array, amounts: Array, starts: Array, out: Array) -> None:
    """``out`` has all columns of each row."""
    out[:] = 0
    for i in range(out.shape[0]):
        row = out[i]
        for k in range(starts[i], starts[i + 1]):
            row[columns[k]] += amounts[k]
