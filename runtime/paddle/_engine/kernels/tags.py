"""Tags of sequences, which depend on their neighbours: the sums and the best path over all ways to tag one.

``weights``, of (2 + tags, tags): how good each tag is at the beginning, at the end, and in row 2 + i after
tag i. ``rows`` of a run (see runs.py) say how good each tag is in its place. It must never know what a tag
means. Guarantee: shares are scaled place by place, so that long runs neither overflow nor vanish; a run
without rows costs nothing.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def tag_costs(rows: Array, tags: Array, weights: Array, offsets: Array, shares: Array, out: Array) -> None:
    """``out[i]`` is -log of the probability of the tags of run i.

    ``shares``, of (rows, tags): those of all beginnings of ways that are at a tag in their last place.
    """
    grown = np.exp(weights)
    for i in range(out.shape[0]):
        first, end = offsets[i], offsets[i + 1]
        out[i] = 0
        if end > first:
            total = _sum_ways(rows, grown, first, end, shares)
            out[i] = total - _score(rows, tags, weights, first, end)


@kernel
def _sum_ways(rows: Array, grown: Array, first: int, end: int, shares: Array) -> float:
    total = 0.0
    for k in range(first, end):
        if k == first:
            _copy(grown[0], shares[k])
        else:
            _step(shares[k - 1], grown, shares[k])
        top = _greatest(rows[k])
        total += top + _scale(shares[k], rows[k], top)
    last = 0.0
    for j in range(rows.shape[1]):
        last += shares[end - 1, j] * grown[1, j]
    return float(total + np.log(last))


@kernel
def _copy(source: Array, out: Array) -> None:
    for j in range(out.shape[0]):
        out[j] = source[j]


@kernel
def _greatest(row: Array) -> float:
    top = row[0]
    for j in range(1, row.shape[0]):
        top = max(top, row[j])
    return float(top)


@kernel
def _step(before: Array, grown: Array, out: Array) -> None:
    """One place further: from every tag to every other."""
    for j in range(out.shape[0]):
        out[j] = 0
    for i in range(out.shape[0]):
        for j in range(out.shape[0]):
            out[j] += before[i] * grown[2 + i, j]


@kernel
def _scale(share: Array, row: Array, top: float) -> float:
    """Multiply by exp(row - top), make the sum 1, and give the logarithm of what it was."""
    total = 0.0
    for j in range(share.shape[0]):
        share[j] *= np.exp(row[j] - top)
        total += share[j]
    for j in range(share.shape[0]):
        share[j] /= total
    return float(np.log(total))


@kernel
def _score(rows: Array, tags: Array, weights: Array, first: int, end: int) -> float:
    score = weights[0, tags[first]] + weights[1, tags[end - 1]]
    for k in range(first, end):
        score += rows[k, tags[k]]
        if k > first:
            score += weights[2 + tags[k - 1], tags[k]]
    return float(score)


@kernel
def tag_slopes(
    given: Array,
    rows: Array,
    tags: Array,
    weights: Array,
    offsets: Array,
    shares: Array,
    rows_slope: Array,
    weights_slope: Array,
) -> None:
    """The gradients of ``tag_costs``, with the shares that it left: ``given[i]`` is that of run i's cost."""
    grown = np.exp(weights)
    weights_slope[:] = 0
    behind = np.empty((2, rows.shape[1]), rows.dtype)
    for i in range(given.shape[0]):
        if offsets[i + 1] > offsets[i]:
            bounds = (offsets[i], offsets[i + 1])
            _slopes_of_run(given[i], rows, tags, grown, bounds, shares, behind, rows_slope, weights_slope)


@kernel
def _slopes_of_run(
    given: float,
    rows: Array,
    tags: Array,
    grown: Array,
    bounds: tuple[int, int],
    shares: Array,
    behind: Array,
    rows_slope: Array,
    weights_slope: Array,
) -> None:
    """From the end to the beginning; ``behind``: shares of all ends of ways that begin after a tag, and room
    for those of the place before.
    """
    first, end = bounds
    now, earlier = behind[0], behind[1]
    _copy(grown[1], now)
    for k in range(end - 1, first - 1, -1):
        _slope(given, shares[k], now, tags[k], rows_slope[k])
        if k == end - 1:
            _add(rows_slope[k], weights_slope[1])
        if k == first:
            _add(rows_slope[k], weights_slope[0])
        else:
            _scale(now, rows[k], _greatest(rows[k]))
            _step_back(given, shares[k - 1], grown, now, earlier, weights_slope)
            weights_slope[2 + tags[k - 1], tags[k]] -= given


@kernel
def _add(row: Array, out: Array) -> None:
    for j in range(out.shape[0]):
        out[j] += row[j]


@kernel
def _slope(given: float, before: Array, behind: Array, tag: int, out: Array) -> None:
    """What is given times the probability of each tag, less 1 for the right one."""
    total = 0.0
    for j in range(out.shape[0]):
        out[j] = before[j] * behind[j]
        total += out[j]
    for j in range(out.shape[0]):
        out[j] *= given / total
    out[tag] -= given


@kernel
def _step_back(given: float, before: Array, grown: Array, now: Array, earlier: Array, slope: Array) -> None:
    """Add the probability of each pair of tags, and make ``now`` that of the place before."""
    count = before.shape[0]
    total, size = 0.0, 0.0
    for i in range(count):
        earlier[i] = 0
        for j in range(count):
            earlier[i] += grown[2 + i, j] * now[j]
        total += before[i] * earlier[i]
        size += earlier[i]
    for i in range(count):
        for j in range(count):
            slope[2 + i, j] += given * before[i] * grown[2 + i, j] * now[j] / total
    for i in range(count):
        now[i] = earlier[i] / size


@kernel
def best_tags(
    rows: Array, weights: Array, offsets: Array, scores: Array, came_from: Array, out: Array
) -> None:
    """``out``, int64 (rows,), is the most probable way of each run; of equal ones the first.

    ``scores``, like ``rows``, and int64 ``came_from`` are where it works.
    """
    for i in range(offsets.shape[0] - 1):
        first, end = offsets[i], offsets[i + 1]
        for k in range(first, end):
            if k == first:
                _copy(weights[0], scores[k])
            else:
                _best_before(scores[k - 1], weights, scores[k], came_from[k])
            _add(rows[k], scores[k])
        if end > first:
            _add(weights[1], scores[end - 1])
            out[end - 1] = _first_greatest(scores[end - 1])
            for k in range(end - 1, first, -1):
                out[k - 1] = came_from[k, out[k]]


@kernel
def _first_greatest(row: Array) -> int:
    at = 0
    for j in range(1, row.shape[0]):
        if row[j] > row[at]:
            at = j
    return at


@kernel
def _best_before(best: Array, weights: Array, out: Array, came_from: Array) -> None:
    for j in range(best.shape[0]):
        at = 0
        for i in range(1, best.shape[0]):
            if best[i] + weights[2 + i, j] > best[at] + weights[2 + at, j]:
                at = i
        out[j], came_from[j] = best[at] + weights[2 + at, j], at
