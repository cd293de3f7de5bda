"""Images read at places, and the way back, against their twins; channels against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.kernels import channels, grids

RNG = np.random.default_rng(4)
IMAGES = RNG.standard_normal((2, 3, 10), np.float32)
AT, SHARES = RNG.integers(0, 10, (4, 2, 7)), RNG.standard_normal((4, 2, 7), np.float32)
GIVEN = RNG.standard_normal((2, 3, 7), np.float32)


def test_what_is_read_and_the_way_back_are_their_twins() -> None:
    found, expected = np.empty((2, 3, 7), np.float32), np.empty((2, 3, 7), np.float32)
    grids.read(IMAGES, AT, SHARES, found)
    grids.numpy_read(IMAGES, AT, SHARES, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    backs = []
    for back in (grids.read_back, grids.numpy_read_back):
        backs.append((np.empty_like(IMAGES), np.empty_like(SHARES)))
        back(IMAGES, AT, SHARES, GIVEN, *backs[-1])
    for one, other in zip(*backs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_the_greatest_of_channels_is_that_of_numpy() -> None:
    x = RNG.integers(0, 4, (2, 6, 5)).astype(np.float32)
    x[0, 1, 2] = x[1, 5, 3] = np.nan
    groups, out = x.reshape(2, 2, 3, 5), np.empty((2, 2, 5), np.float32)
    places, back = np.empty(out.shape, np.int32), np.empty_like(x)
    channels.greatest(x, out, places)
    np.testing.assert_array_equal(out, groups.max(2))
    np.testing.assert_array_equal(places, groups.argmax(2))
    given = RNG.standard_normal(out.shape, np.float32)
    channels.greatest_back(given, places, back)
    expected = np.zeros_like(groups)
    np.put_along_axis(expected, places[:, :, None].astype(np.int64), given[:, :, None], 2)
    np.testing.assert_array_equal(back.reshape(groups.shape), expected)


@pytest.mark.parametrize("places", [1, 4])
def test_channels_are_normalized_as_in_numpy_where_each_has_one_place_and_where_it_has_more(places) -> None:
    x, given = RNG.standard_normal((2, 5, 3, places), np.float32)
    wide, axes, row = x.astype(np.float64), (0, 2), (1, 3, 1)
    mean, variance, plain, weighted = (np.empty(3, np.float32) for _ in range(4))
    channels.moments(x, mean, variance)
    np.testing.assert_allclose(mean, wide.mean(axes), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, wide.var(axes), rtol=1e-5)
    channels.sums(given, x, mean, plain, weighted)
    np.testing.assert_allclose(plain, given.sum(axes), rtol=1e-5, atol=1e-5)
    away = (given * (wide - mean.reshape(row))).sum(axes)
    np.testing.assert_allclose(weighted, away, rtol=1e-5, atol=1e-5)
    out, (a, b, c) = np.empty_like(x), RNG.standard_normal((3, 3), np.float32)
    channels.stretch(x, a, b, out)
    np.testing.assert_allclose(out, x * a.reshape(row) + b.reshape(row), rtol=1e-5, atol=1e-6)
    channels.stretch_both(given, x, a, b, c, out)
    expected = given * a.reshape(row) + x * b.reshape(row) + c.reshape(row)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
