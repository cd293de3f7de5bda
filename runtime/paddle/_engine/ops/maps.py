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
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Step, Steps


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
        raise ShapeError(f"{x.shape[1]} channels are not a multiple of {groups}")
    out = replace(x, shape=(x.shape[0], x.shape[1] // groups, *x.shape[2:]))
    return {"Out": out, "Places": replace(out, dtype="int32")}


def _lines(maps: np.ndarray) -> np.ndarray:
    """Each channel as one line."""
    return maps.reshape(*maps.shape[:2], -1)


def _maxout(call: Call) -> Steps:
    """The greatest of every ``groups`` channels that are neighbours; of equal ones the first."""
    from paddle._engine.kernels.channels import greatest  # loads numba

    yield partial(greatest, _lines(call["X"]), _lines(call["Out"]), _lines(call["Places"]))


def _maxout_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.channels import greatest_back  # loads numba

    dx, grad = call["X@GRAD"], call["Out@GRAD"]
    yield partial(greatest_back, _lines(grad), _lines(call["Places"]), _lines(dx))


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


def _sides(call: Call) -> list[np.ndarray | None]:
    """The weights down and across; None along a side that stays as it is."""
    like = call["X"]
    pairs = zip(like.shape[2:], call.attrs["size"], strict=True)
    return [
        None if size == wanted else _weights(size, wanted, call.attrs, like.dtype) for size, wanted in pairs
    ]


def _across(x: np.ndarray, matrix: np.ndarray, out: np.ndarray) -> Step:
    """All lines of all images at once: numpy multiplies small matrices one by one."""
    return partial(np.matmul, x.reshape(-1, x.shape[3]), matrix, out.reshape(-1, out.shape[3]))


def _multiplied(down: np.ndarray | None, across: np.ndarray | None, x: np.ndarray, out: np.ndarray) -> Steps:
    """``down`` @ x @ ``across``, from the side on which there is less to do for the other one."""
    if down is None and across is None:
        yield partial(np.copyto, out, x)
    elif across is None:
        yield partial(np.matmul, down, x, out)
    elif down is None:
        yield _across(x, across, out)
    elif len(down) * x.shape[3] <= x.shape[2] * across.shape[1]:
        halfway = np.empty((*x.shape[:2], len(down), x.shape[3]), x.dtype)
        yield partial(np.matmul, down, x, halfway)
        yield _across(halfway, across, out)
    else:
        halfway = np.empty((*x.shape[:3], across.shape[1]), x.dtype)
        yield _across(x, across, halfway)
        yield partial(np.matmul, down, halfway, out)


def _interpolate(call: Call) -> Steps:
    down, across = _sides(call)
    yield from _multiplied(down, None if across is None else across.T, call["X"], call["Out"])


def _interpolate_gradient(call: Call) -> Steps:
    down, across = _sides(call)
    yield from _multiplied(None if down is None else down.T, across, call["Out@GRAD"], call["X@GRAD"])


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
