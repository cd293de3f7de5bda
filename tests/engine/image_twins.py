"""Windows that move over images, in plain numpy: the twins of the kernels, and of convolutions.

Written without the kernels' tricks: an image gets so many zeros around it that no window can leave it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FAR = 40
"""Pixels around an image: more than any window of these tests reaches out of it."""


class Frame(NamedTuple):
    """See paddle/_engine/kernels/images.py."""

    tall: int
    wide: int
    down: int
    across: int
    above: int
    left: int
    rows: int
    columns: int
    lower: int = 1
    later: int = 1


def framed(images: np.ndarray, fill: float = 0.0) -> np.ndarray:
    return np.pad(images, ((0, 0),) * (images.ndim - 2) + ((FAR, FAR),) * 2, constant_values=fill)


def pixels(frame: Frame, line: int, lines: int, y: int, x: int) -> tuple[np.ndarray, np.ndarray]:
    """Where in the framed image the pixel (y, x) of the window is, in each place of some lines."""
    rows = (line + np.arange(lines)) * frame.down + y * frame.lower - frame.above + FAR
    columns = np.arange(frame.columns) * frame.across + x * frame.later - frame.left + FAR
    return rows[:, None], columns[None, :]


def seen(images: np.ndarray, frame: Frame, line: int, lines: int) -> np.ndarray:
    """(channels * window, images, places)."""
    whole, window = framed(images), np.ndindex(frame.tall, frame.wide)
    parts = [whole[:, :, *pixels(frame, line, lines, y, x)] for y, x in window]
    stacked = np.stack(parts).transpose(2, 0, 1, 3, 4)  # channels, window, images, lines, columns
    return stacked.reshape(-1, len(images), lines * frame.columns)


def folded(given: np.ndarray, images: np.ndarray, frame: Frame, line: int) -> np.ndarray:
    """The images with what was seen added to them."""
    whole, lines = framed(images), given.shape[2] // frame.columns
    parts = given.reshape(images.shape[1], frame.tall, frame.wide, len(images), lines, frame.columns)
    for y, x in np.ndindex(frame.tall, frame.wide):
        place = (slice(None), slice(None), *pixels(frame, line, lines, y, x))
        whole[place] += parts[:, y, x].swapaxes(0, 1)
    return whole[:, :, FAR:-FAR, FAR:-FAR]


def greatest(planes: np.ndarray, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """What windows see that is greatest, and where in its plane the first such pixel is."""
    count, height, width = planes.shape
    out = np.zeros((count, frame.rows, frame.columns), planes.dtype)
    places = np.full(out.shape, -1, np.int32)
    for p, i, j in np.ndindex(out.shape):
        ys = [y for y in range(i * frame.down - frame.above, height) if y >= 0][: _left(frame, i, 0)]
        xs = [x for x in range(j * frame.across - frame.left, width) if x >= 0][: _left(frame, j, 1)]
        if ys and xs:
            part = planes[p][np.ix_(ys, xs)]
            k, m = divmod(int(np.argmax(part)), len(xs))  # NaN comes before any number there, too
            out[p, i, j], places[p, i, j] = part[k, m], ys[k] * width + xs[m]
    return out, places


def _left(frame: Frame, place: int, axis: int) -> int:
    """How much of the window is in the image, or below it, or to the right of it."""
    start = place * (frame.down, frame.across)[axis] - (frame.above, frame.left)[axis]
    return max((frame.tall, frame.wide)[axis] - max(-start, 0), 0)


def convolved(images: np.ndarray, filters: np.ndarray, frame: Frame, groups: int) -> np.ndarray:
    """(samples, filters, rows, columns)."""
    looked = seen(images, frame, 0, frame.rows).reshape(groups, -1, len(images), frame.rows, frame.columns)
    weights = filters.reshape(groups, len(filters) // groups, -1)
    planes = np.einsum("gfk,gknij->ngfij", weights, looked, optimize=True)
    return planes.reshape(len(images), len(filters), frame.rows, frame.columns)


def weighed(images: np.ndarray, planes: np.ndarray, frame: Frame, groups: int) -> np.ndarray:
    """The gradient of filters, (filters, channels of a group, height, width)."""
    looked = seen(images, frame, 0, frame.rows).reshape(groups, -1, len(images), frame.rows, frame.columns)
    given = planes.reshape(len(images), groups, -1, frame.rows, frame.columns)
    found = np.einsum("ngfij,gknij->gfk", given, looked, optimize=True)
    return found.reshape(planes.shape[1], images.shape[1] // groups, frame.tall, frame.wide)


def given_back(shape: tuple[int, ...], filters: np.ndarray, planes: np.ndarray, frame: Frame) -> np.ndarray:
    """The gradient of images of that shape."""
    groups = shape[1] // filters.shape[1]
    weights = filters.reshape(groups, len(filters) // groups, -1)
    given = planes.reshape(shape[0], groups, -1, frame.rows * frame.columns)
    looked = np.einsum("gfk,ngfp->gknp", weights, given, optimize=True)
    return folded(looked.reshape(-1, *looked.shape[2:]), np.zeros(shape, planes.dtype), frame, 0)
