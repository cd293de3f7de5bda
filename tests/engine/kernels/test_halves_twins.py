"""What travels in place of float32 numbers against its twins, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels import halves, largest
from tests.engine.kernels.case import Case, Draw, chance, filled, generator, held, integer, normal
from tests.engine.kernels.test_halves import INTERESTING
from tests.engine.wire_twins import bfloat16_twin, float16_twin, largest_twin

Array = np.ndarray


def to_bfloat16(values: Array, residual: Array, out: Array) -> None:
    out[:], residual[:], _ = bfloat16_twin(values, residual)


def round_bfloat16(values: Array, out: Array) -> None:
    minus_zero = (values == 0) & np.signbit(values)  # a sum with a residual is none
    out[:] = np.where(minus_zero, 0x8000, bfloat16_twin(values, np.zeros_like(values))[0])


def from_bfloat16(given: Array, out: Array) -> None:
    out[:] = (given.astype(np.uint32) << 16).view(np.float32)


def to_float16(values: Array, residual: Array, out: Array) -> int:
    out[:], residual[:], exponent = float16_twin(values, residual)
    return exponent


def from_float16(given: Array, exponent: int, out: Array) -> None:
    out[:] = np.ldexp(given.view(np.float16).astype(np.float64), exponent)


def take_largest(values: Array, residual: Array, count: int, index: Array, taken: Array) -> int:
    places, numbers, residual[:] = largest_twin(values, residual, count)
    index[: len(places)], taken[: len(places)] = places, numbers
    return len(places)


def put(index: Array, taken: Array, out: Array) -> bool:
    """Of what is refused a part is written: as much as ascends and is inside."""
    out[:] = 0
    after = 0
    for place, value in zip(index.tolist(), taken, strict=True):
        if not after <= place < len(out):
            return False
        out[place], after = value, place + 1
    return True


def values(draw: Draw, most: int = 40) -> Array:
    """Any bits, or those at which something else begins, or numbers of alike sizes."""
    count, random, kind = integer(draw, 0, most), generator(draw), integer(draw, 0, 2)
    if kind == 0:
        return random.integers(0, 2**32, count, np.uint32).view(np.float32)
    if kind == 1:
        return random.choice(INTERESTING, count)
    return np.ldexp(np.round(normal(draw, count), 1), random.integers(-30, 30, dtype=np.int32))


def left_behind(draw: Draw, found: Array, power: int) -> Array:
    """A residual, which is a number: of two that are none, a processor's sum may be either."""
    if chance(draw):
        return np.zeros_like(found)
    return np.nan_to_num(np.ldexp(np.roll(found, 1)[::-1], power), nan=0)


def encoded(draw: Draw) -> tuple[Any, ...]:
    found = values(draw)
    return found, left_behind(draw, found, -8), filled(len(found), dtype=np.uint16)


def rounded(draw: Draw) -> tuple[Any, ...]:
    found = values(draw)
    return found, filled(len(found), dtype=np.uint16)


def coded(draw: Draw) -> tuple[Array, Array]:
    count = integer(draw, 0, 40)
    return generator(draw).integers(0, 2**16, count).astype(np.uint16), filled(count)


def with_exponent(draw: Draw) -> tuple[Any, ...]:
    found, out = coded(draw)
    return found, integer(draw, -102, 112), out


def taken(draw: Draw) -> tuple[Any, ...]:
    found = values(draw)
    count = integer(draw, 1, max(len(found), 1))
    return found, left_behind(draw, found, 0), count, filled(count, dtype=np.int64), filled(count)


def placed(draw: Draw) -> tuple[Any, ...]:
    random, size = generator(draw), integer(draw, 0, 12)
    count = integer(draw, 0, size)
    places = random.integers(0, size + 1, count) if integer(draw, 0, 1) else random.permutation(size)[:count]
    ordered = np.sort(places) if integer(draw, 0, 3) else places
    return ordered.astype(np.uint32), normal(draw, count), filled(size)


test_what_travels_is_its_twin = held(
    [
        Case(halves.to_bfloat16, to_bfloat16, encoded),
        Case(halves.round_bfloat16, round_bfloat16, rounded),
        Case(halves.from_bfloat16, from_bfloat16, coded),
        Case(halves.to_float16, to_float16, encoded),
        Case(halves.from_float16, from_float16, with_exponent),
        Case(largest.take_largest, take_largest, taken),
        Case(largest.put, put, placed),
    ]
)
