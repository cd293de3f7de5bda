"""Images: what a window sees that moves over one, and what pooling makes of that.

A *frame* says how it moves: height and width of the window; its steps, down and across; the rows above and
the columns left of the image at which it begins; how many places it takes, down and across; and how far apart
the pixels are that it sees, down and across (pooling sees all: 1). Outside the image it sees zeros
(``unfold``) or nothing (pooling). It must never know weights.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray
Frame = tuple[int, int, int, int, int, int, int, int, int, int]


@kernel
def unfold(image: Array, frame: Frame, out: Array) -> None:
    """``out`` (channels * window, places): at each place what it sees of ``image`` (channels, h, w).

    Single numbers, in loops whose bounds are known before: slices would be made anew for every line.
    """
    tall, wide, down, across, above, left, rows, columns, lower, later = frame
    for k in range(out.shape[0]):
        plane, y, x = k // (tall * wide), k // wide % tall * lower - above, k % wide * later - left
        first, end = _inside(image.shape[2], x, across, columns)
        top, bottom = _inside(image.shape[1], y, down, rows)
        out[k, : top * columns] = 0
        out[k, bottom * columns :] = 0
        for i in range(top, bottom):
            at, line = i * down + y, i * columns
            for j in range(first):
                out[k, line + j] = 0
            for j in range(first, end):
                out[k, line + j] = image[plane, at, j * across + x]
            for j in range(end, columns):
                out[k, line + j] = 0


@kernel
def _inside(size: int, start: int, step: int, count: int) -> tuple[int, int]:
    """Which of ``count`` places from ``start`` on, so far apart, are inside: the first, and the end."""
    first = 0 if start >= 0 else (-start + step - 1) // step
    end = 0 if start >= size else (size - 1 - start) // step + 1
    return min(first, count), max(min(end, count), min(first, count))


@kernel
def fold(columns_seen: Array, frame: Frame, image: Array) -> None:
    """The gradient of ``unfold``: everything is added to where in ``image`` it was seen."""
    tall, wide, down, across, above, left, rows, columns, lower, later = frame
    image[:] = 0
    for k in range(columns_seen.shape[0]):
        plane, y, x = k // (tall * wide), k // wide % tall * lower - above, k % wide * later - left
        first, end = _inside(image.shape[2], x, across, columns)
        top, bottom = _inside(image.shape[1], y, down, rows)
        for i in range(top, bottom):
            at, line = i * down + y, i * columns
            for j in range(first, end):
                image[plane, at, j * across + x] += columns_seen[k, line + j]


@kernel
def pool_max(planes: Array, frame: Frame, out: Array, places: Array) -> None:
    """``out`` (planes, rows, columns) is the greatest that the window sees. NaN is greater than any number.

    ``places``, int32, is where in the plane it stands first; where the window sees nothing, -1 and ``out`` 0.
    """
    for p in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                places[p, i, j], out[p, i, j] = _greatest(planes[p], *_seen(planes[p], frame, i, j))


@kernel
def pool_parts(planes: Array, out: Array, places: Array) -> None:
    """As ``pool_max``, of as many parts of a plane as ``out`` has numbers, as equal as there are pixels: they
    share a pixel where these do not go round."""
    tall, wide, rows, columns = *planes.shape[1:], *out.shape[1:]
    for p in range(out.shape[0]):
        for i in range(rows):
            y, bottom = i * tall // rows, -(-(i + 1) * tall // rows)
            for j in range(columns):
                x, right = j * wide // columns, -(-(j + 1) * wide // columns)
                places[p, i, j], out[p, i, j] = _greatest(planes[p], y, bottom, x, right)


@kernel
def _greatest(plane: Array, y: int, bottom: int, x: int, right: int) -> tuple[int, float]:
    """Where it stands, and what it is."""
    if y >= bottom or x >= right:
        return -1, plane.dtype.type(0)
    row, column, best = y, x, plane[y, x]
    for k in range(y, bottom):
        for m in range(x, right):
            if not plane[k, m] <= best and best == best:
                row, column, best = k, m, plane[k, m]
    return row * plane.shape[1] + column, best


@kernel
def _seen(plane: Array, frame: Frame, i: int, j: int) -> tuple[int, int, int, int]:
    """What of a plane the window sees in its place: rows from, to; columns from, to."""
    tall, wide, down, across, above, left = frame[:6]
    y, x = i * down - above, j * across - left
    return max(y, 0), min(y + tall, plane.shape[0]), max(x, 0), min(x + wide, plane.shape[1])


@kernel
def put_back(given: Array, places: Array, planes: Array) -> None:
    """The gradient of ``pool_max`` and ``pool_parts``: each number is added to its place."""
    planes[:] = 0
    for p in range(given.shape[0]):
        _put_back(given[p].ravel(), places[p].ravel(), planes[p])


@kernel
def _put_back(given: Array, places: Array, plane: Array) -> None:
    for k in range(given.shape[0]):
        at = places[k]
        if at >= 0:
            plane[at // plane.shape[1], at % plane.shape[1]] += given[k]


@kernel
def pool_average(planes: Array, frame: Frame, counts_zeros: bool, out: Array) -> None:
    """``out`` (planes, rows, columns) is the mean of what the window sees, zeros outside if they count."""
    for p in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                y, bottom, x, right = _seen(planes[p], frame, i, j)
                out[p, i, j] = planes[p, y:bottom, x:right].sum() / _number(
                    frame, counts_zeros, y, bottom, x, right
                )


@kernel
def _number(frame: Frame, counts_zeros: bool, y: int, bottom: int, x: int, right: int) -> int:
    return frame[0] * frame[1] if counts_zeros else max((bottom - y) * (right - x), 1)


@kernel
def spread_average(given: Array, frame: Frame, counts_zeros: bool, planes: Array) -> None:
    """The gradient of ``pool_average``: each number is parted among all that it is the mean of."""
    planes[:] = 0
    for p in range(given.shape[0]):
        for i in range(given.shape[1]):
            for j in range(given.shape[2]):
                y, bottom, x, right = _seen(planes[p], frame, i, j)
                planes[p, y:bottom, x:right] += given[p, i, j] / _number(
                    frame, counts_zeros, y, bottom, x, right
                )
