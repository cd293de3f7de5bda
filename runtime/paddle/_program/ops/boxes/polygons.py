"""Polygons (x, y, x, y, ...): how much two of them overlap.

What lies within an odd number of turns is within, so that corners may come in either direction, and go in and
out. It must never know an operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np


def polygon_shares(polygon: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How much one and each of others overlap, as a share of what both cover; 0 where one has no area."""
    return np.array([_share(polygon, each) for each in others], polygon.dtype)


def _share(one: np.ndarray, other: np.ndarray) -> float:
    both, areas = _area(one, other), [_area(each, each) for each in (one, other)]
    return both / (sum(areas) - both) if both and all(areas) else 0.0


def _area(one: np.ndarray, other: np.ndarray) -> float:
    """Of what lies in both: the sum over strips in which no two sides meet."""
    sides = [_sides(one), _sides(other)]
    heights = np.unique(list(_heights(np.concatenate(sides))))
    return sum(_strip(sides, low, high) for low, high in pairwise(heights.tolist()))


def _sides(polygon: np.ndarray) -> np.ndarray:
    """(sides, 4): where each begins and ends."""
    corners = polygon.astype(np.float64).reshape(-1, 2)
    return np.concatenate([corners, np.roll(corners, -1, 0)], 1)


def _heights(sides: np.ndarray) -> Iterator[float]:
    """Of corners, and of places where sides meet."""
    yield from sides[:, 1].tolist()
    for (x0, y0, x1, y1), (u0, v0, u1, v1) in combinations(sides.tolist(), 2):
        turn = (x1 - x0) * (v1 - v0) - (y1 - y0) * (u1 - u0)
        if turn:
            at = ((u0 - x0) * (v1 - v0) - (v0 - y0) * (u1 - u0)) / turn
            on = ((u0 - x0) * (y1 - y0) - (v0 - y0) * (x1 - x0)) / turn
            if 0 <= at <= 1 and 0 <= on <= 1:
                yield y0 + at * (y1 - y0)


def _strip(sides: list[np.ndarray], low: float, high: float) -> float:
    """What lies in both between two heights."""
    found = []
    for owner, each in enumerate(sides):
        seen = each[(each[:, [1, 3]].min(1) <= low) & (each[:, [1, 3]].max(1) >= high)]
        slope = (seen[:, 2] - seen[:, 0]) / (seen[:, 3] - seen[:, 1])
        middle = seen[:, 0] + ((low + high) / 2 - seen[:, 1]) * slope
        found += [(x, owner) for x in middle.tolist()]
    within, width, last = [False, False], 0.0, 0.0
    for x, owner in sorted(found):
        if all(within):
            width += x - last
        within[owner], last = not within[owner], x
    return width * (high - low)
