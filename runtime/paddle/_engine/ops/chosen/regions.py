"""Pieces of images: cells of regions, of which the greatest pixels are taken; what is multiplied; and pixels
that go back to where a pooling took them from.

Sources of the semantics: v2's ``roi_pool``, ``scale_sub_region`` and ``upsample``. Guarantee: of equal pixels
the first is a cell's greatest, and its gradient goes there alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import ceil, floor

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps

Array = np.ndarray
_NUMBERS = 5


def _cells_shape(forms: Forms) -> Mapping[str, Form]:
    x, regions, cells = forms["X"], shapes.matrix(forms, "Regions"), tuple(forms.attrs["cells"])
    if len(x.shape) != 4 or regions.shape[1] != _NUMBERS:
        raise ShapeError(
            f"X are images [n, channels, height, width] and a region is {_NUMBERS} numbers, not "
            f"{list(x.shape)} and {list(regions.shape)}"
        )
    out = replace(x, shape=(regions.shape[0], x.shape[1], *cells))
    return {"Out": out, "Places": replace(out, dtype="int64")}


class _Cells:
    """What each cell of a region sees, as a piece of one image; and back from there."""

    def __init__(self, call: Call) -> None:
        self._call, self._places = call, call["Places"]
        self._shape = call["X"].shape if "X" in call else call["X@GRAD"].shape

    def _seen(self) -> Iterator[tuple[int, int, int, int, slice, slice]]:
        """Region, image, row and column of each cell, and the pixels of it."""
        images, _, tall, wide = self._shape
        (rows, columns), scale = self._call.attrs["cells"], self._call.attrs["scale"]
        for number, told in enumerate(self._call["Regions"]):
            image = int(told[0]) - self._call.run.before
            if not 0 <= image < images:
                raise FeedError(
                    f"region {number} is of image {int(told[0])}, and what is computed at once are the "
                    f"{images} images from {self._call.run.before} on: give a sample's own regions with it"
                )
            left, top, right, bottom = (floor(float(each) * scale + 0.5) for each in told[1:])
            across = _parts(left, max(right - left + 1, 1), columns, wide)
            for row, lines in enumerate(_parts(top, max(bottom - top + 1, 1), rows, tall)):
                for column, pixels in enumerate(across):
                    yield number, image, row, column, lines, pixels

    def find(self) -> None:
        x, out = self._call["X"], self._call["Out"]
        out.fill(0)
        self._places.fill(-1)
        for number, image, row, column, lines, pixels in self._seen():
            piece = x[image, :, lines, pixels]
            if piece.size:
                flat = piece.reshape(len(piece), -1)
                best = flat.argmax(1)
                out[number, :, row, column] = flat[np.arange(len(flat)), best]
                down, across = np.divmod(best, piece.shape[2])
                places = (down + lines.start) * x.shape[3] + across + pixels.start
                self._places[number, :, row, column] = places

    def back(self) -> None:
        dx, given = self._call["X@GRAD"], self._call["Out@GRAD"]
        dx.fill(0)
        flat = dx.reshape(*dx.shape[:2], -1)
        channels = np.arange(dx.shape[1])
        for number, image, row, column, _, _ in self._seen():
            places = self._places[number, :, row, column]
            if places[0] >= 0:
                flat[image, channels, places] += given[number, :, row, column]


def _parts(start: int, size: int, count: int, whole: int) -> list[slice]:
    """The parts of a side, which share a pixel where it does not come out even."""
    ends = [(floor(at * size / count), ceil((at + 1) * size / count)) for at in range(count)]
    return [slice(min(max(first + start, 0), whole), min(max(end + start, 0), whole)) for first, end in ends]


def _cells(call: Call) -> Steps:
    yield _Cells(call).find


def _cells_gradient(call: Call) -> Steps:
    yield _Cells(call).back


def _scaled_shape(forms: Forms) -> Mapping[str, Form]:
    x, bounds = forms["X"], shapes.matrix(forms, "Bounds")
    if len(x.shape) != 4 or bounds.shape[1] != 6 or not shapes.agree(bounds.shape[0], x.shape[0]):
        raise ShapeError(
            f"X are images [n, channels, height, width] with 6 bounds each, not {list(x.shape)} and "
            f"{list(bounds.shape)}"
        )
    return {"Out": x}


def _scale_pieces(of: Array, bounds: Array, by: float, out: Array) -> None:
    """Copy images, a piece of each times ``by``: both bounds of it are within, and count from 1. One whose
    first is behind its last by one is empty."""
    np.copyto(out, of)
    for number, told in enumerate(bounds.astype(np.int64).tolist()):
        pieces = []
        for first, last, size in zip(told[::2], told[1::2], of.shape[1:], strict=True):
            if not 1 <= first <= last + 1 <= size + 1:
                raise FeedError(
                    f"a piece from {first} to {last}, counted from 1, is none of {size} channels, rows or "
                    f"columns: image {number} has the bounds {told}"
                )
            pieces.append(slice(first - 1, last))
        channels, rows, columns = pieces
        out[number, channels, rows, columns] *= by


def _scaled(call: Call) -> Steps:
    yield partial(_scale_pieces, call["X"], call["Bounds"], call.attrs["value"], call["Out"])


def _scaled_gradient(call: Call) -> Steps:
    given, bounds = call["Out@GRAD"], call["Bounds"]
    yield partial(_scale_pieces, given, bounds, call.attrs["value"], call["X@GRAD"])


def _unpooled_shape(forms: Forms) -> Mapping[str, Form]:
    x, places, size = forms["X"], forms["Places"], tuple(forms.attrs["size"])
    if len(x.shape) != 4 or not all(map(shapes.agree, x.shape, places.shape)):
        raise ShapeError(
            f"each pixel of images has a place: X is {list(x.shape)}, Places are {list(places.shape)}"
        )
    return {"Out": replace(x, shape=(*x.shape[:2], *size))}


def _flat(images: Array) -> Array:
    return images.reshape(*images.shape[:2], -1)


def _unpooled(call: Call) -> Steps:
    """Each pixel at its place in a larger channel, and 0 elsewhere; of one place the last counts."""
    x, places, out = _flat(call["X"]), _flat(call["Places"]), _flat(call["Out"])

    def check() -> None:
        if places.size and places.max() >= out.shape[2]:
            raise FeedError(
                f"a pixel was taken from place {places.max()}, and a channel of {call.attrs['size']} has "
                f"{out.shape[2]}: make the image as large as that which was pooled"
            )

    yield check
    yield partial(out.fill, 0)
    yield lambda: np.put_along_axis(out, places.astype(np.int64), x, 2)


def _unpooled_gradient(call: Call) -> Steps:
    dx, places, given = _flat(call["X@GRAD"]), _flat(call["Places"]), _flat(call["Out@GRAD"])
    yield lambda: np.copyto(dx, np.take_along_axis(given, places.astype(np.int64), 2))


ROWS = (
    Row(
        type="unpool",
        inputs=("X", "Places"),
        attrs={"size": REQUIRED},
        shape=_unpooled_shape,
        forward=Kernel(_unpooled),
        gradient=Gradient(_unpooled_gradient, needs=("Places",)),
    ),
    Row(
        type="region_max",
        inputs=("X", "Regions"),
        outputs=("Out", "Places"),
        attrs={"cells": REQUIRED, "scale": 1.0},
        shape=_cells_shape,
        forward=Kernel(_cells),
        gradient=Gradient(_cells_gradient, needs=("Regions", "Places")),
    ),
    Row(
        type="scale_piece",
        inputs=("X", "Bounds"),
        attrs={"value": REQUIRED},
        shape=_scaled_shape,
        forward=Kernel(_scaled),
        gradient=Gradient(_scaled_gradient, needs=("Bounds",)),
    ),
)
