"""Runs: rows of a matrix that belong together because they are one sequence, and what is done to each run.

``offsets``, int64 (n + 1,), begins with 0, never falls and ends with the number of rows: run i is the rows
from ``offsets[i]`` to ``offsets[i + 1]``, which may be none. The caller vouches for that. It must never know
what a row means.

Guarantee: a run is reduced in order of its rows, so equal inputs give equal bits; one without rows gives
zeros.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD, LINE, prefetch

Array = np.ndarray


@kernel
def sum_runs(rows: Array, offsets: Array, out: Array) -> None:
    """``out[i]``, of (n, width), is the sum of the rows of run i."""
    for i in range(out.shape[0]):
        total = out[i]
        for j in range(total.shape[0]):
            total[j] = 0
        for k in range(offsets[i], offsets[i + 1]):
            row = rows[k]
            for j in range(total.shape[0]):
                total[j] += row[j]


@kernel
def spread_runs(each: Array, offsets: Array, out: Array) -> None:
    """Every row of run i in ``out`` is ``each[i]``."""
    for i in range(each.shape[0]):
        source = each[i]
        for k in range(offsets[i], offsets[i + 1]):
            row = out[k]
            for j in range(source.shape[0]):
                row[j] = source[j]


@kernel
def max_runs(rows: Array, offsets: Array, out: Array, places: Array) -> None:
    """``out[i]`` is the greatest of run i, column by column, and int64 ``places[i]`` where it stands first.

    Of a run without rows the places are -1. NaN is greater than any number.
    """
    for i in range(out.shape[0]):
        out[i] = 0
        places[i] = -1
        for k in range(offsets[i], offsets[i + 1]):
            _raise(out[i], places[i], rows[k], k)


@kernel
def _raise(best: Array, at: Array, row: Array, place: int) -> None:
    for j in range(best.shape[0]):
        if at[j] < 0 or row[j] > best[j] or (row[j] != row[j] and best[j] == best[j]):
            best[j], at[j] = row[j], place


@kernel
def scatter_places(given: Array, places: Array, out: Array) -> None:
    """``out`` is zero but for ``given[i, j]`` in row ``places[i, j]`` of column j, where that is no -1."""
    out[:] = 0
    for i in range(given.shape[0]):
        for j in range(given.shape[1]):
            if places[i, j] >= 0:
                out[places[i, j], j] = given[i, j]


@kernel
def reverse_runs(rows: Array, offsets: Array, out: Array) -> None:
    """Each run of ``rows`` from its end to its beginning, in ``out``."""
    for i in range(offsets.shape[0] - 1):
        first, end = offsets[i], offsets[i + 1]
        for k in range(first, end):
            source, row = rows[first + end - 1 - k], out[k]
            for j in range(source.shape[0]):
                row[j] = source[j]


@kernel
def join_runs(rows: Array, offsets: Array, others: Array, other_offsets: Array, out: Array) -> None:
    """Run i of ``out`` is run i of ``rows``, and after it run i of ``others``."""
    for i in range(offsets.shape[0] - 1):
        at = offsets[i] + other_offsets[i]
        for k in range(offsets[i], offsets[i + 1]):
            out[at] = rows[k]
            at += 1
        for k in range(other_offsets[i], other_offsets[i + 1]):
            out[at] = others[k]
            at += 1


@kernel
def part_runs(joined: Array, offsets: Array, other_offsets: Array, rows: Array, others: Array) -> None:
    """What ``join_runs`` joined, apart again."""
    for i in range(offsets.shape[0] - 1):
        at = offsets[i] + other_offsets[i]
        for k in range(offsets[i], offsets[i + 1]):
            rows[k] = joined[at]
            at += 1
        for k in range(other_offsets[i], other_offsets[i + 1]):
            others[k] = joined[at]
            at += 1


@kernel
def windows(rows: Array, offsets: Array, start: int, beyond: Array, before: int, out: Array) -> None:
    """Beside each row those around it: ``out``, (rows, length * width), has in its piece p row k + start + p.

    What lies outside the run is zero or, where ``beyond`` has rows, one of these: ``beyond[before - d]`` for
    the d-th row before its beginning, ``beyond[before + d - 1]`` for the d-th behind its end.
    """
    for i in range(offsets.shape[0] - 1):
        for k in range(offsets[i], offsets[i + 1]):
            _look(rows, offsets[i], offsets[i + 1], k + start, beyond, before, out[k])


@kernel
def _look(rows: Array, first: int, end: int, at: int, beyond: Array, before: int, out: Array) -> None:
    width = rows.shape[1]
    for p in range(out.shape[0] // width):
        piece, place = out[p * width : (p + 1) * width], _place(at + p, first, end, before)
        if place >= 0:
            piece[:] = rows[place]
        elif beyond.shape[0] > 0:
            piece[:] = beyond[-1 - place]
        else:
            piece[:] = 0


@kernel
def _place(at: int, first: int, end: int, before: int) -> int:
    """The number of a row or, less than 0, -1 less that of one beyond the run."""
    if at < first:
        return -1 - (before + at - first)
    return at if at < end else -1 - (before + at - end)


@kernel
def add_windows(given: Array, offsets: Array, start: int, beyond: Array, before: int, rows: Array) -> None:
    """The gradient of ``windows``: pieces of ``given`` go to the row of ``rows`` or ``beyond`` they are of.

    Either may have no rows: then what belongs there goes.
    """
    for i in range(offsets.shape[0] - 1):
        for k in range(offsets[i], offsets[i + 1]):
            _give_back(given[k], offsets[i], offsets[i + 1], k + start, beyond, before, rows)


@kernel
def _give_back(given: Array, first: int, end: int, at: int, beyond: Array, before: int, rows: Array) -> None:
    width = rows.shape[1]
    for p in range(given.shape[0] // width):
        piece, place = given[p * width : (p + 1) * width], _place(at + p, first, end, before)
        if place >= 0 and rows.shape[0] > 0:
            _add(piece, rows[place])
        elif place < 0 and beyond.shape[0] > 0:
            _add(piece, beyond[-1 - place])


@kernel
def _add(piece: Array, row: Array) -> None:
    for j in range(row.shape[0]):
        row[j] += piece[j]


@kernel
def sum_rows_of_runs(table: Array, ids: Array, offsets: Array, out: Array) -> None:
    """``out[i]`` is the sum of the rows of ``table`` that run i names. The caller vouches for the ids."""
    count, width = ids.shape[0], table.shape[1]
    for i in range(out.shape[0]):
        total = out[i]
        for j in range(width):
            total[j] = 0
        for k in range(offsets[i], offsets[i + 1]):
            if k + AHEAD < count:
                _ask_for(table, ids[k + AHEAD])
            row = table[ids[k]]
            for j in range(width):
                total[j] += row[j]


@kernel
def _ask_for(table: Array, row: int) -> None:
    for j in range(0, table.shape[1], LINE):
        prefetch(table, row * table.shape[1] + j)


@kernel
def add_runs_to_rows(table: Array, ids: Array, offsets: Array, each: Array) -> None:
    """``table[id] += each[i]`` for every id of run i, in order."""
    for i in range(each.shape[0]):
        source = each[i]
        for k in range(offsets[i], offsets[i + 1]):
            row = table[ids[k]]
            for j in range(source.shape[0]):
                row[j] += source[j]
