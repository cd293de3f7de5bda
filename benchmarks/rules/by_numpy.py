"""The rules as an expert writes them in plain numpy: in place, in blocks that stay in cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from math import sqrt
from typing import Any

import numpy as np

from benchmarks.rules.data import gradient, start, updating
from benchmarks.worker import Work

_BLOCK = 1 << 14
_A, _B = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)

Block = Callable[..., None]


def prepare(settings: Mapping[str, Any]) -> Work:
    """The rule of ``settings`` on values of its own."""
    values, slope = start(settings["floats"]), gradient(settings["floats"])
    state = [np.zeros_like(values) for _ in range(settings["state"])]
    block, rate, steps = _BLOCKS[settings["rule"]], np.float32(settings["learning_rate"]), count(1)

    def step() -> None:
        t = next(steps)
        for at in range(0, values.size, _BLOCK):
            part = slice(at, at + _BLOCK)
            w = values[part]
            block(_A[: w.size], _B[: w.size], w, slope[part], *(each[part] for each in state), rate, t)

    return updating(step, lambda: values, values.copy())


def _sgd(a: np.ndarray, b: np.ndarray, w: np.ndarray, g: np.ndarray, rate: np.float32, t: int) -> None:
    np.multiply(g, rate, out=a)
    w -= a


def _momentum(
    a: np.ndarray, b: np.ndarray, w: np.ndarray, g: np.ndarray, v: np.ndarray, rate: np.float32, t: int
) -> None:
    v *= np.float32(0.9)
    np.multiply(g, rate, out=a)
    v -= a
    w += v


def _adagrad(
    a: np.ndarray, b: np.ndarray, w: np.ndarray, g: np.ndarray, s: np.ndarray, rate: np.float32, t: int
) -> None:
    np.multiply(g, g, out=a)
    s += a
    np.add(s, np.float32(1e-6), out=a)
    np.sqrt(a, out=a)
    np.multiply(g, rate, out=b)
    b /= a
    w -= b


def _adam(
    a: np.ndarray,
    b: np.ndarray,
    w: np.ndarray,
    g: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    rate: np.float32,
    t: int,
) -> None:
    m *= np.float32(0.9)
    np.multiply(g, np.float32(0.1), out=a)
    m += a
    v *= np.float32(0.999)
    np.multiply(g, g, out=a)
    a *= np.float32(0.001)
    v += a
    np.sqrt(v, out=a)
    a += np.float32(1e-8)
    np.multiply(m, np.float32(rate * sqrt(1 - 0.999**t) / (1 - 0.9**t)), out=b)
    b /= a
    w -= b


_BLOCKS: dict[str, Block] = {"sgd": _sgd, "momentum": _momentum, "adagrad": _adagrad, "adam": _adam}
