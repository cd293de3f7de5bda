"""Products by loops of our own, of few rows and of many, against plain numpy; and layers multiplied so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._blas import _loaded
from paddle._engine import blas, tiled
from paddle._engine.kernels.matrices import amx, blocks, pieces, products, tiles
from paddle._engine.kernels.matrices.tiles import ROWS, SQUARE, WIDTH
from paddle._engine.program import Form
from paddle._engine.single import Single

ROOT = Path(__file__).resolve().parents[3]
ROWS_OF_X = st.integers(1, WIDTH + SQUARE + 3)
HEIGHTS = st.integers(1, 4 * ROWS * 2 + 3)
WIDTHS = st.integers(WIDTH, 3 * WIDTH + 1)
FOR_MANY = [blocks, *([pieces] if amx.is_there() else [])]
"""Loops for many rows that this processor has."""

LOOPS = st.sampled_from([products, *FOR_MANY])
EMPTY = np.empty((0, 0), np.float32)


def drawn(seed: int, *shapes: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape, np.float32) for shape in shapes]


def rooms(shapes: dict[str, tuple[int, int]]) -> tuple[np.ndarray, ...]:
    return tuple(np.full(shape, np.nan, np.float32) for shape in shapes.values())


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def close_by_length(found: np.ndarray, expected: np.ndarray, length: int) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-6 * length)


@settings(deadline=None)
@given(LOOPS, ROWS_OF_X, HEIGHTS, WIDTHS, st.integers(0, 9), st.integers(0, 99))
def test_a_product_is_the_product(
    loops: ModuleType, n: int, height: int, width: int, beside: int, seed: int
) -> None:
    """With columns on either side of those that are asked for."""
    x, y, out = drawn(seed, (n, height), (height, width + 2 * beside), (n, width + 2 * beside))
    expected, columns, room = out.copy(), (beside, beside + width), rooms(loops.room(n, height, width))
    loops.numpy_multiply(x, y, expected, *columns, *room)
    loops.multiply(x, y, out, *columns, *room)
    close(out, expected)
    np.testing.assert_array_equal(out[:, :beside], expected[:, :beside])
    np.testing.assert_array_equal(out[:, beside + width :], expected[:, beside + width :])


@settings(deadline=None)
@given(
    LOOPS,
    ROWS_OF_X,
    HEIGHTS,
    WIDTHS,
    st.sampled_from(["parameter", "gradient", "none"]),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 99),
)
def test_the_way_back_is_two_products_by_the_matrix_as_it_was(
    loops: ModuleType, n: int, height: int, width: int, kind: str, passes_back: bool, first: int, seed: int
) -> None:
    x, slope, y, gradient = drawn(seed, (n, height + 4), (n, width), (height, width), (height, width))
    below, is_added = drawn(seed + 1, (n, height + 4))[0], kind == "parameter"
    found = []
    for compute in (loops.multiply_back, products.numpy_multiply_back):
        own, back = y.copy(), below.copy() if passes_back else EMPTY
        target = {"parameter": own, "gradient": gradient.copy(), "none": EMPTY}[kind]
        factor = np.float32(-0.5 if is_added else 1)
        room = rooms(loops.room_back(n, height, width))
        compute(x, first, slope, own, target, back, factor, is_added, room)
        found.append((own, target, back))
    for mine, twin in zip(*found, strict=True):
        close(mine, twin)


@pytest.mark.parametrize("loops", FOR_MANY)
@pytest.mark.parametrize("is_added", [True, False], ids=["a parameter", "a gradient"])
def test_sums_that_are_longer_than_what_is_laid_out_are_whole(is_added: bool, loops: ModuleType) -> None:
    n, height, width = 2 * loops.DEPTH + 5, loops.DEPTH + 9, loops.DEPTH + 83
    x, y, slope = drawn(5, (n, height), (height, width), (n, width))
    out, below, target = np.empty_like(slope), np.empty_like(x), y.copy()
    loops.multiply(x, y, out, 0, width, *rooms(loops.room(n, height, width)))
    room = rooms(loops.room_back(n, height, width))
    loops.multiply_back(x, 0, slope, y, target, below, np.float32(-0.5), is_added, room)
    wide = [each.astype(np.float64) for each in (x, y, slope)]
    close_by_length(out, wide[0] @ wide[1], height)
    close_by_length(below, wide[2] @ wide[1].T, width)
    close_by_length(target, -0.5 * wide[0].T @ wide[2] + (wide[1] if is_added else 0), n)


@pytest.mark.parametrize("loops", FOR_MANY)
def test_numbers_are_the_same_however_many_are_computed_together(loops: ModuleType) -> None:
    """So threads that cut a parameter, or the rows, differ from one in nothing but what they add up."""
    n, height, width = 83, 70, 150
    x, y, slope = drawn(7, (n, height), (height, width), (n, width))
    out, part = np.empty_like(slope), np.empty_like(slope)
    loops.multiply(x, y, out, 0, width, *rooms(loops.room(n, height, width)))
    for columns in ((0, 37), (37, width)):
        loops.multiply(x, y, part, *columns, *rooms(loops.room(n, height, width)))
    np.testing.assert_array_equal(part, out)
    part = np.empty((41, width), np.float32)
    loops.multiply(x[:41], y, part, 0, width, *rooms(loops.room(41, height, width)))
    np.testing.assert_array_equal(part, out[:41])


@pytest.mark.parametrize("loops", FOR_MANY)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_row_and_column(value: float, loops: ModuleType) -> None:
    n, height, width = 21, 70, 3 * WIDTH + 5
    x, y, slope = drawn(8, (n, height), (height, width), (n, width))
    x[2, 3] = slope[4, 5] = value
    out, below, target = np.empty_like(slope), np.empty_like(x), np.empty_like(y)
    loops.multiply(x, y, out, 0, width, *rooms(loops.room(n, height, width)))
    room = rooms(loops.room_back(n, height, width))
    loops.multiply_back(x, 0, slope, y, target, below, np.float32(1), False, room)
    for found, expected in ((out, x @ y), (below, slope @ y.T), (target, x.T @ slope)):
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
        if loops is not pieces:  # a piece of the other number may be 0
            np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))


@given(st.floats(2.0**-110, 2.0**127, width=32), st.booleans())
def test_a_number_is_the_sum_of_its_pieces_and_each_has_eight_bits(number: float, is_negative: bool) -> None:
    given = np.array([-number if is_negative else number], np.float32)
    found = pieces.numpy_pieces(given)
    assert sum(float(piece[0]) for piece in found) == float(given[0])
    assert not any(piece.view(np.uint32)[0] & 0xFFFF for piece in found)


@pytest.mark.parametrize("loops", FOR_MANY)
@pytest.mark.parametrize("spread", [0, 12], ids=["alike", "of very different sizes"])
def test_sums_are_as_near_as_those_of_blas(loops: ModuleType, spread: int) -> None:
    """Each by what its products come to: no number is lost beside a larger one of another row or column.
    BLAS has kernels for many processors, which add in orders of their own."""
    rng = np.random.default_rng(9)
    x, y = drawn(9, (96, 700), (700, 128))
    x *= np.exp2(rng.integers(-spread, spread + 1, x.shape)).astype(np.float32)
    y *= np.exp2(rng.integers(-spread, spread + 1, y.shape)).astype(np.float32)
    out = np.empty((96, 128), np.float32)
    loops.multiply(x, y, out, 0, 128, *rooms(loops.room(96, 700, 128)))
    wide = [each.astype(np.float64) for each in (x, y)]

    def error(found: np.ndarray) -> float:
        return float(np.sqrt(np.mean(((found - wide[0] @ wide[1]) / (abs(wide[0]) @ abs(wide[1]))) ** 2)))

    assert error(out) < 1.1 * max(error(x @ y), 2.0**-26)


@pytest.fixture(params=[products, *FOR_MANY])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The loops that multiply some twenty rows, as on a processor where these are ahead."""
    monkeypatch.setattr(amx, "is_there", lambda: request.param is pieces)
    monkeypatch.setattr(tiles, "IS_AHEAD", request.param is blocks)
    monkeypatch.setattr(tiled, "threads", lambda: 1)
    monkeypatch.setattr(tiles, "FEWEST", 4)
    found: ModuleType = request.param
    return found


