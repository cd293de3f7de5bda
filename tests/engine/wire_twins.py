"""What travels in place of a gradient, in plain numpy: the twins of the kernels, and of what becomes of them.

Written from what docs/wire.md says, without the kernels' tricks: numbers are compared with all their
neighbours' midpoints by numpy's own casts or in float64.
"""

from __future__ import annotations

from math import ceil

import numpy as np


def narrow(values: np.ndarray) -> np.ndarray:
    """Float16 numbers as bits, each value rounded as numpy does; what is not a number is one of them."""
    with np.errstate(over="ignore"):
        halves = values.astype(np.float16)
    bits = halves.view(np.uint16)
    sign = np.signbit(values).astype(np.uint16) << 15
    return np.where(np.isnan(values), np.uint16(0x7E00) | sign, bits).astype(np.uint16)


def bfloat16_twin(values: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """What is sent, what stays, and the exponent."""
    with np.errstate(all="ignore"):
        total = values + residual
    bits = total.view(np.uint32)
    below = (bits >> 16).astype(np.uint32)
    above = np.minimum(below + 1, 0xFFFF).astype(np.uint32)
    with np.errstate(all="ignore"):
        low, high = ((one << 16).view(np.float32).astype(np.float64) for one in (below, above))
        exact = total.astype(np.float64)
        to_low, to_high = abs(exact - low), abs(high - exact)
        up = (to_high < to_low) | ((to_high == to_low) & (below % 2 == 1))
    up &= np.isfinite(high)  # never to an infinity
    sent = np.where(up, above, below)
    sent = np.where(np.isnan(total), below | 0x40, sent).astype(np.uint32)
    sent = np.where(np.isinf(total), below, sent).astype(np.uint32)
    back = (sent << 16).view(np.float32)
    return sent.astype(np.uint16), _left(total, back), 0


def float16_twin(values: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The same."""
    with np.errstate(all="ignore"):
        total = values + residual
    finite = abs(total[np.isfinite(total)])
    largest = float(finite.max()) if len(finite) else 0.0
    exponent = 0 if not largest else max(int(np.frexp(largest)[1]) - 1 - 14, -102)
    with np.errstate(all="ignore"):
        sent = narrow(np.ldexp(total, -exponent).astype(np.float32))
        if exponent == 113:  # rounded up from just below 2^128 it would not be a float32 any more
            sent = np.where(np.isfinite(total) & (sent & 0x7FFF == 0x7800), sent - 1, sent).astype(np.uint16)
        back = np.ldexp(sent.view(np.float16).astype(np.float64), exponent).astype(np.float32)
    return sent, _left(total, back), exponent


def largest_twin(
    values: np.ndarray, residual: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places and values of those that are sent, and what stays."""
    with np.errstate(all="ignore"):
        total = values + residual
    size = (total.view(np.uint32) & 0x7FFFFFFF).astype(np.int64)
    places = np.sort(np.argsort(-size, kind="stable")[:count])
    places = places[size[places] > 0]
    left = total.copy()
    left[places] = 0
    return places, total[places], left


def _left(total: np.ndarray, back: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(total), total - back, np.float32(0)).astype(np.float32)


class Twin:
    """A trainer's encoder, and what a shard has of it: gradients in, gradients out."""

    def __init__(self, name: str, share: float = 0.01) -> None:
        self.name, self.share = name, share
        self.residuals: dict[str, np.ndarray] = {}

    def dense(self, name: str, gradient: np.ndarray) -> np.ndarray:
        """What of a dense parameter's gradient arrives."""
        flat = gradient.reshape(-1)
        if self.name == "float32" or (self.name == "topk" and flat.size <= 1024):
            return gradient
        residual = self.residuals.setdefault(name, np.zeros_like(flat))
        if self.name == "topk":
            places, values, self.residuals[name] = largest_twin(flat, residual, ceil(self.share * flat.size))
            arrives = np.zeros_like(flat)
            arrives[places] = values
            return arrives.reshape(gradient.shape)
        arrives, self.residuals[name] = self._halved(flat, residual)
        return arrives.reshape(gradient.shape)

    def rows(self, values: np.ndarray) -> np.ndarray:
        """What of merged gradient rows arrives."""
        if self.name in ("float32", "topk"):
            return values
        flat = values.reshape(-1)
        return self._halved(flat, np.zeros_like(flat))[0].reshape(values.shape)

    def _halved(self, flat: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.name == "bfloat16":
            sent, left, _ = bfloat16_twin(flat, residual)
            return (sent.astype(np.uint32) << 16).view(np.float32), left
        sent, left, exponent = float16_twin(flat, residual)
        wide = sent.view(np.float16).astype(np.float64)
        return np.ldexp(wide, exponent).astype(np.float32), left
