"""Kernels of runs, entries and timelines against their twins."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from paddle._engine.kernels import entries, timeline
from paddle._engine.kernels import runs as kernels
from tests.engine.kernels.case import (
    Case,
    Draw,
    chance,
    filled,
    generator,
    held,
    integer,
    normal,
    offsets,
    runs,
    special,
)

Array = np.ndarray


def sum_runs(rows: Array, ends: Array, out: Array) -> None:
    for i, run in enumerate(runs(ends)):
        out[i] = 0
        for k in run:
            out[i] += rows[k]


def spread_runs(each: Array, ends: Array, out: Array) -> None:
    out[...] = np.repeat(each, np.diff(ends), axis=0)


def max_runs(rows: Array, ends: Array, out: Array, places: Array) -> None:
    for i, run in enumerate(runs(ends)):
        part = rows[run.start : run.stop]
        out[i] = np.take_along_axis(part, part.argmax(0)[None], 0)[0] if len(run) else 0
        places[i] = run.start + part.argmax(0) if len(run) else -1


def scatter_places(given: Array, places: Array, out: Array) -> None:
    out[:] = 0
    for i, j in np.argwhere(places >= 0):
        out[places[i, j], j] = given[i, j]


def reverse_runs(rows: Array, ends: Array, out: Array) -> None:
    for run in runs(ends):
        out[run.start : run.stop] = rows[run.start : run.stop][::-1]


def _joined(ends: Array, other_ends: Array) -> list[tuple[int, int]]:
    """Of each row that is joined, in order: 0 or 1, whose it is, and its number."""
    both = zip(runs(ends), runs(other_ends), strict=True)
    return [(side, k) for pair in both for side, run in enumerate(pair) for k in run]


def join_runs(rows: Array, ends: Array, others: Array, other_ends: Array, out: Array) -> None:
    for place, (side, k) in enumerate(_joined(ends, other_ends)):
        out[place] = (rows, others)[side][k]


def part_runs(joined: Array, ends: Array, other_ends: Array, rows: Array, others: Array) -> None:
    for place, (side, k) in enumerate(_joined(ends, other_ends)):
        (rows, others)[side][k] = joined[place]


def _sources(ends: Array, length: int, start: int, before: int) -> list[tuple[int, int, int, bool]]:
    """Row, piece, and where this is from: of a row, or of one beyond the run."""
    found = []
    for run in runs(ends):
        for k, p in product(run, range(length)):
            at = k + start + p
            if at < run.start:
                found.append((k, p, before - (run.start - at), True))
            else:
                found.append((k, p, at if at in run else before + at - run.stop, at not in run))
    return found


def windows(rows: Array, ends: Array, start: int, beyond: Array, before: int, out: Array) -> None:
    width = rows.shape[1]
    for k, p, at, is_beyond in _sources(ends, out.shape[1] // width, start, before):
        piece: Any = 0
        if not is_beyond:
            piece = rows[at]
        elif len(beyond):
            piece = beyond[at]
        out[k, p * width : (p + 1) * width] = piece


def add_windows(given: Array, ends: Array, start: int, beyond: Array, before: int, rows: Array) -> None:
    width = rows.shape[1]
    for k, p, at, is_beyond in _sources(ends, given.shape[1] // width, start, before):
        target = beyond if is_beyond else rows
        if len(target):
            target[at] += given[k, p * width : (p + 1) * width]


def sum_rows_of_runs(table: Array, ids: Array, ends: Array, out: Array) -> None:
    for i, run in enumerate(runs(ends)):
        out[i] = 0
        for k in run:
            out[i] += table[ids[k]]


def add_runs_to_rows(table: Array, ids: Array, ends: Array, each: Array) -> None:
    np.add.at(table, ids, np.repeat(each, np.diff(ends), axis=0))


def rows_of_runs(draw: Draw) -> tuple[Array, Array, int, int]:
    """Rows, the ends of their runs, how many of these there are, and the width."""
    ends, width = offsets(draw), integer(draw, 1, 20)
    return special(draw, ends[-1], width), ends, len(ends) - 1, width


def reduced(draw: Draw) -> tuple[Any, ...]:
    rows, ends, count, width = rows_of_runs(draw)
    return rows, ends, filled(count, width)


def spread(draw: Draw) -> tuple[Any, ...]:
    rows, ends, count, width = rows_of_runs(draw)
    return special(draw, count, width), ends, np.empty_like(rows)


def with_places(draw: Draw) -> tuple[Any, ...]:
    rows, ends, count, width = rows_of_runs(draw)
    return rows, ends, filled(count, width), filled(count, width, dtype=np.int64)


def scattered(draw: Draw) -> tuple[Any, ...]:
    rows, ends, out, places = with_places(draw)
    max_runs(rows, ends, out, places)
    return special(draw, *out.shape), places, np.full_like(rows, 7)


def reversed_(draw: Draw) -> tuple[Any, ...]:
    rows, ends, *_ = rows_of_runs(draw)
    return rows, ends, np.full_like(rows, 7)


def joined(draw: Draw) -> tuple[Any, ...]:
    rows, ends, count, width = rows_of_runs(draw)
    other_ends = np.concatenate([[0], generator(draw).integers(0, 4, count).cumsum()]).astype(np.int64)
    others = special(draw, other_ends[-1], width)
    return rows, ends, others, other_ends, filled(len(rows) + len(others), width)


def parted(draw: Draw) -> tuple[Any, ...]:
    rows, ends, others, other_ends, out = joined(draw)
    return special(draw, *out.shape), ends, other_ends, np.full_like(rows, 7), np.full_like(others, 7)


def looked(draw: Draw) -> tuple[Any, ...]:
    rows, ends, _, width = rows_of_runs(draw)
    length, start = integer(draw, 1, 4), integer(draw, -4, 3)
    before, after = max(0, -start), max(0, start + length - 1)
    beyond = normal(draw, before + after if chance(draw) else 0, width)
    return rows, ends, start, beyond, before, filled(len(rows), length * width)


def given_back(draw: Draw) -> tuple[Any, ...]:
    rows, ends, start, beyond, before, out = looked(draw)
    return special(draw, *out.shape), ends, start, beyond, before, rows if chance(draw) else rows[:0]


def named(draw: Draw) -> tuple[Array, Array, Array, int]:
    """A table, ids of its rows in runs, the ends of these, and how many runs."""
    ends, height = offsets(draw, most=20), integer(draw, 1, 9)
    ids = generator(draw).integers(0, height, ends[-1])
    return special(draw, height, integer(draw, 1, 40)), ids, ends, len(ends) - 1


def summed(draw: Draw) -> tuple[Any, ...]:
    table, ids, ends, count = named(draw)
    return table, ids, ends, filled(count, table.shape[1])


def added(draw: Draw) -> tuple[Any, ...]:
    table, ids, ends, count = named(draw)
    return table, ids, ends, special(draw, count, table.shape[1])


def multiply_entries(table: Array, columns: Array, amounts: Array, starts: Array, out: Array) -> None:
    for i, run in enumerate(runs(starts)):
        out[i] = 0
        for k in run:
            out[i] += amounts[k] * table[columns[k]]


def add_entries(given: Array, columns: Array, amounts: Array, starts: Array, table: Array) -> None:
    np.add.at(table, columns, amounts[:, None] * np.repeat(given, np.diff(starts), axis=0))


def list_entries(given: Array, amounts: Array, starts: Array, rows: Array) -> None:
    rows[...] = amounts[:, None] * np.repeat(given, np.diff(starts), axis=0)


def spread_entries(columns: Array, amounts: Array, starts: Array, out: Array) -> None:
    out[:] = 0
    np.add.at(out, (np.repeat(np.arange(len(out)), np.diff(starts)), columns), amounts)


def multiplied(draw: Draw) -> tuple[Any, ...]:
    table, columns, starts, count = named(draw)
    return table, columns, special(draw, len(columns)), starts, filled(count, table.shape[1])


def multiplied_back(draw: Draw) -> tuple[Any, ...]:
    table, columns, amounts, starts, out = multiplied(draw)
    return special(draw, *out.shape), columns, amounts, starts, table


def listed(draw: Draw) -> tuple[Any, ...]:
    given, _, amounts, starts, table = multiplied_back(draw)
    return given, amounts, starts, filled(len(amounts), table.shape[1])


def spread_out(draw: Draw) -> tuple[Any, ...]:
    table, columns, amounts, starts, out = multiplied(draw)
    return columns, amounts, starts, filled(len(out), len(table))


def lay_out(ends: Array, is_reverse: bool, order: Array, rows: Array, before: Array, counts: Array) -> int:
    own = runs(ends)
    moments: list[list[int]] = []
    while active := [i for i in order if len(own[i]) > len(moments)]:
        moments.append(active)
    at: dict[tuple[int, int], int] = {}
    for moment, active in enumerate(moments):
        counts[moment] = len(active)
        for i in active:
            place = len(at)
            at[moment, i] = place
            rows[place] = own[i][::-1][moment] if is_reverse else own[i][moment]
            before[place] = at.get((moment - 1, i), -1)
    return len(moments)


def timed(draw: Draw) -> tuple[Any, ...]:
    ends = offsets(draw, 8)
    order = np.argsort(-np.diff(ends), kind="stable")
    return ends, chance(draw), order, *(filled(ends[-1], dtype=np.int64) for _ in range(3))


test_a_kernel_is_its_twin = held(
    [
        Case(kernels.sum_runs, sum_runs, reduced, is_wide=True),
        Case(kernels.spread_runs, spread_runs, spread, is_wide=True),
        Case(kernels.max_runs, max_runs, with_places, is_wide=True),
        Case(kernels.scatter_places, scatter_places, scattered, is_wide=True),
        Case(kernels.reverse_runs, reverse_runs, reversed_, is_wide=True),
        Case(kernels.join_runs, join_runs, joined, is_wide=True),
        Case(kernels.part_runs, part_runs, parted, is_wide=True),
        Case(kernels.windows, windows, looked, is_wide=True),
        Case(kernels.add_windows, add_windows, given_back, is_wide=True),
        Case(kernels.sum_rows_of_runs, sum_rows_of_runs, summed, is_wide=True),
        Case(kernels.add_runs_to_rows, add_runs_to_rows, added, is_wide=True),
        Case(entries.multiply_entries, multiply_entries, multiplied, is_wide=True),
        Case(entries.add_entries, add_entries, multiplied_back, is_wide=True),
        Case(entries.list_entries, list_entries, listed, is_wide=True),
        Case(entries.spread_entries, spread_entries, spread_out, is_wide=True),
        Case(timeline.lay_out, lay_out, timed),
    ]
)
