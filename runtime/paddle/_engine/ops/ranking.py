"""Ranking: the rows of a sequence are to stand in the order of their scores.

The gain of an order is the sum of (2**score - 1) / log(place + 2) over its first places, from 0 on. What
``lambda_rank`` gives each row is the share of its sequence's best gain that the order has, 1 at most, so it
rises with training. That has no slope, as it changes only where two rows change places: what comes back
pulls each two rows apart by as much as the gain changes when they change places.

Source of the semantics: v2's ``lambda_cost``. A sequence without a score above 0 has a share and slopes of 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Runs, Steps


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, score = shapes.matrix(forms, "X"), shapes.matrix(forms, "Score")
    shapes.integers(forms, "Offsets")
    if x.shape[1] != 1 or score.shape[1] != 1 or not shapes.agree(x.shape[0], score.shape[0]):
        raise ShapeError(f"X and Score are columns, not {list(x.shape)} and {list(score.shape)}")
    if forms.attrs["ndcg_num"] < 1:
        raise ShapeError(f"ndcg_num is 1 or more, not {forms.attrs['ndcg_num']}")
    return {"Out": x}


class _Lists:
    """The sequences of one call, each with its best gain."""

    def __init__(self, call: Call) -> None:
        self._offsets, self._top = call["Offsets"], call.attrs["ndcg_num"]
        self._score = call["Score"].reshape(-1)

    def __iter__(self) -> Iterator[tuple[slice, np.ndarray, float]]:
        """Where each one is, what its rows gain, and how much that can be at best."""
        for first, end in pairwise(self._offsets.tolist()):
            gains = np.exp2(self._score[first:end].astype(np.float64)) - 1
            yield slice(first, end), gains, self.gain(gains, -gains)

    def gain(self, gains: np.ndarray, keys: np.ndarray) -> float:
        """Of rows in the order of their keys."""
        best = gains[np.argsort(keys, kind="stable")[: self._top]]
        return float(best @ _shares(len(best)))


def _shares(count: int) -> np.ndarray:
    """What a gain in each place is worth."""
    worth: np.ndarray = 1 / np.log(np.arange(2, count + 2))
    return worth


def _rank(call: Call) -> Steps:
    lists, x, out = _Lists(call), call["X"].reshape(-1), call["Out"].reshape(-1)

    def share() -> None:
        for run, gains, best in lists:
            out[run] = lists.gain(gains, -x[run]) / best if best > 0 else 0

    yield share


def _rank_gradient(call: Call) -> Steps:
    lists, given, placed = _Lists(call), call["Out@GRAD"].reshape(-1), call.attrs["max_sort_size"]
    x, dx = call["X"].reshape(-1), call["X@GRAD"].reshape(-1)

    def pull() -> None:
        dx.fill(0)
        for run, gains, best in lists:
            if best > 0:
                dx[run] = given[run] * _pulls(x[run], gains, placed) / best

    yield pull


def _pulls(numbers: np.ndarray, gains: np.ndarray, placed: int) -> np.ndarray:
    """Which way each number goes; the first ``placed`` of the best order have a place, all if less than 0."""
    order = np.argsort(-gains, kind="stable")
    shares, known = _shares(len(order)), len(order) if placed < 0 else min(placed, len(order))
    shares[known:] = 0
    apart = np.abs(np.subtract.outer(gains[order], gains[order]) * np.subtract.outer(shares, shares))
    ahead = np.subtract.outer(numbers[order], numbers[order]).astype(np.float64)
    forces = np.triu(apart / (1 + np.exp(ahead)), 1)
    pulls = np.empty(len(order))
    pulls[order] = forces.sum(0) - forces.sum(1)
    return pulls


ROWS = (
    Row(
        type="lambda_rank",
        inputs=("X", "Score", "Offsets"),
        attrs={"ndcg_num": 5, "max_sort_size": -1},
        shape=_shape,
        forward=Kernel(_rank),
        gradient=Gradient(_rank_gradient, needs=("X", "Score", "Offsets")),
        runs=(Runs("Offsets", of="X"),),
    ),
)
