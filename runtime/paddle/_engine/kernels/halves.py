"""Halves: float32 values as numbers of 16 bits, and back; what is cut off stays behind in a residual.

bfloat16 has the range of float32 and 8 binary digits. float16 has 11 digits and a narrow range, so it comes
with an exponent for all values together, by which the largest of them is below 2^15: what is 2^40 times
smaller becomes zero.

It must never know what the values mean. Guarantee: with v = value + residual, in float32, a finite v is
rounded to the nearest number of its form, to an even one where two are as near, never to an infinity; and v
less that number is the new residual, without any rounding. A v that is infinite or not a number stays so, and
leaves no residual.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

# Parts of a float32, and of a float16, seen as whole numbers.
_SIGN, _REST, _INFINITE = np.uint32(0x80000000), np.uint32(0x7FFFFFFF), np.uint32(0x7F800000)
_HALF_SIGN, _HALF_REST, _HALF_INFINITE = np.uint32(0x8000), np.uint32(0x7FFF), np.uint32(0x7C00)
_ABOVE_BFLOAT16 = np.uint32(0x7F7F8000)  # from here on the nearest would be infinite
_LARGEST_BFLOAT16 = np.uint32(0x7F7F)
_QUIET = np.uint32(0x40)
_NORMAL = np.uint32(113 << 23)  # 2^-14, below which a float16 has fewer digits
_REBASE = np.uint32(112 << 23)  # between the exponents of the two forms
_HALF_ONE = np.float32(0.5)  # the last digit of a float32 of this size is that of the smallest float16
_SMALLEST = np.float32(2.0**-24)
_TOP_EXPONENT = 14
_BELOW_TOP = np.uint32(0x77FF)  # the last float16 below 2^15
_MOST_EXPONENT = 113
_LEAST_EXPONENT = -102  # any lower, and the smallest float16 would be below what a float32 holds in full


@kernel
def to_bfloat16(values: np.ndarray, residual: np.ndarray, out: np.ndarray) -> None:
    """``values`` float32, flat; ``residual`` as long, updated; ``out`` uint16, as long."""
    for i in range(values.shape[0]):
        value = np.float32(values[i] + residual[i])
        half = _upper(value)
        is_finite = (np.float32(value).view(np.uint32) & _REST) < _INFINITE
        back = np.uint32(half << np.uint32(16)).view(np.float32)
        out[i] = half
        residual[i] = value - back if is_finite else np.float32(0)


@kernel
def round_bfloat16(values: np.ndarray, out: np.ndarray) -> None:
    """The same where nothing stays behind."""
    for i in range(values.shape[0]):
        out[i] = _upper(values[i])


@kernel
def _upper(value: np.float32) -> np.uint32:
    """The bfloat16 that is nearest."""
    bits = np.float32(value).view(np.uint32)
    size = bits & _REST
    half = np.uint32((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))
    if size >= _ABOVE_BFLOAT16:
        sign = (bits >> np.uint32(16)) & _HALF_SIGN
        cut = (bits >> np.uint32(16)) | (_QUIET if size > _INFINITE else np.uint32(0))
        half = np.uint32(sign | _LARGEST_BFLOAT16 if size < _INFINITE else cut)
    return half


@kernel
def from_bfloat16(halves: np.ndarray, out: np.ndarray) -> None:
    """``halves`` uint16, flat; ``out`` float32, as long."""
    for i in range(halves.shape[0]):
        out[i] = np.uint32(np.uint32(halves[i]) << np.uint32(16)).view(np.float32)


@kernel
def to_float16(values: np.ndarray, residual: np.ndarray, out: np.ndarray) -> int:
    """As to_bfloat16; returns the exponent: ``out`` times 2 to its power are the values."""
    largest = np.uint32(0)
    for i in range(values.shape[0]):
        value = np.float32(values[i] + residual[i])
        residual[i] = value
        size = np.float32(value).view(np.uint32) & _REST
        largest = np.uint32(max(largest, size if size < _INFINITE else np.uint32(0)))
    exponent = max(int(largest >> np.uint32(23)) - 127 - _TOP_EXPONENT, _LEAST_EXPONENT) if largest else 0
    down, up = _power(-exponent), _power(exponent)
    limit = _BELOW_TOP if exponent == _MOST_EXPONENT else _HALF_INFINITE  # 2^15 times 2^113 would be infinite
    for i in range(values.shape[0]):
        value = residual[i]
        scaled = np.float32(value * down)
        bits = np.float32(scaled).view(np.uint32)
        size = bits & _REST
        odd = (size >> np.uint32(13)) & np.uint32(1)
        half = np.uint32((size - _REBASE + np.uint32(0xFFF) + odd) >> np.uint32(13))
        if size < _NORMAL:
            lifted = np.float32(abs(scaled) + _HALF_ONE)
            half = np.uint32(np.float32(lifted).view(np.uint32) - np.float32(_HALF_ONE).view(np.uint32))
        half = np.uint32(min(half, limit))
        if size >= _INFINITE:
            half = np.uint32(_HALF_INFINITE | (np.uint32(0x200) if size > _INFINITE else np.uint32(0)))
        half = np.uint32(half | ((bits >> np.uint32(16)) & _HALF_SIGN))
        out[i] = half
        residual[i] = value - _widened(half) * up if size < _INFINITE else np.float32(0)
    return exponent


@kernel
def from_float16(halves: np.ndarray, exponent: int, out: np.ndarray) -> None:
    """``halves`` uint16, flat; ``out`` float32, as long."""
    up = _power(exponent)
    for i in range(halves.shape[0]):
        out[i] = _widened(np.uint32(halves[i])) * up


@kernel
def _power(exponent: int) -> np.float32:
    """2 to this power, of which -126 to 127 are there."""
    return np.uint32((exponent + 127) << 23).view(np.float32)


@kernel
def _widened(half: np.uint32) -> np.float32:
    """A float16 as a float32; without a branch, so that it is done to many at once."""
    rest = np.uint32(half & _HALF_REST)
    bits = np.uint32((rest << np.uint32(13)) + _REBASE)
    if rest < np.uint32(0x400):
        bits = np.float32(np.float32(rest) * _SMALLEST).view(np.uint32)
    if rest >= _HALF_INFINITE:
        bits = np.uint32(_INFINITE | ((rest & np.uint32(0x3FF)) << np.uint32(13)))
    sign = np.uint32((half & _HALF_SIGN) << np.uint32(16))
    return np.uint32(bits | sign).view(np.float32)
