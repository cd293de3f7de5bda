"""First values of rows as a function of a key and the row's id alone, whatever was made before.

A counter-based generator: number j of row id is ``scrambled(start + j * GOLDEN)``, the sequence of SplitMix64
from a start that mixes key and id. Normal values come through the inverse of the normal distribution, so that
one number gives one value, and a truncated normal is the same with the tails left out.

It must never know a table. Guarantee: the same key, id and width give the same float32 values in every
process and in any order.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from paddle._engine.kernels.cells import scrambled
from paddle._engine.kernels.kernel import kernel

Array = np.ndarray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TOP = np.uint64(40)
_STEP = np.float32(2**-24)
_TAIL = 0.02425


@kernel
def uniform(key: int, ids: Array, low: np.float32, span: np.float32, out: Array) -> None:
    """``out[i]``: uniform in [low, low + span)."""
    for i in range(ids.shape[0]):
        start = scrambled(np.uint64(ids[i]) + GOLDEN) ^ key
        for j in range(out.shape[1]):
            number = scrambled(start + np.uint64(j + 1) * GOLDEN) >> _TOP
            out[i, j] = np.float32(number) * _STEP * span + low


@kernel
def normal(key: int, ids: Array, mean: float, std: float, tail: float, out: Array) -> None:
    """``out[i]``: normal with that mean and deviation, without the ``tail`` of this probability on either
    side."""
    for i in range(ids.shape[0]):
        start = scrambled(np.uint64(ids[i]) + GOLDEN) ^ key
        for j in range(out.shape[1]):
            number = scrambled(start + np.uint64(j + 1) * GOLDEN) >> _TOP
            share = (np.float64(number) + 0.5) * 2.0**-24
            out[i, j] = np.float32(mean + std * quantile(tail + share * (1.0 - 2.0 * tail)))


@kernel
def quantile(p: np.float64) -> Any:
    """Where the standard normal distribution reaches ``p``, to 1.2e-9 of it (Acklam's rational
    approximation)."""
    if p > 1.0 - _TAIL:
        return -_below(1.0 - p)
    if p < _TAIL:
        return _below(p)
    q = p - 0.5
    r = q * q
    above = -3.969683028665376e01 * r + 2.209460984245205e02
    above = (above * r - 2.759285104469687e02) * r + 1.383577518672690e02
    above = (above * r - 3.066479806614716e01) * r + 2.506628277459239e00
    under = -5.447609879822406e01 * r + 1.615858368580409e02
    under = (under * r - 1.556989798598866e02) * r + 6.680131188771972e01
    under = (under * r - 1.328068155288572e01) * r + 1.0
    return q * above / under


@kernel
def _below(p: np.float64) -> Any:
    q = sqrt(-2.0 * log(p))
    above = -7.784894002430293e-03 * q - 3.223964580411365e-01
    above = (above * q - 2.400758277161838e00) * q - 2.549732539343734e00
    above = (above * q + 4.374664141464968e00) * q + 2.938163982698783e00
    under = 7.784695709041462e-03 * q + 3.224671290700398e-01
    under = (under * q + 2.445134137142996e00) * q + 3.754408661907416e00
    return above / (under * q + 1.0)
