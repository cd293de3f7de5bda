"""Largest: those few of many values that are largest in magnitude, taken out; the others stay behind.

It must never know what the values mean. Guarantee: exactly the ``count`` largest are taken, of equal ones
those that come first; what is not a number counts as larger than an infinity, and zeros are left. The same
values give the same choice, in however many parts they are needed afterwards.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

_REST = np.uint32(0x7FFFFFFF)
# The 31 bits of a magnitude, which are ordered as magnitudes are, in three digits.
_DIGITS = ((20, 11), (9, 11), (0, 9))


@kernel
def take_largest(
    values: np.ndarray, residual: np.ndarray, count: int, index: np.ndarray, taken: np.ndarray
) -> int:
    """Add ``values`` to ``residual`` (both float32, flat) and take the ``count`` largest out of it.

    ``index`` (int64) and ``taken`` (float32), with room for ``count``, get where they stood, ascending, and
    what they were. Returns how many they are; fewer where the rest are zeros.
    """
    for i in range(values.shape[0]):
        residual[i] += values[i]
    least, equals = _least_taken(residual, count)
    found = 0
    for i in range(residual.shape[0]):
        size = np.float32(residual[i]).view(np.uint32) & _REST
        if size < least or size == np.uint32(0):
            continue
        if size == least:
            if equals == 0:
                continue
            equals -= 1
        index[found] = i
        taken[found] = residual[i]
        residual[i] = np.float32(0)
        found += 1
    return found


@kernel
def put(index: np.ndarray, taken: np.ndarray, out: np.ndarray) -> bool:
    """``out`` becomes ``taken`` (float32) at ``index`` (uint32), and zero elsewhere.

    Returns False where ``index`` is not ascending or leaves ``out``, of which part is written then.
    """
    out[:] = np.float32(0)
    after = 0
    for k in range(index.shape[0]):
        at = np.int64(index[k])
        if at < after or at >= out.shape[0]:
            return False
        out[at] = taken[k]
        after = int(at) + 1
    return True


@kernel
def _least_taken(values: np.ndarray, count: int) -> tuple[np.uint32, int]:
    """The smallest magnitude, as bits, that is among the ``count`` largest, and how many of just this size
    are. Digit by digit, each counted among those that begin alike."""
    begin, missing = np.uint32(0), count
    for shift, width in _DIGITS:
        counts = np.zeros(1 << width, np.int64)
        above = np.uint32(shift + width)
        for i in range(values.shape[0]):
            size = np.float32(values[i]).view(np.uint32) & _REST
            if size >> above == begin:
                counts[(size >> np.uint32(shift)) & np.uint32((1 << width) - 1)] += 1
        digit = (1 << width) - 1
        while digit > 0 and counts[digit] < missing:
            missing -= int(counts[digit])
            digit -= 1
        begin = np.uint32((begin << np.uint32(width)) | np.uint32(digit))
    return begin, missing
