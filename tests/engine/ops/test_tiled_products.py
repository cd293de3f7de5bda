"""Products by loops of our own, of few rows and of many, against plain numpy; and layers multiplied so."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._blas import _loaded
from paddle._engine import blas, tiled
from paddle._engine.kernels import blocks, products
from paddle._engine.kernels.tiles import ROWS, SQUARE, WIDTH
from paddle._engine.program import Form
from paddle._engine.single import Single

ROWS_OF_X = st.integers(1, WIDTH + SQUARE + 3)
HEIGHTS = st.integers(1, 4 * ROWS * 2 + 3)
WIDTHS = st.integers(WIDTH, 3 * WIDTH + 1)
LOOPS = st.sampled_from([products, blocks])
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


@pytest.mark.parametrize("is_added", [True, False], ids=["a parameter", "a gradient"])
def test_sums_that_are_longer_than_a_piece_are_whole(is_added: bool) -> None:
    n, height, width = 2 * blocks.DEPTH + 5, blocks.DEPTH + 9, blocks.DEPTH + 83
    x, y, slope = drawn(5, (n, height), (height, width), (n, width))
    out, below, target = np.empty_like(slope), np.empty_like(x), y.copy()
    blocks.multiply(x, y, out, 0, width, *rooms(blocks.room(n, height, width)))
    room = rooms(blocks.room_back(n, height, width))
    blocks.multiply_back(x, 0, slope, y, target, below, np.float32(-0.5), is_added, room)
    wide = [each.astype(np.float64) for each in (x, y, slope)]
    close_by_length(out, wide[0] @ wide[1], height)
    close_by_length(below, wide[2] @ wide[1].T, width)
    close_by_length(target, -0.5 * wide[0].T @ wide[2] + (wide[1] if is_added else 0), n)


def test_numbers_are_the_same_however_many_are_computed_together() -> None:
    """So threads that cut a parameter, or the rows, differ from one in nothing but what they add up."""
    n, height, width = 83, 70, 150
    x, y, slope = drawn(7, (n, height), (height, width), (n, width))
    out, part = np.empty_like(slope), np.empty_like(slope)
    blocks.multiply(x, y, out, 0, width, *rooms(blocks.room(n, height, width)))
    for columns in ((0, 37), (37, width)):
        blocks.multiply(x, y, part, *columns, *rooms(blocks.room(n, height, width)))
    np.testing.assert_array_equal(part, out)
    part = np.empty((41, width), np.float32)
    blocks.multiply(x[:41], y, part, 0, width, *rooms(blocks.room(41, height, width)))
    np.testing.assert_array_equal(part, out[:41])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_row_and_column(value: float) -> None:
    n, height, width = 21, 70, 3 * WIDTH + 5
    x, y, slope = drawn(8, (n, height), (height, width), (n, width))
    x[2, 3] = slope[4, 5] = value
    out, below, target = np.empty_like(slope), np.empty_like(x), np.empty_like(y)
    blocks.multiply(x, y, out, 0, width, *rooms(blocks.room(n, height, width)))
    room = rooms(blocks.room_back(n, height, width))
    blocks.multiply_back(x, 0, slope, y, target, below, np.float32(1), False, room)
    for found, expected in ((out, x @ y), (below, slope @ y.T), (target, x.T @ slope)):
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))


@pytest.fixture(params=["as few", "as many"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The loops that multiply some twenty rows, as on a processor where those of many are ahead."""
    if request.param == "as few":
        return products
    monkeypatch.setattr(products, "MOST", 3)
    monkeypatch.setattr(blocks, "IS_AHEAD", True)
    monkeypatch.setattr(tiled, "threads", lambda: 1)
    return blocks


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


def test_few_rows_of_a_matrix_that_is_large_are_multiplied_so_everywhere() -> None:
    def pays(rows: int, shape: tuple[int, ...]) -> bool:
        return tiled.way(rows, shape, "float32", "float32") is products

    assert pays(32, (256, 10_000)) and pays(products.MOST, (784, 128))
    assert not pays(products.MOST + 1, (256, 10_000)) and not pays(3, (256, 10_000))
    assert not pays(32, (256, 63)) and not pays(32, (15, 10_000))
    assert not pays(32, (64, 64)) and not pays(32, (4, 64, 640))


@pytest.mark.parametrize(
    ("is_measured", "threads"), [(True, 1), (False, 1), (True, 2), (True, None)], ids=str
)
def test_many_rows_are_multiplied_so_where_that_was_measured(
    is_measured: bool, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against OpenBLAS of one thread: who gave it several keeps them."""
    monkeypatch.setattr(blocks, "IS_AHEAD", is_measured)
    monkeypatch.setattr(tiled, "threads", lambda: threads)
    is_ahead = is_measured and threads == 1
    many = blocks if is_ahead else None
    assert tiled.way(1024, (256, 10_000), "float32", "float32") is many
    assert tiled.way(512, (429, 400), "float32", "float32") is many
    assert tiled.way(1024, (256, 10_000), "float64", "float64") is None
    assert tiled.way(1024, (15, 10_000), "float32", "float32") is None
    forms = Form((1024, 256), "float32"), Form((256, 10_000), "float32")
    assert bool(tiled.room(*forms)) == bool(tiled.room_back(*forms)) == is_ahead


@pytest.mark.parametrize(
    ("processor", "is_measured"), [("znver4", True), ("znver3", False), ("skylake-avx512", False)]
)
def test_a_processor_is_known_by_its_name(processor: str, is_measured: bool) -> None:
    assert blocks.is_ahead(processor, 64) == is_measured and not blocks.is_ahead(processor, 16)


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
