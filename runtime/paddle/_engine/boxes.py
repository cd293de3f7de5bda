"""Boxes (left, top, right, bottom), mostly of an image that is 1 x 1: how they overlap, and which are chosen.

It must never know a layer. Guarantee: of what is equal the first is chosen, so the same boxes always give the
same choice. Source of the semantics: v2's SSD (``multibox_loss`` and ``detection_output``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray
NOTHING = 1e-6
"""What overlaps as little as this does not overlap."""


def overlaps(a: Array, b: Array, normalized: bool = True) -> Array:
    """(boxes of a, boxes of b): what both cover as a share of what either does. Boxes whose ends are pixels,
    which are not ``normalized``, have both of them within."""
    one = 0.0 if normalized else 1.0
    shared: Any = 1.0
    for axis in (0, 1):
        nearer = np.minimum(a[:, None, axis + 2], b[None, :, axis + 2])
        shared = shared * np.maximum(nearer - np.maximum(a[:, None, axis], b[None, :, axis]) + one, 0)
    areas = [(each[:, 2] - each[:, 0] + one) * (each[:, 3] - each[:, 1] + one) for each in (a, b)]
    union = areas[0][:, None] + areas[1][None, :] - shared
    found: Array = np.divide(shared, union, out=np.zeros_like(shared), where=union != 0)
    return found


def matched(near: Array, least: float) -> Array:
    """Of each prior the number of its box, -1 for none. ``near``: (priors, boxes), how they overlap.

    Each box first has the prior that overlaps it most, the nearest pair before others; a prior that is left
    over then has the box that it overlaps most, if by ``least`` or more.
    """
    found, left = np.full(len(near), -1, np.int64), near.copy()
    for _ in range(near.shape[1]):
        prior, box = np.unravel_index(left.argmax(), left.shape)
        if left[prior, box] <= NOTHING:
            break
        found[prior] = box
        left[prior], left[:, box] = -1.0, -1.0
    if near.shape[1]:
        best = near.argmax(1)
        most = near[np.arange(len(near)), best]
        taken = (found < 0) & (most > NOTHING) & (most >= least)
        found[taken] = best[taken]
    return found


def encoded(boxes: Array, priors: Array, variances: Array) -> Array:
    """What says these boxes from their priors: how far off, and how much larger by its logarithm."""
    (middles, sizes), (centers, extents) = _spread(priors), _spread(boxes)
    moved, grown = (centers - middles) / sizes, np.log(np.abs(extents / sizes))
    found: Array = np.concatenate([moved, grown], 1) / variances
    return found


def decoded(offsets: Array, priors: Array, variances: Array) -> Array:
    """The boxes that offsets from priors say."""
    (middles, sizes), scaled = _spread(priors), offsets * variances
    centers, half = scaled[:, :2] * sizes + middles, np.exp(scaled[:, 2:]) * sizes / 2
    return np.concatenate([centers - half, centers + half], 1)


def kept(boxes: Array, scores: Array, above: float, most: int, apart: float) -> Array:
    """The numbers of the best boxes, the best one first: scores are greater than ``above``, and no two of
    them overlap by more than ``apart``. Only the ``most`` best are looked at; 0 for all."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > above][: most or None]
    near, free, found = overlaps(boxes[order], boxes[order]) > apart, np.ones(len(order), bool), []
    for at in range(len(order)):
        if free[at]:
            found.append(order[at])
            free &= ~near[at]
    return np.array(found, np.int64)


def _spread(boxes: Array) -> tuple[Array, Array]:
    """Middles and sizes."""
    return (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
