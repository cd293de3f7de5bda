"""Convolutions whose places are multiplied in several portions, against sums over all windows at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from paddle._engine import tiled
from paddle._engine.kernels.matrices import amx, tiles
from paddle._engine.ops.convolving import filtering
from paddle._engine.ops.convolving.convolution import NUMBERS, PLACES
from paddle._engine.program import Form
from paddle._engine.registry import Forms, row
from paddle._engine.single import Single

from .. import image_twins as twins
from ..image_twins import Frame

RNG = np.random.default_rng(43)


@dataclass(frozen=True)
class Shape:
    """Of images (samples, channels, height, width), and of what moves over them."""

    images: tuple[int, int, int, int]
    filters: int
    window: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    paddings: tuple[int, int] = (0, 0)
    dilations: tuple[int, int] = (1, 1)
    groups: int = 1

    @property
    def attrs(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("strides", "paddings", "dilations", "groups")}

    @property
    def frame(self) -> Frame:
        sides = zip(self.images[2:], self.window, self.strides, self.paddings, self.dilations, strict=True)
        places = [
            (size + 2 * zeros - (k - 1) * apart - 1) // step + 1 for size, k, step, zeros, apart in sides
        ]
        return Frame(*self.window, *self.strides, *self.paddings, *places, *self.dilations)

    def drawn(self, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Images, filters, and a gradient of planes."""
        shapes = (
            self.images,
            (self.filters, self.images[1] // self.groups, *self.window),
            (self.images[0], self.filters, self.frame.rows, self.frame.columns),
        )
        images, filters, planes = (RNG.normal(size=shape).astype(dtype) for shape in shapes)
        return images, filters, planes


SHAPES = {
    "lines of one image": Shape((2, 3, 40, 41), 4, (3, 3), paddings=(1, 1)),
    "lines that the last portion has fewer of": Shape((1, 40, 23, 37), 3, (3, 3)),
    "a line with more than enough places": Shape((1, 30, 5, 300), 2, (3, 2), paddings=(1, 0)),
    "images side by side": Shape((23, 3, 7, 9), 5, (3, 3), paddings=(1, 1)),
    "images side by side, the last ones fewer": Shape((31, 2, 6, 6), 3, (5, 2), strides=(1, 2)),
    "one place of an image": Shape((300, 2, 3, 4), 3, (3, 4)),
    "more weights than the cache holds": Shape((4, 400, 14, 14), 300, (3, 3)),
    "groups, side by side": Shape((9, 6, 8, 8), 4, (3, 3), groups=2),
    "groups, in lines": Shape((2, 60, 24, 24), 4, (3, 3), groups=2, dilations=(2, 3)),
    "a filter for each channel": Shape((3, 8, 20, 21), 8, (3, 3), strides=(2, 2), paddings=(1, 1), groups=8),
    "many filters, lines of one image": Shape((2, 10, 40, 41), 20, (3, 3), paddings=(1, 1)),
    "many filters, the last portion fewer lines": Shape((1, 40, 23, 37), 33, (3, 3)),
    "many filters, images side by side, the last ones fewer": Shape((31, 10, 6, 7), 40, (3, 3)),
    "many filters in groups": Shape((2, 60, 24, 24), 40, (3, 3), groups=2, dilations=(2, 3)),
    "many filters of single pixels, in lines": Shape((2, 300, 20, 20), 40, (1, 1)),
    "single pixels": Shape((3, 5, 20, 21), 4, (1, 1)),
    "single pixels in groups": Shape((2, 300, 20, 20), 4, (1, 1), groups=2),
    "single pixels of small images": Shape((9, 5, 6, 7), 4, (1, 1)),
    "single pixels with zeros around": Shape((2, 5, 20, 21), 4, (1, 1), paddings=(1, 1)),
    "single pixels, every other": Shape((2, 5, 40, 41), 4, (1, 1), strides=(2, 2)),
}
TOLERANCE = {"float32": 2e-4, "float64": 1e-11}


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(
        found, expected, atol=TOLERANCE[found.dtype.name] * abs(expected).max(), rtol=0
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_convolution_and_its_gradients_are_sums_over_windows(shape: Shape, dtype: str) -> None:
    images, filters, given = shape.drawn(dtype)
    single = Single("conv2d", {"X": [images], "Filter": [filters]}, shape.attrs)
    close(single.forward()["Out"], twins.convolved(images, filters, shape.frame, shape.groups))
    found = single.gradient(given, ["X", "Filter"])
    close(found["Filter"][0], twins.weighed(images, given, shape.frame, shape.groups))
    close(found["X"][0], twins.given_back(images.shape, filters, given, shape.frame))


MANY = {name: shape for name, shape in SHAPES.items() if name.startswith("many filters")}


@pytest.mark.parametrize("shape", MANY.values(), ids=MANY)
def test_many_filters_are_multiplied_by_loops_for_many_rows(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a processor where these are ahead of BLAS from so many on."""
    monkeypatch.setattr(amx, "is_there", lambda: False)
    monkeypatch.setattr(tiles, "IS_AHEAD", True)
    monkeypatch.setattr(tiles, "FEWEST", 17)
    monkeypatch.setattr(tiled, "threads", lambda: 1)
    window = shape.images[1] // shape.groups * shape.window[0] * shape.window[1]
    many = shape.filters // shape.groups
    assert set(filtering.room(many, window, PLACES, "float32")) == {"rows", "columns", "tile"}
    assert filtering.room(16, window, PLACES, "float32") == {}
    test_a_convolution_and_its_gradients_are_sums_over_windows(shape, "float32")
    test_equal_images_give_equal_bits(shape)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_transposed_convolution_is_the_way_back(shape: Shape) -> None:
    images, filters, planes = shape.drawn("float64")
    attrs = {**shape.attrs, "output_size": images.shape[2:]}
    single = Single("conv2d_transpose", {"X": [planes], "Filter": [filters]}, attrs)
    close(single.forward()["Out"], twins.given_back(images.shape, filters, planes, shape.frame))
    found = single.gradient(images, ["X", "Filter"])
    close(found["X"][0], twins.convolved(images, filters, shape.frame, shape.groups))
    close(found["Filter"][0], twins.weighed(images, planes, shape.frame, shape.groups))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_equal_images_give_equal_bits(shape: Shape) -> None:
    images, filters, given = shape.drawn("float32")
    runs = []
    for _ in range(2):
        single = Single("conv2d", {"X": [images.copy()], "Filter": [filters.copy()]}, shape.attrs)
        found = single.gradient(given.copy(), ["X", "Filter"])
        runs.append(
            (single.forward()["Out"].tobytes(), found["X"][0].tobytes(), found["Filter"][0].tobytes())
        )
    assert runs[0] == runs[1]


def test_without_images_the_filters_gradient_is_zero() -> None:
    single = Single("conv2d", {"X": [np.zeros((0, 2, 5, 5))], "Filter": [np.ones((3, 2, 3, 3))]}, {})
    assert not single.gradient(np.zeros((0, 3, 3, 3)), ["Filter"])["Filter"][0].any()


@pytest.mark.parametrize(("samples", "side"), [(1, 1000), (4, 224), (512, 8), (100_000, 1)])
def test_what_is_unfolded_at_once_does_not_grow_with_the_images(samples: int, side: int) -> None:
    convolution = row("conv2d")
    slots = {"X": (Form((samples, 16, side, side)),), "Filter": (Form((8, 16, 3, 3)),)}
    attrs = convolution.attributes({"paddings": (1, 1)})
    seen = convolution.forward.scratch(Forms(slots, attrs))["seen"]
    most = max(NUMBERS, 2 * PLACES * 16 * 9, side * 16 * 9)
    assert np.prod(seen.shape) <= most
