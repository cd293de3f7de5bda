"""Maps, the channels of images: normalized across channels, the greatest of some taken, or made larger.

Sources of the semantics: v2's ``img_cmrnorm``, ``maxout`` and ``bilinear_interp``, whose corners keep their
places; fluid's ``image_resize``, whose corners do so where ``align_corners``, and else its edges do; and
adaptive averages, each of as equal a share of the image as there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps


def _image(forms: Forms) -> Form:
    x = forms["X"]
    if len(x.shape) != 4:
        raise ShapeError(f"X must be images [n, channels, height, width], got {list(x.shape)}")
    return x


def _like_images(forms: Forms) -> Mapping[str, Form]:
    return {"Out": _image(forms)}


def _add_near(maps: np.ndarray, before: int, behind: int, out: np.ndarray) -> None:
    """Each channel of ``out`` is the sum of itself and so many channels before and behind it."""
    count = maps.shape[1]
    out.fill(0)
    for away in range(-before, behind + 1):
        first, end = max(0, -away), min(count, count - away)
        if first < end:
            out[:, first:end] += maps[:, first + away : end + away]


class _Near:
    """1 + alpha times the sum of squares over the channels near each one, and the share it leaves."""

    def __init__(self, call: Call) -> None:
        self._x, self._attrs = call["X"], call.attrs
        self.before = (call.attrs["n"] - 1) // 2
        self.behind = call.attrs["n"] - 1 - self.before
        self.sums, self.shares = np.empty_like(self._x), np.empty_like(self._x)

    def find(self) -> None:
        _add_near(np.square(self._x), self.before, self.behind, self.sums)
        np.multiply(self.sums, self._attrs["alpha"], self.sums)
        np.add(self.sums, 1, self.sums)
        np.power(self.sums, -self._attrs["beta"], self.shares)


def _lrn(call: Call) -> Steps:
    near = _Near(call)
    yield near.find
    yield partial(np.multiply, call["X"], near.shares, call["Out"])


def _lrn_gradient(call: Call) -> Steps:
    x, grad, dx, near = call["X"], call["Out@GRAD"], call["X@GRAD"], _Near(call)
    factor = -2 * call.attrs["alpha"] * call.attrs["beta"]

    def slope() -> None:
        _add_near(grad * x * near.shares / near.sums, near.behind, near.before, dx)
        np.multiply(dx, x, dx)
        np.multiply(dx, factor, dx)
        np.add(dx, grad * near.shares, dx)

    yield near.find
    yield slope


def _maxout_shape(forms: Forms) -> Mapping[str, Form]:
    x, groups = _image(forms), forms.attrs["groups"]
    if groups < 1 or x.shape[1] % groups:
        raise ShapeError(f"{x.shape[1]} channels are no multiple of {groups}")
    out = replace(x, shape=(x.shape[0], x.shape[1] // groups, *x.shape[2:]))
    return {"Out": out, "Places": replace(out, dtype="int64")}


def _groups(maps: np.ndarray, groups: int) -> np.ndarray:
    return maps.reshape(len(maps), -1, groups, *maps.shape[2:])


def _maxout(call: Call) -> Steps:
    """The greatest of every ``groups`` channels that are neighbours; of equal ones the first."""
    parts, out, places = _groups(call["X"], call.attrs["groups"]), call["Out"], call["Places"]
    yield partial(np.argmax, parts, 2, places)
    yield partial(np.maximum.reduce, parts, axis=2, out=out)


def _maxout_gradient(call: Call) -> Steps:
    dx, grad = _groups(call["X@GRAD"], call.attrs["groups"]), call["Out@GRAD"]
    places = call["Places"][:, :, None]
    yield partial(dx.fill, 0)
    yield lambda: np.put_along_axis(dx, places, grad[:, :, None], 2)


def _interpolate_shape(forms: Forms) -> Mapping[str, Form]:
    x, (tall, wide) = _image(forms), forms.attrs["size"]
    if tall < 1 or wide < 1:
        raise ShapeError(f"an image has one pixel or more on each side, not {tall} x {wide}")
    if forms.attrs["method"] not in _METHODS:
        raise ShapeError(f"method is one of {_METHODS}, not {forms.attrs['method']!r}")
    return {"Out": replace(x, shape=(*x.shape[:2], tall, wide))}


_METHODS = ("bilinear", "nearest", "average")


def _weights(size: int, wanted: int, attrs: Mapping[str, Any], dtype: np.dtype) -> np.ndarray:
    """(wanted, size): how much of each pixel there is in each of those that are wanted."""
    pixels, numbers = np.arange(size), np.arange(wanted)
    if attrs["method"] == "average":
        first, end = numbers * size // wanted, -(-(numbers + 1) * size // wanted)
        inside = (pixels >= first[:, None]) & (pixels < end[:, None])
        return np.ascontiguousarray(inside / (end - first)[:, None], dtype)
    places = _places(numbers, size, wanted, attrs)
    distances = np.abs(places[:, None] - pixels)
    return np.ascontiguousarray(np.maximum(1 - distances, 0), dtype)


def _places(numbers: np.ndarray, size: int, wanted: int, attrs: Mapping[str, Any]) -> np.ndarray:
    """Where in the image each pixel that is wanted lies; of ``nearest`` a pixel, else between two."""
    is_nearest = attrs["method"] == "nearest"
    if attrs["align_corners"]:
        places = numbers * ((size - 1) / (wanted - 1) if wanted > 1 else 0.0)
        return np.floor(places + 0.5) if is_nearest else places
    places = numbers * (size / wanted)
    if is_nearest:
        return np.floor(places)
    return np.clip(
        (numbers + 0.5) * (size / wanted) - 0.5 if attrs["align_mode"] == 0 else places, 0, size - 1
    )


def _sides(call: Call) -> tuple[np.ndarray, np.ndarray]:
    (tall, wide), like = call.attrs["size"], call["X"]
    sides = ((like.shape[2], tall), (like.shape[3], wide))
    down, across = (_weights(size, wanted, call.attrs, like.dtype) for size, wanted in sides)
    return down, across


def _interpolate(call: Call) -> Steps:
    (down, across), x = _sides(call), call["X"]
    halfway = np.empty((*x.shape[:2], len(down), x.shape[3]), x.dtype)
    yield partial(np.matmul, down, x, halfway)
    yield partial(np.matmul, halfway, across.T, call["Out"])


def _interpolate_gradient(call: Call) -> Steps:
    (down, across), grad = _sides(call), call["Out@GRAD"]
    halfway = np.empty((*grad.shape[:3], across.shape[1]), grad.dtype)
    yield partial(np.matmul, grad, across, halfway)
    yield partial(np.matmul, down.T, halfway, call["X@GRAD"])


ROWS = (
    Row(
        type="lrn",
        attrs={"n": 5, "alpha": 1e-4, "beta": 0.75},
        shape=_like_images,
        forward=Kernel(_lrn),
        gradient=Gradient(_lrn_gradient, needs=("X",)),
    ),
    Row(
        type="maxout",
        outputs=("Out", "Places"),
        attrs={"groups": REQUIRED},
        shape=_maxout_shape,
        forward=Kernel(_maxout),
        gradient=Gradient(_maxout_gradient, needs=("Places",)),
    ),
    Row(
        type="bilinear_interp",
        attrs={"size": REQUIRED, "method": "bilinear", "align_corners": True, "align_mode": 1},
        shape=_interpolate_shape,
        forward=Kernel(_interpolate),
        gradient=Gradient(_interpolate_gradient, needs=("X",)),
    ),
)
