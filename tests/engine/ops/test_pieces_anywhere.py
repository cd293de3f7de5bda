"""Products by pieces and by strips (pieces.py, strips.py) where a processor multiplies no matrices by itself:
of the same sources, compiled for this one, with plain loops for the three words that are AMX's own.

So what is laid out, in which order tiles are multiplied, and where sums go is held against the numpy twins on
every machine; that the instructions do what loops do here is known where they are (test_matrices_twins.py).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numba import njit

from paddle._engine.kernels.matrices import amx, pieces, strips
from paddle._engine.kernels.matrices.panels import numpy_add_product
from paddle._engine.kernels.matrices.tiles import SQUARE

Array = np.ndarray
ORDER = np.array(amx._PRODUCTS)
PIECES, DEEP, TILE, SIZE = amx.PIECES, amx.DEEP, amx.TILE, 2 * amx.TILE  # of a tile, in halves of float32

compiled = njit(error_model="numpy")


@compiled
def tile_of(tiles: Array, number: int) -> Array:
    """The 16 lines of a tile, each of 32 pieces: tiles begin with a cache line."""
    flat = tiles.reshape(-1)
    start = (-flat.ctypes.data % 64) // 4 + number * TILE
    return flat[start : start + TILE].view(np.uint16).reshape(SQUARE, DEEP)


@compiled
def numbers_of(halves: Array) -> Array:
    """What pieces are, as float32."""
    return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)


@compiled
def multiply_square(
    left: Array, row: int, right: Array, column: int, apart: int, count: int, sums: Array
) -> None:
    """See amx.py."""
    flat = sums.reshape(-1)
    start = (-flat.ctypes.data % 64) // 4
    flat[start : start + 4 * TILE] = 0
    for block in range(count):
        for one, other in ORDER:
            for square in range(4):
                add_product(
                    numbers_of(tile_of(left, row + block * PIECES + square // 2 * apart + one)),
                    numbers_of(tile_of(right, column + block * PIECES + square % 2 * apart + other)),
                    flat[start + square * TILE : start + (square + 1) * TILE].reshape(SQUARE, SQUARE),
                )


@compiled
def add_product(x: Array, pairs: Array, out: Array) -> None:
    """As one instruction does: of each column of ``pairs`` two stand side by side."""
    for m in range(SQUARE):
        for k in range(SQUARE):
            for n in range(SQUARE):
                out[m, n] += x[m, 2 * k] * pairs[k, 2 * n] + x[m, 2 * k + 1] * pairs[k, 2 * n + 1]


@compiled
def begin(told: Array) -> None:
    """Nothing: there are no tiles to be had."""


@compiled
def end() -> None:
    """Likewise."""


@cache
def anywhere(source: ModuleType) -> ModuleType:
    """One of the two, kept nowhere: what is compiled here must never be found where there is AMX."""
    words, making = ModuleType(amx.__name__), ModuleType("making")
    words.__dict__.update(vars(amx), multiply_square=multiply_square, begin=begin, end=end)
    making.__dict__["kernel"] = compiled
    others = {} if source is pieces else {pieces.__name__: anywhere(pieces)}
    assert source.__file__ is not None
    spec = spec_from_file_location(f"{Path(source.__file__).stem}_anywhere", source.__file__)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    known = {amx.__name__: words, "paddle._engine.kernels.kernel": making, **others}
    with mock.patch.dict(sys.modules, known):
        spec.loader.exec_module(module)
    return module


def rooms(shapes: dict[str, tuple[int, int]]) -> tuple[Array, ...]:
    return tuple(np.full(shape, np.nan, np.float32) for shape in shapes.values())


CLOSE = {"rtol": 1e-4, "atol": 5e-5}
SIZES = [(17, 33, 40), (64, 300, 70), (530, 20, 300)]
"""Less than a tile of rows and more than what is laid out at once, of each."""


def drawn(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.unusual
@pytest.mark.parametrize(("samples", "height", "width"), SIZES)
def test_products_are_those_of_the_twin(samples: int, height: int, width: int) -> None:
    x, y, beside = drawn(samples, height), drawn(height, width + 6), 3
    found, expected = np.full((2, samples, width + 6), 7, np.float32)
    room = rooms(pieces.room(samples, height, width))
    anywhere(pieces).multiply(x, y, found, beside, beside + width, *room)
    pieces.numpy_multiply(x, y, expected, beside, beside + width, *room)
    np.testing.assert_allclose(found, expected, **CLOSE)
    assert (found[:, :beside] == 7).all() and (found[:, beside + width :] == 7).all()


@pytest.mark.unusual
@pytest.mark.parametrize("is_added", [False, True])
@pytest.mark.parametrize(("samples", "height", "width"), SIZES)
def test_slopes_are_those_of_the_twin(samples: int, height: int, width: int, is_added: bool) -> None:
    x, slope, y, first = drawn(samples, height + 4), drawn(samples, width), drawn(height, width), 2
    told = []
    for multiply_back in (anywhere(pieces).multiply_back, pieces.numpy_multiply_back):
        own, below = y.copy(), np.zeros_like(x)
        target = own if is_added else np.full_like(y, np.nan)
        factor, room = np.float32(-0.5 if is_added else 1), rooms(pieces.room_back(samples, height, width))
        multiply_back(x, first, slope, own, target, below, factor, is_added, room)
        told.append((target, below))
    for one, other in zip(*told, strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)


@pytest.mark.unusual
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize(("samples", "height", "width"), [(24, 64, 64), (130, 100, 71), (3, 65, 200)])
def test_a_product_by_strips_is_the_product(
    samples: int, height: int, width: int, is_turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The room is for as many rows as there ever are, and begins with a cache line; columns on either side of
    the product stay as they are."""
    own, x, matrix = anywhere(strips), drawn(samples, height), drawn(height, width)
    monkeypatch.setattr(amx, "is_there", lambda: True)
    lines, size = own.room(150, height, width, "float32")
    memory = np.full(lines * size + 16, np.nan, np.float32)
    room = memory[-memory.ctypes.data % 64 // 4 :][: lines * size].reshape(lines, size)
    found = drawn(samples + 1, width + 2)
    expected = found.copy()
    numpy_add_product(x, matrix, expected[:samples, 1:-1])
    cut = own.cut(room, height, width)
    own.lay_out(np.ascontiguousarray(matrix.T) if is_turned else matrix, is_turned, cut)
    own.add_product(x, cut, found[:samples, 1:-1])
    np.testing.assert_allclose(found, expected, **CLOSE)
    np.testing.assert_array_equal(found[:, [0, -1]], expected[:, [0, -1]])
    np.testing.assert_array_equal(found[samples], expected[samples])
