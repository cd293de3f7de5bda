"""exp of a row, by a polynomial, because the compiler cannot vectorize calls of exp; and what is made of it.

Guarantee: float32 results are within 2e-7 (relative) of exp, and within 3e-7 (absolute) of the logistic
function and of tanh; NaN stays NaN.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel


@kernel(fastmath={"contract"})
def exponentials(x: np.ndarray, edge: np.float32, out: np.ndarray) -> None:
    """out = exp(x - edge) for x <= edge + 88.

    exp(v) = 2**n * exp(f) with n the integer nearest to v / ln 2 and |f| <= ln 2 / 2. ln 2 is subtracted in
    two parts so that f keeps its low bits; the polynomial is the minimax one of the Cephes library.
    """
    to_integer = np.float32(1.5 * 2**23)  # adding it leaves no room for a fraction
    for j in range(x.shape[0]):
        v = x[j] - edge
        if v < np.float32(-87):  # e**-87 is about the least normal number
            v = np.float32(-87)
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
        out[j] = p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel
def logistics(x: np.ndarray, steepness: np.float32, out: np.ndarray) -> None:
    """out = 1 / (1 + exp(-steepness * x)). In place is fine."""
    for j in range(x.shape[0]):
        v = -steepness * x[j]
        out[j] = np.float32(87) if v > np.float32(87) else v
    exponentials(out, np.float32(0), out)
    for j in range(x.shape[0]):
        out[j] = np.float32(1) / (np.float32(1) + out[j])


@kernel
def tangents(x: np.ndarray, out: np.ndarray) -> None:
    """out = tanh(x) = 2 / (1 + exp(-2x)) - 1. In place is fine."""
    logistics(x, np.float32(2), out)
    for j in range(x.shape[0]):
        out[j] = np.float32(2) * out[j] - np.float32(1)
