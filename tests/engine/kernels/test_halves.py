"""Kernels of 16-bit numbers against their numpy twins, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paddle._engine.kernels.halves import (
    from_bfloat16,
    from_float16,
    round_bfloat16,
    to_bfloat16,
    to_float16,
)

from ..wire_twins import bfloat16_twin, float16_twin, narrow

BITS = st.lists(st.integers(0, 2**32 - 1), max_size=40)
ANY = st.lists(st.floats(width=32), max_size=40)
NEAR = st.lists(st.floats(-4, 4, width=32), max_size=40)


def floats(values: list[float]) -> np.ndarray:
    return np.array(values, np.float32)


def of_bits(bits: list[int]) -> np.ndarray:
    return np.array(bits, np.uint32).view(np.float32)


def encoded(kernel: object, values: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    left, out = residual.copy(), np.empty(len(values), np.uint16)
    return out, left, kernel(values, left, out) or 0  # type: ignore[operator]


def decoded(name: str, halves: np.ndarray, exponent: int) -> np.ndarray:
    out = np.empty(len(halves), np.float32)
    if name == "bfloat16":
        from_bfloat16(halves, out)
    else:
        from_float16(halves, exponent, out)
    return out


KERNELS = {"bfloat16": (to_bfloat16, bfloat16_twin), "float16": (to_float16, float16_twin)}
# The halfway points and their neighbours, the ends of every range, both zeros, and what is not a number.
POSITIVE = [
    0, 1, 0x8000, 0x8001, 0x18000, 0x7FFF, 0x00800000, 0x007FFFFF, 0x3F800000, 0x3F808000, 0x3F818000,
    0x3F801000, 0x3F803000, 0x3F800FFF, 0x3F801001, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000,
    0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x33000000, 0x33000001, 0x32FFFFFF, 0x38800000, 0x387FFFFF,
    0x47800000,
]  # fmt: skip
INTERESTING = of_bits([*POSITIVE, *(0x80000000 | each for each in POSITIVE)])


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=200, deadline=None)
@example(INTERESTING)
@example(of_bits([0x7F7FF000, 0xFF7FFFFF, 0x7F7FEFFF, 0x7F7FE000]))
@example(INTERESTING[np.isfinite(INTERESTING) & (abs(INTERESTING) < 8)])
@given(st.one_of(ANY.map(floats), NEAR.map(floats), BITS.map(of_bits)))
def test_encoding_equals_its_twin(name: str, values: np.ndarray) -> None:
    residual = np.roll(values, 1)[::-1].copy()
    residual[np.isnan(values) & np.isnan(residual)] = 0  # of two that are no numbers the sum may be either
    for before in (np.zeros_like(values), residual):
        check_twin(name, values, before)


def check_twin(name: str, values: np.ndarray, residual: np.ndarray) -> None:
    kernel, twin = KERNELS[name]
    halves, left, exponent = encoded(kernel, values, residual)
    expected, expected_left, expected_exponent = twin(values, residual)
    assert exponent == expected_exponent
    assert halves.tolist() == expected.tolist()
    assert left.tobytes() == expected_left.tobytes()


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), max_size=40))
def test_what_is_cut_off_stays_behind_exactly(name: str, pairs: list[tuple[float, float]]) -> None:
    values, residual = (floats([pair[side] for pair in pairs]) for side in range(2))
    with np.errstate(all="ignore"):
        total = values + residual
    halves, left, exponent = encoded(KERNELS[name][0], values, residual)
    back = decoded(name, halves, exponent)
    finite = np.isfinite(total)
    assert np.array_equal(np.isfinite(back), finite)
    assert np.array_equal(np.isnan(back), np.isnan(total))
    exact = total[finite].astype(np.float64) - back[finite].astype(np.float64)
    assert np.array_equal(left[finite].astype(np.float64), exact)
    assert not left[~finite].any()


@pytest.mark.parametrize("name", KERNELS)
def test_every_16_bit_number_is_decoded_as_its_twin_and_encoded_back(name: str) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        twin = (
            (halves.astype(np.uint32) << 16).view(np.float32)
            if name == "bfloat16"
            else halves.view(np.float16).astype(np.float32)
        )
    values = decoded(name, halves, 0)
    numbers = ~np.isnan(twin)
    assert np.array_equal(np.isnan(values), ~numbers)
    assert values[numbers].tobytes() == twin[numbers].tobytes()
    values = values[~(abs(values) >= 2**15)] if name == "float16" else values  # all with the exponent 0
    again, left, exponent = encoded(KERNELS[name][0], values, np.zeros_like(values))
    assert not left.any()
    assert np.array_equal(decoded(name, again, exponent), values, equal_nan=True)


@pytest.mark.parametrize("exponent", [-102, -3, 0, 7, 113])
def test_an_exponent_only_moves_the_point(exponent: int) -> None:
    values = floats([1, -1.5, 0.333, 2**-14, 2**-20])
    scaled = np.ldexp(values, exponent).astype(np.float32)
    plain, _, own = encoded(to_float16, values, np.zeros_like(values))
    moved, _, other = encoded(to_float16, scaled, np.zeros_like(values))
    assert moved.tolist() == plain.tolist() or exponent == -102
    assert other == max(own + exponent, -102)


def test_a_small_gradient_gets_through_in_the_end() -> None:
    """Of a value 2^-42 times the largest nothing is sent at first; together with what stayed behind it is."""
    values, residual = floats([1, 2.0**-42]), np.zeros(2, np.float32)
    sent = np.zeros(2)
    for _ in range(64):
        halves, residual, exponent = encoded(to_float16, values, residual)
        sent += decoded("float16", halves, exponent)
    assert sent[0] == 64
    assert sent[1] + residual[1] == 64 * 2.0**-42 and abs(residual[1]) <= 2.0**-39


def test_narrow_is_numpys_own_rounding() -> None:
    values = INTERESTING[np.isfinite(INTERESTING) & (abs(INTERESTING) < 65000)]
    assert narrow(values).tolist() == values.astype(np.float16).view(np.uint16).tolist()


@settings(max_examples=100, deadline=None)
@example(INTERESTING)
@given(st.one_of(ANY.map(floats), BITS.map(of_bits)))
def test_rounding_alone_is_the_same_rounding(values: np.ndarray) -> None:
    out = np.empty(len(values), np.uint16)
    round_bfloat16(values, out)
    minus_zero = (values == 0) & np.signbit(values)  # a sum with a residual is none
    same = bfloat16_twin(values, np.zeros_like(values))[0]
    assert out.tolist() == np.where(minus_zero, 0x8000, same).tolist()
