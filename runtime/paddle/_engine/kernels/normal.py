"""The error function, of which the share of a normal distribution below a number is made: numpy has none.

Guarantee: as exact as the C library's, in the dtype of what it is given.
"""

from __future__ import annotations

from math import erf

import numpy as np

from paddle._engine.kernels.kernel import kernel


@kernel
def error_function(x: np.ndarray, out: np.ndarray) -> None:
    """``out`` of each element of ``x``, both flat."""
    for i in range(x.shape[0]):
        out[i] = erf(x[i])


def numpy_error_function(x: np.ndarray, out: np.ndarray) -> None:
    """Its twin."""
    out[:] = [erf(each) for each in x.tolist()]
