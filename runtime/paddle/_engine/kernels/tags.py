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
        top = rows[k].max()
        if k == first:
            shares[k] = grown[0]
        else:
            shares[k] = 0
            for i in range(rows.shape[1]):
                for j in range(rows.shape[1]):
                    shares[k, j] += shares[k - 1, i] * grown[2 + i, j]
        total += top + _scale(shares[k], rows[k], top)
    last = 0.0
    for j in range(rows.shape[1]):
        last += shares[end - 1, j] * grown[1, j]
    return float(total + np.log(last))


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
    behind = np.empty(rows.shape[1], rows.dtype)
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
    """From the end to the beginning; ``behind``: shares of all ends of ways that begin after a tag."""
    first, end = bounds
    behind[:] = grown[1]
    for k in range(end - 1, first - 1, -1):
        _probabilities(shares[k], behind, rows_slope[k])
        rows_slope[k, tags[k]] -= 1
        rows_slope[k] *= given
        if k == end - 1:
            weights_slope[1] += rows_slope[k]
        if k == first:
            weights_slope[0] += rows_slope[k]
        else:
            behind *= np.exp(rows[k] - rows[k].max())
            _step_back(given, shares[k - 1], grown, behind, weights_slope)
            weights_slope[2 + tags[k - 1], tags[k]] -= given


@kernel
def _probabilities(before: Array, behind: Array, out: Array) -> None:
    total = 0.0
    for j in range(out.shape[0]):
        out[j] = before[j] * behind[j]
        total += out[j]
    for j in range(out.shape[0]):
        out[j] /= total


@kernel
def _step_back(given: float, before: Array, grown: Array, behind: Array, slope: Array) -> None:
    """Add the probability of each pair of tags, and make ``behind`` that of the place before."""
    count = before.shape[0]
    earlier = np.zeros(count, behind.dtype)
    total, size = 0.0, 0.0
    for i in range(count):
        for j in range(count):
            earlier[i] += grown[2 + i, j] * behind[j]
        total += before[i] * earlier[i]
        size += earlier[i]
    for i in range(count):
        for j in range(count):
            slope[2 + i, j] += given * before[i] * grown[2 + i, j] * behind[j] / total
    behind[:] = earlier / size


@kernel
def best_tags(rows: Array, weights: Array, offsets: Array, came_from: Array, out: Array) -> None:
    """``out``, int64 (rows,), is the most probable way of each run; of equal ones the first.

    ``came_from``, int64 (rows, tags), is where it works.
    """
    count = rows.shape[1]
    best, next_best = np.empty(count, rows.dtype), np.empty(count, rows.dtype)
    for i in range(offsets.shape[0] - 1):
        first, end = offsets[i], offsets[i + 1]
        for k in range(first, end):
            if k == first:
                next_best[:] = weights[0]
            else:
                _best_before(best, weights, next_best, came_from[k])
            best[:] = next_best + rows[k]
        if end > first:
            out[end - 1] = np.argmax(best + weights[1])
            for k in range(end - 1, first, -1):
                out[k - 1] = came_from[k, out[k]]


@kernel
def _best_before(best: Array, weights: Array, out: Array, came_from: Array) -> None:
    for j in range(best.shape[0]):
        at = 0
        for i in range(1, best.shape[0]):
            if best[i] + weights[2 + i, j] > best[at] + weights[2 + at, j]:
                at = i
        out[j], came_from[j] = best[at] + weights[2 + at, j], at
