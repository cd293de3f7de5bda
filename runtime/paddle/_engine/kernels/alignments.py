"""Alignments: all ways to place a run's tags, in order, among more rows than tags (see runs.py); and the
fewest edits that make one run of another, by the definition of Levenshtein.

A way gives each row a tag or none: one tag may last for several rows, and between two that are equal there is
a row of none. ``rows`` are probabilities, whose column ``blank`` is that for none. It must never know what a
tag means. Guarantee: shares are logarithms in float64, so that long runs neither overflow nor vanish; tags
that cannot be placed among so few rows cost nothing and have no slope, as in v2, 1.8 and 2.6.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray

_NEVER = -np.inf


@kernel
def alignment_costs(
    rows: Array, offsets: Array, tags: Array, tag_offsets: Array, blank: int, shares: Array, out: Array
) -> None:
    """``out[i]`` is -log of the probability of the tags of run i.

    ``shares``, like ``rows``: how probable it is, in all ways of these tags, that a row has each one.
    """
    shares[:] = 0
    for i in range(out.shape[0]):
        first, end = offsets[i], offsets[i + 1]
        count = 2 * (tag_offsets[i + 1] - tag_offsets[i]) + 1
        places = np.empty(count, np.int64)
        for s in range(count):
            places[s] = blank if s % 2 == 0 else tags[tag_offsets[i] + s // 2]
        out[i] = 0
        if end > first:
            out[i] = _costs_of_run(rows[first:end], places, blank, shares[first:end])


@kernel
def _costs_of_run(rows: Array, places: Array, blank: int, shares: Array) -> float:
    """``places``: the tags, with none before, between and behind them."""
    length, count = rows.shape[0], places.shape[0]
    ahead = np.full((length, count), _NEVER, np.float64)
    ahead[0, 0] = _log(rows[0, places[0]])
    if count > 1:
        ahead[0, 1] = _log(rows[0, places[1]])
    for t in range(1, length):
        for s in range(count):
            ahead[t, s] = _reached(ahead[t - 1], places, blank, s) + _log(rows[t, places[s]])
    total = ahead[length - 1, count - 1]
    if count > 1:
        total = _sum(total, ahead[length - 1, count - 2])
    if total == _NEVER:
        return 0.0
    _share(rows, places, blank, ahead, total, shares)
    return float(-total)


@kernel
def _log(x: float) -> float:
    return float(np.log(max(x, 1e-37)))


@kernel
def _sum(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    top, other = max(a, b), min(a, b)
    return top if other == _NEVER else top + np.log1p(np.exp(other - top))


@kernel
def _reached(before: Array, places: Array, blank: int, s: int) -> float:
    """All ways to be at place s, from the same, the one before it, or over a none between unlike tags."""
    total = before[s]
    if s > 0:
        total = _sum(total, before[s - 1])
    if s > 1 and places[s] != blank and places[s] != places[s - 2]:
        total = _sum(total, before[s - 2])
    return float(total)


@kernel
def _share(rows: Array, places: Array, blank: int, ahead: Array, total: float, shares: Array) -> None:
    """From the end to the beginning; ``behind``: all ends of ways that are at a place now."""
    length, count = ahead.shape
    behind = np.full(count, _NEVER, np.float64)
    behind[count - 1] = 0.0
    if count > 1:
        behind[count - 2] = 0.0
    for t in range(length - 1, -1, -1):
        if t < length - 1:
            behind = _left(behind, rows[t + 1], places, blank)
        for s in range(count):
            shares[t, places[s]] += np.exp(ahead[t, s] + behind[s] - total)


@kernel
def _left(behind: Array, row: Array, places: Array, blank: int) -> Array:
    count = behind.shape[0]
    out = np.empty(count, np.float64)
    for s in range(count):
        out[s] = behind[s] + _log(row[places[s]])
        if s + 1 < count:
            out[s] = _sum(out[s], behind[s + 1] + _log(row[places[s + 1]]))
        if s + 2 < count and places[s + 2] != blank and places[s + 2] != places[s]:
            out[s] = _sum(out[s], behind[s + 2] + _log(row[places[s + 2]]))
    return out


@kernel
def alignment_slopes(
    given: Array, rows: Array, offsets: Array, shares: Array, by_length: bool, out: Array
) -> None:
    """The gradient of ``alignment_costs``: ``given[i]`` is that of run i's cost.

    ``by_length``: over the number of its rows.
    """
    for i in range(given.shape[0]):
        slope = given[i] / (offsets[i + 1] - offsets[i]) if by_length else given[i]
        for t in range(offsets[i], offsets[i + 1]):
            for k in range(rows.shape[1]):
                out[t, k] = -slope * shares[t, k] / max(rows[t, k], 1e-37)


@kernel
def count_edits(said: Array, offsets: Array, right: Array, right_offsets: Array, out: Array) -> None:
    """``out[i]``: the fewest edits that make run i of ``right`` of run i of ``said``."""
    for i in range(out.shape[0]):
        ours = said[offsets[i] : offsets[i + 1]]
        theirs = right[right_offsets[i] : right_offsets[i + 1]]
        out[i] = _edits(ours, theirs)


@kernel
def _edits(ours: Array, theirs: Array) -> int:
    row = np.arange(ours.shape[0] + 1)
    for i in range(theirs.shape[0]):
        corner, row[0] = row[0], i + 1
        for j in range(ours.shape[0]):
            best = corner + (0 if ours[j] == theirs[i] else 1)
            corner = row[j + 1]
            row[j + 1] = min(best, min(corner, row[j]) + 1)
    return int(row[-1])
