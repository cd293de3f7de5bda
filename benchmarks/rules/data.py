"""What all contenders of ``rules`` update, and how they are held to be right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.worker import Work

_PIECE = 1 << 18
_STEPS_TO_ANSWER = 3


def start(floats: int) -> np.ndarray:
    """The first values."""
    return _normal(floats, seed=1)


def gradient(floats: int) -> np.ndarray:
    """The gradient of every step."""
    return _normal(floats, seed=2)


def _normal(floats: int, seed: int) -> np.ndarray:
    """Normal numbers: one piece of them, over and over."""
    return np.resize(np.random.default_rng(seed).standard_normal(_PIECE, np.float32), floats)


def updating(step: Callable[[], object], moved: Callable[[], np.ndarray], first: np.ndarray) -> Work:
    """``step`` updates once; ``moved`` are the values. The answer: the mean way of the first steps."""
    for _ in range(_STEPS_TO_ANSWER):
        step()
    answer = float(np.mean(np.abs(moved() - first), dtype=np.float64))

    def run(count: int) -> None:
        for _ in range(count):
            step()

    return Work(run, answer)
