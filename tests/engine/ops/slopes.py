"""Gradients that are not the slope of what is computed, as central differences would find it: with twins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from .attribute_operators import SCORES, X, bent
from .book_operators import COLUMN, CTC, RANKED, RUNS

Array = np.ndarray
RNG = np.random.default_rng(71)
BIAS, INDEX = RNG.normal(size=(1, 4)), np.array([4, 0, 4])
UPDATES = RNG.normal(size=(3, 4))


@dataclass(frozen=True)
class Slope:
    """An operator, and what numpy says of its gradients, from that of its first output."""

    type: str
    inputs: dict[str, Array]
    twin: Callable[[Array], dict[str, Array]]
    attrs: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.type}{self.attrs or ''}"


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def within(given: Array, x: Array, least: float, most: float) -> Array:
    """The slope of the sigmoid at what it gives, also where that stays as it is."""
    out = sigmoid(np.clip(x, least, most))
    return given * out * (1 - out)


def pulled(given: Array, placed: int = 5, counted: int = 5) -> Array:
    """Each two rows of a sequence are pulled apart, by the share of its best gain, of so many places as are
    counted, that the gain changes by if they change places."""
    out = np.zeros((5, 1))
    for run in RUNS:
        gains = {k: 2.0 ** RANKED["Score"][k, 0] - 1 for k in run}
        order = sorted(run, key=lambda k: -gains[k])
        worth = {k: 1 / np.log(2 + at) if at < placed else 0.0 for at, k in enumerate(order)}
        best = sum(gains[k] / np.log(2 + at) for at, k in enumerate(order[:counted]))
        for at, better in enumerate(order):
            for worse in order[at + 1 :]:
                change = abs((gains[better] - gains[worse]) * (worth[better] - worth[worse]))
                force = change / (1 + np.exp(COLUMN[better, 0] - COLUMN[worse, 0])) / (best or 1)
                out[better] -= force * given[better]
                out[worse] += force * given[worse]
    return out


def aligned(given: Array) -> Array:
    """The slope of each sequence's cost over the number of its rows: of logarithms, by small steps."""
    from paddle._engine.single import Single

    def costs(x: Array) -> Array:
        slots = {slot: [x if slot == "X" else each] for slot, each in CTC.items()}
        return Single("ctc", slots, {"blank": 2}).forward()["Out"][:, 0]

    out = np.zeros_like(CTC["X"])
    for at in np.ndindex(out.shape):
        step = np.zeros_like(out)
        step[at] = 1e-6
        out[at] = given[:, 0] @ (costs(CTC["X"] + step) - costs(CTC["X"] - step)) / 2e-6
    for first, end in pairwise(CTC["Offsets"]):
        out[first:end] /= max(end - first, 1)
    return out


def of_mish(given: Array, threshold: float) -> Array:
    """As the original's: what stands for log(1 + exp(x)) has the slope that it would have if it were that."""
    inner = bent(threshold)
    out = np.tanh(inner)
    return given * (out + X * (1 - out**2) * (1 - np.exp(-inner)))


def overwritten(given: Array) -> dict[str, Array]:
    kept = given.copy()
    kept[INDEX] = 0
    return {"X": kept, "Updates": given[INDEX]}


LIMITS = {"x_min": -0.4, "x_max": 0.6}
SLOPES = [
    Slope("sigmoid", {"X": X}, lambda given: {"X": within(given, X, -0.4, 0.6)}, LIMITS),
    Slope(
        "bias_activation",
        {"X": X, "Bias": BIAS},
        lambda given: {
            "X": within(given, X + BIAS, -0.4, 0.6),
            "Bias": within(given, X + BIAS, -0.4, 0.6).sum(0, keepdims=True),
        },
        {"act": "sigmoid", **LIMITS},
    ),
    *(
        Slope(
            "clip_error",
            {"X": X},
            lambda given, least=least, most=most: {"X": np.clip(given, least, most)},
            {"min": least, "max": most},
        )
        for least, most in ((-0.1, 0.3), (-0.5, 0.2))
    ),
    Slope("mish", {"X": X}, lambda given: {"X": of_mish(given, 0.5)}, {"threshold": 0.5}),
    Slope("ctc", CTC, lambda given: {"X": aligned(given)}, {"blank": 2, "norm_by_times": True}),
    Slope("lambda_rank", RANKED, lambda given: {"X": pulled(given)}),
    Slope("lambda_rank", RANKED, lambda given: {"X": pulled(given, counted=1)}, {"ndcg_num": 1}),
    Slope("lambda_rank", RANKED, lambda given: {"X": pulled(given, placed=2)}, {"max_sort_size": 2}),
    Slope(
        "of_batch",
        {"X": np.array([[0.7]]), "Like": SCORES},
        lambda given: {"X": given.mean(keepdims=True)},
    ),
    Slope("scatter", {"X": X, "Index": INDEX, "Updates": UPDATES}, overwritten),
]