@pytest.mark.parametrize("wanted", [["X"], ["Y"], ["X", "Y"]], ids="".join)
def test_a_layer_is_near_float64(wanted: list[str], loops: ModuleType) -> None:
    rng = np.random.default_rng(3)
    x, y, back = (rng.standard_normal(shape) for shape in ((21, 70), (70, 201), (21, 201)))
    assert tiled.way(21, (70, 201), "float32") is loops and tiled.way(21, (70, 201), "float64") is None
    found = []
    for dtype in (np.float64, np.float32):
        single = Single("mul", {"X": [x.astype(dtype)], "Y": [y.astype(dtype)]}, {})
        gradients = single.gradient(back.astype(dtype), wanted)
        found.append([single.forward()["Out"], *(gradients[slot][0] for slot in wanted)])
    for wide, narrow in zip(*found, strict=True):
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, wide, rtol=1e-3, atol=1e-4)


def test_few_rows_of_a_matrix_that_is_large_are_multiplied_so_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(amx, "is_there", lambda: False)
    monkeypatch.setattr(tiles, "IS_AHEAD", False)

    def pays(rows: int, shape: tuple[int, ...]) -> bool:
        return tiled.way(rows, shape, "float32", "float32") is products

    assert pays(32, (256, 10_000)) and pays(products.MOST, (784, 128))
    assert not pays(products.MOST + 1, (256, 10_000)) and not pays(3, (256, 10_000))
    assert not pays(32, (256, 63)) and not pays(32, (15, 10_000))
    assert not pays(32, (64, 64)) and not pays(32, (4, 64, 640))


