"""The exchange that all contenders do: give a gradient, get the parameters after one step of descent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LEARNING_RATE = 0.25
_EXCHANGES_TO_ANSWER = 3


def start(floats: int) -> np.ndarray:
    """First parameter values: small whole numbers, with which the arithmetic is exact."""
    return (np.arange(floats) % 7).astype(np.float32)


def gradient(floats: int) -> np.ndarray:
    """The gradient that every exchange gives."""
    return (np.arange(floats) % 5).astype(np.float32)


def answer(run: Callable[[int], None], values: np.ndarray) -> float:
    """The sum of the parameters after three exchanges: each must have gone, been applied and come back."""
    run(_EXCHANGES_TO_ANSWER)
    return float(values.sum(dtype=np.float64))
