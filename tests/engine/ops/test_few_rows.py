"""Products of few rows by loops of our own, against plain numpy; and layers that are multiplied so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine import few
from paddle._engine.kernels import products
from paddle._engine.kernels.tiles import ROWS, SQUARE, WIDTH
from paddle._engine.program import Form
from paddle._engine.single import Single

ROWS_OF_X = st.integers(1, WIDTH + SQUARE + 3)
HEIGHTS = st.integers(1, 4 * ROWS * 2 + 3)
WIDTHS = st.integers(WIDTH, 3 * WIDTH + 1)
EMPTY = np.empty((0, 0), np.float32)


def drawn(seed: int, *shapes: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape, np.float32) for shape in shapes]


def rooms(samples: int, height: int) -> tuple[np.ndarray, ...]:
    return tuple(np.full(shape, np.nan, np.float32) for shape in products.room(samples, height).values())


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@settings(deadline=None)
@given(ROWS_OF_X, HEIGHTS, WIDTHS, st.integers(0, 9), st.integers(0, 99))
def test_a_product_of_few_rows_is_the_product(
    n: int, height: int, width: int, beside: int, seed: int
) -> None:
    """With columns on either side of those that are asked for."""
    x, y, out = drawn(seed, (n, height), (height, width + 2 * beside), (n, width + 2 * beside))
    expected, columns = out.copy(), (beside, beside + width)
    products.numpy_multiply(x, y, expected, *columns)
    products.multiply(x, y, out, *columns)
    close(out, expected)
    np.testing.assert_array_equal(out[:, :beside], expected[:, :beside])
    np.testing.assert_array_equal(out[:, beside + width :], expected[:, beside + width :])


@settings(deadline=None)
@given(
    ROWS_OF_X,
    HEIGHTS,
    WIDTHS,
    st.sampled_from(["parameter", "gradient", "none"]),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 99),
)
def test_the_way_back_is_two_products_by_the_matrix_as_it_was(
    n: int, height: int, width: int, kind: str, passes_back: bool, first: int, seed: int
) -> None:
    x, slope, y, gradient = drawn(seed, (n, height + 4), (n, width), (height, width), (height, width))
    below, is_added = drawn(seed + 1, (n, height + 4))[0], kind == "parameter"
    found = []
    for compute in (products.multiply_back, products.numpy_multiply_back):
        own, back = y.copy(), below.copy() if passes_back else EMPTY
        target = {"parameter": own, "gradient": gradient.copy(), "none": EMPTY}[kind]
        factor = np.float32(-0.5 if is_added else 1)
        compute(x, first, slope, own, target, back, factor, is_added, rooms(n, height))
        found.append((own, target, back))
    for mine, twin in zip(*found, strict=True):
        close(mine, twin)


@pytest.mark.parametrize("wanted", [["X"], ["Y"], ["X", "Y"]], ids="".join)
def test_a_layer_of_few_rows_is_near_float64(wanted: list[str]) -> None:
    rng = np.random.default_rng(3)
    x, y, back = (rng.standard_normal(shape) for shape in ((21, 70), (70, 201), (21, 201)))
    assert few.pays(21, (70, 201), "float32") and not few.pays(21, (70, 201), "float64")
    found = []
    for dtype in (np.float64, np.float32):
        single = Single("mul", {"X": [x.astype(dtype)], "Y": [y.astype(dtype)]}, {})
        gradients = single.gradient(back.astype(dtype), wanted)
        found.append([single.forward()["Out"], *(gradients[slot][0] for slot in wanted)])
    for wide, narrow in zip(*found, strict=True):
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, wide, rtol=1e-3, atol=1e-4)


def test_it_pays_for_few_rows_of_a_matrix_that_is_large() -> None:
    assert few.pays(32, (256, 10_000), "float32", "float32") and few.pays(256, (784, 128), "float32")
    assert not few.pays(257, (256, 10_000), "float32") and not few.pays(3, (256, 10_000), "float32")
    assert not few.pays(32, (256, 63), "float32") and not few.pays(32, (15, 10_000), "float32")
    assert not few.pays(32, (64, 64), "float32") and not few.pays(32, (4, 64, 640), "float32")
    assert not few.room(Form((300, 256), "float32"), Form((256, 10_000), "float32"))


def test_what_lies_otherwise_is_left_to_blas() -> None:
    x, y, out = drawn(1, (32, 64), (64, 256), (32, 256))
    assert few.multiply(x, y, out) is not None
    assert few.multiply(x, y, out, slice(0, 128)) is not None
    assert few.multiply(x, y, out, slice(0, 60)) is None
    for arrays in ((np.asfortranarray(x), y, out), (x, y[:, ::-1], out), (x, y, out.astype(np.float64))):
        assert few.multiply(*arrays) is None
    forms = few.room(Form(x.shape, "float32"), Form(y.shape, "float32"))
    room = {name: np.empty(form.shape, form.dtype) for name, form in forms.items()}
    assert few.multiply_back(x, out, y, target=y, below=x.copy(), room=room) is not None
    assert few.multiply_back(x, out, y, target=y, below=np.asfortranarray(x), room=room) is None
    assert few.multiply_back(x, out, y, target=y, below=None, room={}) is None
