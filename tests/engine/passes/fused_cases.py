"""Operators that only passes make: what each is of several others, written in numpy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .case import Case

RNG = np.random.default_rng(8)
X = RNG.normal(size=(5, 4))
BIAS = RNG.normal(size=(1, 4))
LABEL = RNG.integers(0, 4, size=(5, 1))
TABLE = RNG.normal(size=(6, 3))
IDS = np.array([[5], [0], [5], [2]])
POOLED = np.array([[5], [0], [5], [2], [5]])
OFFSETS = np.array([0, 2, 2, 5])  # the second sequence is empty
SHARES = {"sum": lambda n: 1, "average": lambda n: 1 / max(n, 1), "sqrt": lambda n: 1 / max(n, 1) ** 0.5}
ACTIVATIONS = {"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh, "relu": lambda x: x * (x > 0)}


def pooled(kind: str) -> np.ndarray:
    runs = [POOLED[start:end, 0] for start, end in pairwise(OFFSETS)]
    return np.stack([TABLE[run].sum(0) * SHARES[kind](len(run)) for run in runs])


def cut(axis: int, start: int, end: int) -> dict[str, Any]:
    return {"axes": (axis,), "starts": (start,), "ends": (end,), "steps": (), "clamps": False}


def cost() -> np.ndarray:
    z = X + BIAS
    return np.log(np.exp(z).sum(1, keepdims=True)) - np.take_along_axis(z, LABEL, 1)


FUSED = [
    *[
        Case(
            "lookup_beside",
            {"W": TABLE, "Ids": [IDS, IDS[::-1, 0]]},
            lambda: np.concatenate([TABLE[IDS[:, 0]], TABLE[IDS[::-1, 0]]], 1),
            {"is_sparse": is_sparse},
        )
        for is_sparse in (False, True)
    ],
    *[
        Case(
            "lookup_pool",
            {"W": TABLE, "Ids": POOLED, "Offsets": OFFSETS},
            lambda kind=kind: pooled(kind),
            {"is_sparse": is_sparse, "pooltype": kind},
        )
        for is_sparse in (False, True)
        for kind in SHARES
    ],
    *[
        Case("bias_activation", {"X": X, "Bias": bias}, lambda act=act: act(X + BIAS), {"act": name})
        for name, act in ACTIVATIONS.items()
        for bias in (BIAS, BIAS[0])
    ],
    *[
        Case("slices", {"X": X}, lambda: X[1:3], {"pieces": pieces})
        for pieces in (
            (cut(0, 1, 3), cut(0, 0, 1), cut(0, 3, 5)),  # all of it, once
            (cut(0, 1, 3), cut(0, 4, 5)),
            (cut(0, 1, 3), cut(0, 2, 5)),  # a row twice
            (cut(0, 1, 3), cut(1, 0, 2)),
        )
    ],
    Case("bias_softmax_cost", {"X": X, "Bias": BIAS, "Label": LABEL}, cost),
    Case("joint_mul", {"X": X, "Y": TABLE[:4]}, lambda: X @ TABLE[:4]),  # alone: by a team, see test_joint.py
]

FUSED_WRONG: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("lookup_beside", {"W": TABLE, "Ids": [IDS, IDS[:2]]}, {}, "one row of each side by side"),
    ("lookup_beside", {"W": TABLE, "Ids": [IDS, X]}, {}, "must be int64"),
    ("lookup_pool", {"W": TABLE, "Ids": POOLED, "Offsets": OFFSETS}, {"pooltype": "max"}, "sum, average or"),
    ("slices", {"X": X}, {"pieces": (cut(0, 1, 3), cut(0, 3, 6))}, "can be cut out of"),
    ("bias_activation", {"X": X, "Bias": X[:2]}, {"act": "tanh"}, "Bias is"),
    ("bias_activation", {"X": X, "Bias": BIAS}, {"act": "abs"}, "act is one of"),
    ("bias_softmax_cost", {"X": X, "Bias": BIAS[:, :3], "Label": LABEL}, {}, "Bias is"),
    ("descend", {"X": X, "Slope": X, "Param": X}, {}, "not a gradient of"),
]
