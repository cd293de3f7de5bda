"""Images: what a window sees that moves over one, and what pooling makes of that.

A *frame* says how it moves: height and width of the window; its steps, down and across; the rows above and
the columns left of the image at which it begins; how many places it takes, down and across; and how far apart
the pixels are that it sees, down and across (pooling sees all: 1). Outside the image it sees zeros
(``unfold``) or nothing (pooling). It must never know weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray
Frame = tuple[int, int, int, int, int, int, int, int, int, int]
Pair = tuple[int, int]
Box = tuple[int, int, int, int]
Three = tuple[int, int, int]

Unsigned = np.uint64


@kernel
def unfold(images: Array, frame: Frame, line: int, seen: Array) -> None:
    """``seen`` (channels * window, n, places): what windows see of ``images`` (n, channels, h, w) in some
    lines of places, the first of them ``line``; a row for each number of a window, image beside image."""
    size, columns = images.shape[1] * images.shape[2] * images.shape[3], frame[7]
    count, lines = seen.shape[1], seen.shape[2] // columns
    pixels, numbers = images.reshape(-1), seen.reshape(-1)
    apart = Unsigned(frame[2] * images.shape[3]), Unsigned(frame[3]), Unsigned(columns)
    for k in range(seen.shape[0]):
        top, bottom, first, end, at = _in_sight(images, frame, line, lines, k)
        if bottom - top < lines or end - first < columns:
            seen[k] = 0
        box = Unsigned(bottom - top), Unsigned(end - first)
        for i in range(count):
            place = ((k * count + i) * lines + top) * columns + first
            _copy(pixels, Unsigned(i * size + at), numbers, Unsigned(place), box, apart)


@kernel
def fold(seen: Array, frame: Frame, line: int, images: Array) -> None:
    """The gradient of ``unfold``: everything is added to where in ``images`` it was seen."""
    size, columns = images.shape[1] * images.shape[2] * images.shape[3], frame[7]
    count, lines = seen.shape[1], seen.shape[2] // columns
    pixels, numbers = images.reshape(-1), seen.reshape(-1)
    apart = Unsigned(frame[2] * images.shape[3]), Unsigned(frame[3]), Unsigned(columns)
    for k in range(seen.shape[0]):
        top, bottom, first, end, at = _in_sight(images, frame, line, lines, k)
        box = Unsigned(bottom - top), Unsigned(end - first)
        for i in range(count):
            place = ((k * count + i) * lines + top) * columns + first
            _add(pixels, Unsigned(i * size + at), numbers, Unsigned(place), box, apart)


@kernel
def _in_sight(images: Array, frame: Frame, line: int, lines: int, k: int) -> tuple[int, int, int, int, int]:
    """In which of the lines, and columns, number ``k`` of a window is a pixel of the image; and which one in
    the first of these."""
    tall, wide, down, across, above, left, _, columns, lower, later = frame
    _, _, height, width = images.shape
    y, x = k // wide % tall * lower - above + line * down, k % wide * later - left
    top, bottom = _inside(height, y, down, lines)
    first, end = _inside(width, x, across, columns)
    at = (k // (tall * wide) * height + y + top * down) * width + x + first * across
    return top, bottom, first, end, at


@kernel
def _inside(size: int, start: int, step: int, count: int) -> tuple[int, int]:
    """Which of ``count`` places from ``start`` on, so far apart, are inside: the first, and the end."""
    first = 0 if start >= 0 else (-start + step - 1) // step
    end = 0 if start >= size else (size - 1 - start) // step + 1
    return min(first, count), max(min(end, count), min(first, count))


@kernel
def _copy(pixels: Array, at: int, numbers: Array, place: int, box: Pair, apart: Three) -> None:
    """Numbers of lines and columns without a sign: of others the compiler looks first whether they count from
    the end, one by one. ``apart``: lines of pixels, pixels of a line, and lines of places."""
    (lines, columns), (down, across, wide) = box, apart
    if across == Unsigned(1):
        for i in range(lines):
            for j in range(columns):
                numbers[place + i * wide + j] = pixels[at + i * down + j]
    else:
        for i in range(lines):
            for j in range(columns):
                numbers[place + i * wide + j] = pixels[at + i * down + j * across]


@kernel
def _add(pixels: Array, at: int, numbers: Array, place: int, box: Pair, apart: Three) -> None:
    (lines, columns), (down, across, wide) = box, apart
    if across == Unsigned(1):
        for i in range(lines):
            for j in range(columns):
                pixels[at + i * down + j] += numbers[place + i * wide + j]
    else:
        for i in range(lines):
            for j in range(columns):
                pixels[at + i * down + j * across] += numbers[place + i * wide + j]


@kernel
def pool_max(planes: Array, frame: Frame, out: Array, places: Array) -> None:
    """``out`` (planes, rows, columns) is the greatest that the window sees. NaN is greater than any number.

    ``places``, int32, is where in the plane it stands first; where the window sees nothing, -1 and ``out`` 0.
    """
    tall, wide, down, across, above, left = frame[:6]
    _, height, width = planes.shape
    is_usual = (across == 1 or across == 2) and tall == wide and (tall == 2 or tall == 3)
    pixels, inside = planes.reshape(-1), _inside(width - wide + 1, -left, across, out.shape[2])
    for p in range(out.shape[0]):
        plane = planes[p]
        for i in range(out.shape[1]):
            y = i * down - above
            first, end = inside if is_usual and 0 <= y <= height - tall else (0, 0)
            if first < end:
                at = y * width + first * across - left
                best, place = out[p, i, first:end], places[p, i, first:end]
                _greatest_in_line(pixels[p * height * width + at :], width, tall, across, at, best, place)
            for k in range(out.shape[2] - end + first):
                j = k if k < first else k + end - first
                places[p, i, j], out[p, i, j] = _greatest(plane, *_seen(plane, frame, i, j))


@kernel
def _greatest_in_line(
    pixels: Array, width: int, tall: int, across: int, at: int, best: Array, place: Array
) -> None:
    """``best`` and ``place`` of windows side by side, by steps of 1 or 2; the first begins ``pixels``.

    Each of the windows that most programs have gets loops of its own, whose bounds the compiler knows.
    """
    if across == 2 and tall == 2:
        _greatest_side_by_side(pixels, width, 2, 2, at, best, place)
    elif across == 2:
        _greatest_side_by_side(pixels, width, 3, 2, at, best, place)
    elif tall == 2:
        _greatest_side_by_side(pixels, width, 2, 1, at, best, place)
    else:
        _greatest_side_by_side(pixels, width, 3, 1, at, best, place)


@kernel(inline="always")
def _greatest_side_by_side(
    pixels: Array, width: int, size: int, step: int, at: int, best: Array, place: Array
) -> None:
    """No pixel is jumped over: which of two is greater is nothing that a processor could foresee."""
    for j in range(best.shape[0]):
        start = Unsigned(j) * Unsigned(step)
        greatest, where = pixels[start], np.int32(start)
        for k in range(size):
            for m in range(size):
                here = start + Unsigned(k) * Unsigned(width) + Unsigned(m)
                is_greater = (not pixels[here] <= greatest) & (greatest == greatest)
                greatest = pixels[here] if is_greater else greatest
                where = np.int32(here) if is_greater else where
        best[j], place[j] = greatest, where + np.int32(at)


@kernel
def pool_parts(planes: Array, out: Array, places: Array) -> None:
    """As ``pool_max``, of as many parts of a plane as ``out`` has numbers, as equal as there are pixels: they
    share a pixel where these do not go round."""
    tall, wide, rows, columns = *planes.shape[1:], *out.shape[1:]
    for p in range(out.shape[0]):
        plane = planes[p]
        for i in range(rows):
            y, bottom = i * tall // rows, -(-(i + 1) * tall // rows)
            for j in range(columns):
                x, right = j * wide // columns, -(-(j + 1) * wide // columns)
                places[p, i, j], out[p, i, j] = _greatest(plane, y, bottom, x, right)


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
def _seen(plane: Array, frame: Frame, i: int, j: int) -> Box:
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
        plane = planes[p]
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                box = _seen(plane, frame, i, j)
                out[p, i, j] = _sum(plane, box) / _number(frame, counts_zeros, box)


@kernel
def _sum(plane: Array, box: Box) -> Any:
    y, bottom, x, right = box
    total = plane.dtype.type(0)
    for k in range(y, bottom):
        for m in range(x, right):
            total += plane[Unsigned(k), Unsigned(m)]
    return total


@kernel
def _number(frame: Frame, counts_zeros: bool, box: Box) -> int:
    y, bottom, x, right = box
    return frame[0] * frame[1] if counts_zeros else max((bottom - y) * (right - x), 1)


@kernel
def spread_average(given: Array, frame: Frame, counts_zeros: bool, planes: Array) -> None:
    """The gradient of ``pool_average``: each number is parted among all that it is the mean of."""
    planes[:] = 0
    for p in range(given.shape[0]):
        plane = planes[p]
        for i in range(given.shape[1]):
            for j in range(given.shape[2]):
                box = _seen(plane, frame, i, j)
                _spread(given[p, i, j] / _number(frame, counts_zeros, box), plane, box)


@kernel
def _spread(part: float, plane: Array, box: Box) -> None:
    y, bottom, x, right = box
    for k in range(y, bottom):
        for m in range(x, right):
            plane[Unsigned(k), Unsigned(m)] += part
