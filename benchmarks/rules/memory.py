"""The limit: a loop that reads and writes the arrays that a rule does, one multiplication and addition each.

It computes no rule, so it has no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from benchmarks.rules.data import gradient, start
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """As many arrays of state as the rule of ``settings`` has."""
    values, slope = start(settings["floats"]), gradient(settings["floats"])
    state = [np.zeros_like(values) for _ in range(settings["state"])]
    arrays, pass_over = (values, slope, *state), _PASSES[settings["state"]]

    def run(count: int) -> None:
        for _ in range(count):
            pass_over(*arrays, np.float32(1e-6))

    return Work(run, answer=None)


@njit(cache=True, error_model="numpy")
def _over_two(w: np.ndarray, g: np.ndarray, scale: np.float32) -> None:
    for i in range(w.shape[0]):
        w[i] += scale * g[i]


@njit(cache=True, error_model="numpy")
def _over_three(w: np.ndarray, g: np.ndarray, s: np.ndarray, scale: np.float32) -> None:
    for i in range(w.shape[0]):
        x = scale * g[i]
        w[i] += x
        s[i] += x


@njit(cache=True, error_model="numpy")
def _over_four(w: np.ndarray, g: np.ndarray, s: np.ndarray, t: np.ndarray, scale: np.float32) -> None:
    for i in range(w.shape[0]):
        x = scale * g[i]
        w[i] += x
        s[i] += x
        t[i] += x


_PASSES = (_over_two, _over_three, _over_four)