def left_over(rows: int) -> ModuleType | None:
    """What multiplies so many where no loop for many does."""
    return products if rows <= products.MOST else None


@pytest.mark.parametrize(
    ("is_measured", "threads"), [(True, 1), (False, 1), (True, 2), (True, None)], ids=str
)
def test_many_rows_are_multiplied_so_where_that_was_measured(
    is_measured: bool, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against OpenBLAS of one thread: who gave it several keeps them."""
    monkeypatch.setattr(amx, "is_there", lambda: False)
    monkeypatch.setattr(tiles, "IS_AHEAD", is_measured)
    monkeypatch.setattr(tiled, "threads", lambda: threads)
    is_ahead = is_measured and threads == 1
    many = blocks if is_ahead else None
    assert tiled.way(1024, (256, 10_000), "float32", "float32") is many
    assert tiled.way(tiles.FEWEST, (429, 400), "float32", "float32") is (many or left_over(tiles.FEWEST))
    assert tiled.way(tiles.FEWEST - 1, (429, 400), "float32", "float32") is left_over(tiles.FEWEST - 1)
    assert tiled.way(1024, (256, 10_000), "float64", "float64") is None
    assert tiled.way(1024, (15, 10_000), "float32", "float32") is None
    forms = Form((1024, 256), "float32"), Form((256, 10_000), "float32")
    assert bool(tiled.room(*forms)) == bool(tiled.room_back(*forms)) == is_ahead


@pytest.mark.parametrize("threads", [1, 2, None])
def test_a_processor_that_multiplies_matrices_by_itself_does_so_from_some_rows_on(
    threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(amx, "is_there", lambda: True)
    monkeypatch.setattr(tiled, "threads", lambda: threads)
    many = pieces if threads == 1 else None
    assert tiled.way(1024, (256, 10_000), "float32", "float32") is many
    assert tiled.way(pieces.FEWEST, (256, 10_000), "float32") is (many or products)
    assert tiled.way(pieces.FEWEST - 1, (256, 10_000), "float32") is products
    assert tiled.way(1024, (256, 10_000), "float64", "float64") is None


@pytest.mark.parametrize("lacking", ["", *amx.NEEDED])
def test_the_flags_of_the_processor_say_whether_it_is_there(
    lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Library:
        def __init__(self, name: None) -> None:
            pass

        def syscall(self, *number: int) -> int:
            return 0

    monkeypatch.setattr(amx.ctypes, "CDLL", Library)
    flags = [f"-{each[1:]}" if each == lacking else each for each in ("+sse2", *amx.NEEDED, "+amx-int8")]
    monkeypatch.setattr(amx, "FEATURES", ",".join(flags))
    assert amx.is_there.__wrapped__() == (not lacking)


def test_where_linux_gives_no_leave_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amx, "FEATURES", ",".join(amx.NEEDED))
    asked = []

    class Library:
        def __init__(self, name: None) -> None:
            pass

        def syscall(self, *number: int) -> int:
            asked.append(number)
            return -1

    monkeypatch.setattr(amx.ctypes, "CDLL", Library)
    assert not amx.is_there.__wrapped__() and len(asked) == 1
    monkeypatch.setattr(amx, "FEATURES", "+avx512f")
    assert not amx.is_there.__wrapped__() and len(asked) == 1


@pytest.mark.parametrize(
    ("processor", "is_measured"),
    [("znver4", True), ("icelake-server", True), ("znver3", False), ("skylake-avx512", False)],
)
def test_a_processor_is_known_by_its_name(processor: str, is_measured: bool) -> None:
    assert tiles.is_ahead(processor, 64) == is_measured and not tiles.is_ahead(processor, 16)


def test_openblas_says_how_many_threads_it_has() -> None:
    library = _loaded()
    assert library is not None
    before = library.threads()
    try:
        for count in (2, 1):
            library.set_threads(count)
            assert blas.threads() == count
    finally:
        library.set_threads(before)


def test_what_lies_otherwise_is_left_to_blas(loops: ModuleType) -> None:
    x, y, out = drawn(1, (32, 64), (64, 256), (32, 256))
    room = tiled.taken(tiled.room, x, y)
    assert tiled.multiply(x, y, out, room) is not None
    assert tiled.multiply(x, y, out, room, slice(0, 128)) is not None
    assert tiled.multiply(x, y, out, room, slice(0, 60)) is None
    for arrays in ((np.asfortranarray(x), y, out), (x, y[:, ::-1], out), (x, y, out.astype(np.float64))):
        assert tiled.multiply(*arrays, room) is None
    room = tiled.taken(tiled.room_back, x, y)
    assert tiled.multiply_back(x, out, y, target=y, below=x.copy(), room=room) is not None
    assert tiled.multiply_back(x, out, y, target=y, below=np.asfortranarray(x), room=room) is None
    assert tiled.multiply_back(x, out, y, target=y, below=None, room={}) is None


COMPARED = """
import sys
import numpy as np
from paddle._engine.kernels.matrices import blocks, tiles
from tests.engine.ops.test_tiled_products import close, drawn, rooms
assert tiles.PROCESSOR == sys.argv[1] and tiles.IS_AHEAD
for n, height, width in ((21, 70, 150), (40, 300, 48), (7, 65, 97)):
    x, y, slope = drawn(3, (n, height), (height, width), (n, width))
    out, below, target = np.empty_like(slope), np.empty_like(x), y.copy()
    blocks.multiply(x, y, out, 0, width, *rooms(blocks.room(n, height, width)))
    room = rooms(blocks.room_back(n, height, width))
    blocks.multiply_back(x, 0, slope, y, target, below, np.float32(-0.5), True, room)
    for found, expected in ((out, x @ y), (below, slope @ y.T), (target, y - 0.5 * x.T @ slope)):
        close(found, expected)
"""


@pytest.mark.parametrize("processor", tiles.MEASURED)
def test_the_tiles_of_each_processor_that_was_measured(processor: str) -> None:
    if tiles.WIDTH != 64:
        pytest.skip("this processor has no registers for them")
    environ = {**os.environ, "NUMBA_CPU_NAME": processor}
    argv = [sys.executable, "-c", COMPARED, processor]
    done = subprocess.run(argv, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
