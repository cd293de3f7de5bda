"""exp by a polynomial, because the compiler cannot vectorize calls of exp; and what is made of it.

A loop that calls these becomes one of vectors where its arrays lie apart, or are one by its own words. Where
the compiled code has to look first whether two are one, and they are, it goes number by number, which takes
ten times as long: so what works in place is given one array.

Guarantee: float32 results are within 2e-7 (relative) of exp, and within 3e-7 (absolute) of the logistic
function and of tanh; NaN stays NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels.kernel import kernel

FLOOR = np.float32(-64)
"""How far below the largest of a row the others count, in a softmax of any generation: so no share is 0, and
its logarithm is a number."""


@kernel(fastmath={"contract"})
def exponential(x: np.float32) -> Any:
    """exp(x) for x <= 88.

    exp(x) = 2**n * exp(f) with n the integer nearest to x / ln 2 and |f| <= ln 2 / 2. ln 2 is subtracted in
    two parts so that f keeps its low bits; the polynomial is the minimax one of the Cephes library.
    """
    to_integer = np.float32(1.5 * 2**23)  # adding it leaves no room for a fraction
    v = np.float32(-87) if x < np.float32(-87) else x  # e**-87 is about the least normal number
    n = (v * np.float32(1.44269504) + to_integer) - to_integer
    f = v - n * np.float32(0.693359375)
    f = f - n * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * f + np.float32(1.3981999507e-3)
    p = p * f + np.float32(8.3334519073e-3)
    p = p * f + np.float32(4.1665795894e-2)
    p = p * f + np.float32(1.6666665459e-1)
    p = p * f + np.float32(5.0000001201e-1)
    p = p * (f * f) + f + np.float32(1)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel
def sigmoid(x: np.float32) -> Any:
    """1 / (1 + exp(-x))."""
    v = np.float32(87) if -x > np.float32(87) else -x
    return np.float32(1) / (np.float32(1) + exponential(v))


@kernel
def tanh(x: np.float32) -> Any:
    """2 / (1 + exp(-2x)) - 1."""
    return np.float32(2) * sigmoid(np.float32(2) * x) - np.float32(1)


@kernel
def exponentials(x: np.ndarray, edge: np.float32, out: np.ndarray) -> None:
    """out = exp(x - edge) for x <= edge + 88, and exp(FLOOR) for what lies deeper."""
    for j in range(x.shape[0]):
        v = x[j] - edge
        out[j] = exponential(FLOOR if v < FLOOR else v)


@kernel
def sigmoids(x: np.ndarray) -> None:
    """x = sigmoid(x)."""
    for j in range(x.shape[0]):
        x[j] = sigmoid(x[j])


@kernel
def tanhs(x: np.ndarray) -> None:
    """x = tanh(x)."""
    for j in range(x.shape[0]):
        x[j] = tanh(x[j])
