"""Kernels of images against their numpy twins, bit for bit: nothing is computed but sums in a set order."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.kernels.images import fold, pool_max, put_back, unfold

from .. import image_twins as twins
from ..image_twins import Frame

RNG = np.random.default_rng(41)
FRAMES = [
    Frame(3, 3, 1, 1, 1, 1, 7, 9),
    Frame(5, 2, 1, 1, 0, 0, 3, 8),
    Frame(3, 2, 2, 1, 1, 0, 4, 9),
    Frame(2, 3, 1, 2, 0, 2, 6, 5),
    Frame(3, 3, 3, 2, 2, 1, 3, 5),
    Frame(2, 2, 1, 1, 2, 3, 5, 7, 3, 4),  # some see nothing but zeros
    Frame(1, 1, 2, 2, 0, 0, 4, 5),
    Frame(7, 9, 1, 1, 0, 0, 1, 1),
    Frame(4, 4, 5, 6, 1, 3, 2, 3),
]
DTYPES = [np.float32, np.float64]


def drawn(*shape: int, dtype: type) -> np.ndarray:
    return RNG.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("frame", FRAMES)
def test_what_windows_see_in_some_lines_equals_the_twin(frame: Frame, dtype: type) -> None:
    images = drawn(3, 2, 7, 9, dtype=dtype)
    for line in range(frame.rows):
        for lines in range(1, frame.rows - line + 1):
            seen = np.full((2 * frame.tall * frame.wide, 3, lines * frame.columns), -77, dtype)
            unfold(images, tuple(frame), line, seen)
            assert np.array_equal(seen, twins.seen(images, frame, line, lines))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("frame", FRAMES)
def test_what_was_seen_is_added_to_where_it_was(frame: Frame, dtype: type) -> None:
    images = drawn(3, 2, 7, 9, dtype=dtype)
    for line in range(frame.rows):
        lines = frame.rows - line
        seen = drawn(2 * frame.tall * frame.wide, 3, lines * frame.columns, dtype=dtype)
        expected = twins.folded(seen, images, frame, line)
        fold(seen, tuple(frame), line, images)
        assert np.array_equal(images, expected)


POOLS = [
    Frame(2, 2, 2, 2, 0, 0, 3, 4),
    Frame(2, 2, 2, 2, 1, 1, 4, 5),
    Frame(3, 3, 2, 2, 1, 1, 4, 5),
    Frame(3, 3, 2, 2, 0, 0, 4, 5),  # as with ceil_mode: the last ones stick out
    Frame(3, 2, 1, 1, 2, 0, 7, 8),
    Frame(7, 9, 1, 1, 0, 0, 1, 1),
    Frame(9, 12, 1, 1, 1, 1, 1, 1),  # higher and wider than the image
    Frame(2, 2, 8, 8, 0, 0, 2, 3),  # the last ones see nothing
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("frame", POOLS)
@pytest.mark.parametrize("kind", ["all differ", "many are equal", "some are NaN"])
def test_the_greatest_in_windows_equals_the_twin(frame: Frame, kind: str, dtype: type) -> None:
    planes = drawn(4, 7, 9, dtype=dtype)
    if kind != "all differ":
        planes = np.round(planes)
    if kind == "some are NaN":
        planes[RNG.uniform(size=planes.shape) < 0.2] = np.nan
    out = np.full((4, frame.rows, frame.columns), -77, dtype)
    places = np.full(out.shape, -77, np.int32)
    pool_max(planes, tuple(frame), out, places)
    expected, where = twins.greatest(planes, frame)
    assert np.array_equal(out, expected, equal_nan=True)
    assert np.array_equal(places, where)


@pytest.mark.parametrize("frame", POOLS)
def test_what_comes_back_goes_to_the_greatest(frame: Frame) -> None:
    planes = drawn(4, 7, 9, dtype=np.float64)
    _, places = twins.greatest(planes, frame)
    given = drawn(4, frame.rows, frame.columns, dtype=np.float64)
    expected = np.zeros((4, 63))
    for p in range(4):
        inside = places[p] >= 0
        np.add.at(expected[p], places[p][inside], given[p][inside])
    put_back(given, places, planes)
    assert np.array_equal(planes.reshape(4, -1), expected)
