"""Tags of sequences against the sum, and the best, of all ways that there are, counted one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, pairwise, product
from math import log
from typing import Any

import numpy as np

from paddle._engine.kernels import alignments, tags
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
)

Array = np.ndarray
Way = tuple[int, ...]
LEAST = 1e-37


def ways(length: int, count: int) -> Iterator[Way]:
    return product(range(count), repeat=length)


def score(way: Way, rows: Array, weights: Array) -> float:
    """Of the beginning of a way, or of all of it, but for how good its last tag is at the end."""
    steps = sum(weights[2 + a, b] for a, b in pairwise(way))
    return float(weights[0, way[0]] + steps + sum(rows[k, tag] for k, tag in enumerate(way)))


def wide(*arrays: Array) -> list[Array]:
    return [each.astype(np.float64) for each in arrays]


def tag_costs(rows: Array, right: Array, weights: Array, ends: Array, shares: Array, out: Array) -> None:
    narrow_shares, (rows, weights) = shares, wide(rows, weights)
    for i, run in enumerate(runs(ends)):
        out[i] = 0
        own = rows[run.start : run.stop]
        for k in range(len(run)):
            found = np.zeros(rows.shape[1])
            for way in ways(k + 1, rows.shape[1]):
                found[way[-1]] += np.exp(score(way, own, weights))
            narrow_shares[run[k]] = found / found.sum()
        if len(run):
            total = np.log(sum(np.exp(_whole(way, own, weights)) for way in ways(len(run), rows.shape[1])))
            out[i] = total - _whole(tuple(right[run.start : run.stop]), own, weights)


def _whole(way: Way, rows: Array, weights: Array) -> float:
    return score(way, rows, weights) + float(weights[1, way[-1]])


def tag_slopes(
    given: Array,
    rows: Array,
    right: Array,
    weights: Array,
    ends: Array,
    shares: Array,
    at_rows: Array,
    at: Array,
) -> None:
    total, (rows, weights) = np.zeros(weights.shape), wide(rows, weights)
    for slope, run in zip(given, runs(ends), strict=True):
        if not len(run):
            continue
        own, found = rows[run.start : run.stop], np.zeros((len(run), rows.shape[1]))
        every = list(ways(len(run), rows.shape[1]))
        chances = np.exp([_whole(way, own, weights) for way in every])
        chosen = [(tuple(right[run.start : run.stop].tolist()), -1.0)]
        for way, weight in [*zip(every, chances / chances.sum(), strict=True), *chosen]:
            found[range(len(run)), way] += slope * weight
            total[0, way[0]] += slope * weight
            total[1, way[-1]] += slope * weight
            for a, b in pairwise(way):
                total[2 + a, b] += slope * weight
        at_rows[run.start : run.stop] = found
    at[:] = total


def best_tags(rows: Array, weights: Array, ends: Array, scores: Array, came_from: Array, out: Array) -> None:
    rows, weights = wide(rows, weights)
    for run in runs(ends):
        own = rows[run.start : run.stop]
        if len(run):
            every = ways(len(run), rows.shape[1])
            out[run.start : run.stop] = min(every, key=lambda way: (-_whole(way, own, weights), way[::-1]))


def alignment_costs(
    rows: Array, ends: Array, right: Array, right_ends: Array, blank: int, shares: Array, out: Array
) -> None:
    shares[:], rows = 0, np.maximum(rows.astype(np.float64), LEAST)
    for i, (run, own) in enumerate(zip(runs(ends), runs(right_ends), strict=True)):
        wanted, total = right[own.start : own.stop].tolist(), 0.0
        found = np.zeros((len(run), rows.shape[1]))
        for way in ways(len(run), rows.shape[1]):
            if [tag for tag, _ in groupby(way) if tag != blank] == wanted:
                chances = np.prod(rows[list(run), list(way)])
                found[range(len(run)), list(way)] += chances
                total += chances
        out[i] = -log(total) if len(run) and total else 0
        shares[run.start : run.stop] = found / total if total else 0


def alignment_slopes(
    given: Array, rows: Array, ends: Array, shares: Array, by_length: bool, out: Array
) -> None:
    lengths = np.diff(ends)
    each = given.astype(np.float64) / (lengths if by_length else 1)
    slopes = np.repeat(each, lengths)[:, None]
    out[:] = -slopes * shares.astype(np.float64) / np.maximum(rows.astype(np.float64), LEAST)


def count_edits(said: Array, ends: Array, right: Array, right_ends: Array, out: Array) -> None:
    for i, (ours, theirs) in enumerate(zip(runs(ends), runs(right_ends), strict=True)):
        out[i] = edits(tuple(said[list(ours)]), tuple(right[list(theirs)]))


@cache
def edits(ours: Way, theirs: Way) -> int:
    if not ours or not theirs:
        return len(ours) + len(theirs)
    replaced = edits(ours[1:], theirs[1:]) + (ours[0] != theirs[0])
    return min(replaced, edits(ours[1:], theirs) + 1, edits(ours, theirs[1:]) + 1)


def tagged(draw: Draw) -> tuple[Array, Array, Array, Array]:
    """Rows, tags, weights and the ends of runs; some are whole numbers, of which sums are often equal."""
    ends, count = offsets(draw, 3, 4), integer(draw, 1, 3)
    rows, weights = normal(draw, ends[-1], count), normal(draw, 2 + count, count)
    if chance(draw):
        rows, weights = np.round(rows), np.round(weights)
    return rows, generator(draw).integers(0, count, ends[-1]), weights, ends


def costing(draw: Draw) -> tuple[Any, ...]:
    rows, right, weights, ends = tagged(draw)
    return rows, right, weights, ends, np.full_like(rows, 7), filled(len(ends) - 1)


def sloping(draw: Draw) -> tuple[Any, ...]:
    *given, shares, out = costing(draw)
    tags.tag_costs(*given, shares, out)
    rows, right, weights, ends = given
    made = np.full_like(rows, 7), np.full_like(weights, 7)
    return normal(draw, len(out)), rows, right, weights, ends, shares, *made


def choosing(draw: Draw) -> tuple[Any, ...]:
    rows, right, weights, ends = tagged(draw)
    return (
        rows,
        weights,
        ends,
        np.empty_like(rows),
        filled(*rows.shape, dtype=np.int64),
        np.full_like(right, 7),
    )


def named(draw: Draw, count: int, names: Iterable[int], most: int) -> tuple[Array, Array]:
    """Runs of some of the names, and their ends."""
    random = generator(draw)
    ends = np.cumsum([0, *random.integers(0, most + 1, count)], dtype=np.int64)
    return random.choice(list(names), ends[-1]).astype(np.int64), ends


def aligned(draw: Draw) -> tuple[Any, ...]:
    ends, count = offsets(draw, 3, 4), integer(draw, 2, 4)
    rows = np.exp(normal(draw, ends[-1], count))
    rows /= rows.sum(1, keepdims=True)
    rows[generator(draw).random(rows.shape) < integer(draw, 0, 1) * 0.2] = 0
    blank = integer(draw, 0, count - 1)
    right, right_ends = named(draw, len(ends) - 1, set(range(count)) - {blank}, 3)
    return rows, ends, right, right_ends, blank, np.full_like(rows, 7), filled(len(ends) - 1)


def aligned_back(draw: Draw) -> tuple[Any, ...]:
    rows, ends, *_ = aligned(draw)
    return (
        normal(draw, len(ends) - 1),
        rows,
        ends,
        normal(draw, *rows.shape),
        chance(draw),
        np.full_like(rows, 7),
    )


def edited(draw: Draw) -> tuple[Any, ...]:
    count = integer(draw, 0, 4)
    return *named(draw, count, range(3), 6), *named(draw, count, range(3), 6), filled(count)


CLOSE = {"rtol": 2e-6, "atol": 2e-6}
test_a_kernel_counts_all_ways = held(
    [
        Case(tags.tag_costs, tag_costs, costing, **CLOSE, is_wide=True),
        Case(tags.tag_slopes, tag_slopes, sloping, **CLOSE, is_wide=True),
        Case(tags.best_tags, best_tags, choosing, idle=frozenset({3, 4}), is_wide=True),
        Case(alignments.alignment_costs, alignment_costs, aligned, **CLOSE, is_wide=True),
        Case(alignments.alignment_slopes, alignment_slopes, aligned_back, is_wide=True),
        Case(alignments.count_edits, count_edits, edited),
    ]
)
