"""Cases of the operators behind the first generation's layers over sequences: with twins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4))
OFFSETS, OTHER_OFFSETS = np.array([0, 2, 2, 5]), np.array([0, 1, 3, 4])  # the second sequence is empty
RUNS = [slice(0, 2), slice(2, 2), slice(2, 5)]


def reduced(x: np.ndarray, by: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    return np.stack([by(x[run]) if len(x[run]) else np.zeros(x.shape[1]) for run in RUNS])


def padded(x: np.ndarray, run: slice, before: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Windows of three, from the row before, over one sequence."""
    rows = np.concatenate([before, x[run], behind])
    return np.concatenate([rows[p : p + len(x[run])] for p in range(3)], 1)


def windows(x: np.ndarray, before: np.ndarray, behind: np.ndarray) -> np.ndarray:
    return np.concatenate([padded(x, run, before, behind) for run in RUNS if len(x[run])])


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


FIRST_SEQUENCES = [
    Case("sequence_pool", {"X": X, "Offsets": OFFSETS}, lambda: reduced(X, lambda x: x.mean(0))),
    Case(
        "sequence_pool",
        {"X": X, "Offsets": OFFSETS},
        lambda: reduced(X, lambda x: x.sum(0)),
        {"pooltype": "sum"},
    ),
    Case(
        "sequence_pool",
        {"X": X, "Offsets": OFFSETS},
        lambda: reduced(X, lambda x: x.sum(0) / len(x) ** 0.5),
        {"pooltype": "sqrt"},
    ),
    Case("sequence_max", {"X": X, "Offsets": OFFSETS}, lambda: reduced(X, lambda x: x.max(0))),
    Case("sequence_end", {"X": X, "Offsets": OFFSETS}, lambda: reduced(X, lambda x: x[-1])),
    Case(
        "sequence_end", {"X": X, "Offsets": OFFSETS}, lambda: reduced(X, lambda x: x[0]), {"which": "first"}
    ),
    Case(
        "sequence_expand",
        {"X": X[:3], "Offsets": OFFSETS, "Like": X},
        lambda: X[[0, 0, 2, 2, 2]],
    ),
    Case("sequence_reverse", {"X": X, "Offsets": OFFSETS}, lambda: X[[1, 0, 4, 3, 2]]),
    Case(
        "sequence_softmax",
        {"X": X[:, :1], "Offsets": OFFSETS},
        lambda: np.concatenate([softmax(X[run, 0]) for run in RUNS if len(X[run])])[:, None],
    ),
    Case(
        "sequence_concat",
        {"X": X, "Offsets": OFFSETS, "Y": Y[:4], "YOffsets": OTHER_OFFSETS},
        lambda: np.concatenate([X[:2], Y[:1], Y[1:3], X[2:], Y[3:4]]),
    ),
    Case(
        "sequence_window",
        {"X": X, "Offsets": OFFSETS},
        lambda: windows(X, np.zeros((1, 4)), np.zeros((1, 4))),
        {"start": -1, "length": 3},
    ),
    Case(
        "sequence_window_padded",
        {"X": X, "Offsets": OFFSETS, "Padding": Y[:2]},
        lambda: windows(X, Y[:1], Y[1:2]),
        {"start": -1, "length": 3},
    ),
]

FIRST_SEQUENCE_OTHERS = [
    Case("sequence_merge", {"X": OFFSETS, "Outer": np.array([0, 1, 3])}, lambda: np.array([0, 2, 5])),
]
