"""Kernels of images, of grids over them and of channels against their twins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle._engine.kernels import channels, grids, images
from tests.engine import image_twins
from tests.engine.image_twins import Frame
from tests.engine.kernels.case import Case, Draw, chance, filled, generator, held, integer, normal, special

Array = np.ndarray
Numbers = tuple[int, ...]


def unfold(pictures: Array, frame: Numbers, line: int, seen: Array) -> None:
    seen[:] = image_twins.seen(pictures, Frame(*frame), line, seen.shape[2] // frame[7])


def fold(seen: Array, frame: Numbers, line: int, pictures: Array) -> None:
    pictures[:] = image_twins.folded(seen, pictures, Frame(*frame), line)


def pool_max(planes: Array, frame: Numbers, out: Array, places: Array) -> None:
    out[:], places[:] = image_twins.greatest(planes, Frame(*frame))


def pool_parts(planes: Array, out: Array, places: Array) -> None:
    (height, width), (rows, columns) = planes.shape[1:], out.shape[1:]
    for p, i, j in np.ndindex(out.shape):
        ys = range(int(np.floor(i * height / rows)), int(np.ceil((i + 1) * height / rows)))
        xs = range(int(np.floor(j * width / columns)), int(np.ceil((j + 1) * width / columns)))
        part = planes[p][np.ix_(ys, xs)]
        k, m = divmod(int(np.argmax(part)), len(xs))
        out[p, i, j], places[p, i, j] = part[k, m], ys[k] * width + xs[m]


def put_back(given: Array, places: Array, planes: Array) -> None:
    planes[:] = 0
    for p in range(len(planes)):
        inside = places[p] >= 0
        np.add.at(planes[p].reshape(-1), places[p][inside], given[p][inside])


def _windows(planes: Array, shape: Numbers, frame: Frame, counts: bool) -> Iterator[tuple[Any, Any, int]]:
    """Each place, what of the planes its window sees, and the number of which that makes a mean."""
    for p, i, j in np.ndindex(shape):
        y, x = i * frame.down - frame.above, j * frame.across - frame.left
        part = planes[p, max(y, 0) : max(y + frame.tall, 0), max(x, 0) : max(x + frame.wide, 0)]
        yield (p, i, j), part, frame.tall * frame.wide if counts else max(part.size, 1)


def pool_average(planes: Array, frame: Numbers, counts: bool, out: Array) -> None:
    for place, part, number in _windows(planes, out.shape, Frame(*frame), counts):
        total = np.cumsum(part.reshape(-1), dtype=planes.dtype)[-1:].sum()
        out[place] = np.float64(total) / number


def spread_average(given: Array, frame: Numbers, counts: bool, planes: Array) -> None:
    planes[:] = 0
    for place, part, number in _windows(planes, given.shape, Frame(*frame), counts):
        part[:] = part + np.float64(given[place]) / number


def frames(draw: Draw, least: int = 1, *, has_gaps: bool = True) -> Frame:
    window, places = (
        (integer(draw, 1, 4), integer(draw, 1, 4)),
        (integer(draw, least, 5), integer(draw, least, 6)),
    )
    steps, edges = (integer(draw, 1, 3), integer(draw, 1, 3)), (integer(draw, 0, 3), integer(draw, 0, 3))
    gaps = (integer(draw, 1, 3), integer(draw, 1, 3)) if has_gaps else (1, 1)
    return Frame(*window, *steps, *edges, *places, *gaps)


def looked(draw: Draw) -> tuple[Array, Frame, int, Array]:
    frame = frames(draw)
    line = integer(draw, 0, frame.rows - 1)
    lines = integer(draw, 1, frame.rows - line)
    n, many, height, width = (integer(draw, 1, most) for most in (3, 3, 8, 9))
    seen = filled(many * frame.tall * frame.wide, n, lines * frame.columns)
    return special(draw, n, many, height, width), frame, line, seen


def unfolded(draw: Draw) -> tuple[Any, ...]:
    pictures, frame, line, seen = looked(draw)
    return pictures, tuple(frame), line, seen


def folded(draw: Draw) -> tuple[Any, ...]:
    pictures, frame, line, seen = looked(draw)
    return special(draw, *seen.shape), tuple(frame), line, pictures


def planes_of(draw: Draw) -> Array:
    return special(draw, integer(draw, 1, 3), integer(draw, 1, 8), integer(draw, 1, 9))


def pooled(draw: Draw) -> tuple[Array, Numbers, Array]:
    """Planes, a frame whose windows are often those that have loops of their own, and room for the result."""
    planes, frame = planes_of(draw), frames(draw, has_gaps=False)
    if chance(draw):
        size = integer(draw, 2, 3)
        frame = frame._replace(tall=size, wide=size, across=integer(draw, 1, 2))
    return planes, tuple(frame), filled(len(planes), frame.rows, frame.columns)


def most(draw: Draw) -> tuple[Any, ...]:
    planes, frame, out = pooled(draw)
    return planes, frame, out, np.full_like(out, 7, dtype=np.int32)


def most_of_parts(draw: Draw) -> tuple[Any, ...]:
    planes = planes_of(draw)
    out = filled(len(planes), integer(draw, 1, 9), integer(draw, 1, 9))
    return planes, out, np.full_like(out, 7, dtype=np.int32)


def back(draw: Draw) -> tuple[Any, ...]:
    planes, frame, out, places = most(draw)
    pool_max(planes, frame, out, places)
    return special(draw, *out.shape), places, planes


def averaged(draw: Draw) -> tuple[Any, ...]:
    planes, frame, out = pooled(draw)
    return planes, frame, chance(draw), out


def averaged_back(draw: Draw) -> tuple[Any, ...]:
    planes, frame, out = pooled(draw)
    return special(draw, *out.shape), frame, chance(draw), planes


def read(draw: Draw) -> tuple[Any, ...]:
    n, many, pixels, places, around = (integer(draw, 1, high) for high in (3, 3, 12, 20, 4))
    at = generator(draw).integers(0, pixels, (around, n, places))
    return special(draw, n, many, pixels), at, special(draw, around, n, places), filled(n, many, places)


def read_back(draw: Draw) -> tuple[Any, ...]:
    pictures, at, shares, out = read(draw)
    return pictures, at, shares, special(draw, *out.shape), np.full_like(pictures, 7), np.full_like(shares, 7)


def moments(x: Array, mean: Array, variance: Array) -> None:
    wide, count = x.astype(np.float64), max(x.shape[0] * x.shape[2], 1)
    mean[:] = wide.sum((0, 2)) / count
    variance[:] = ((wide - mean[:, None]) ** 2).sum((0, 2)) / count


def stretch(x: Array, slope: Array, offset: Array, out: Array) -> None:
    out[:] = x * slope[:, None] + offset[:, None]


def sums(given: Array, x: Array, mean: Array, plain: Array, weighted: Array) -> None:
    wide = given.astype(np.float64)
    plain[:], weighted[:] = wide.sum((0, 2)), (wide * (x - mean[:, None])).sum((0, 2))


def stretch_both(given: Array, x: Array, a: Array, b: Array, c: Array, out: Array) -> None:
    out[:] = given * a[:, None] + x * b[:, None] + c[:, None]


def greatest(x: Array, out: Array, places: Array) -> None:
    groups = x.reshape(*out.shape[:2], -1, out.shape[2])
    places[:] = groups.argmax(2)
    out[:] = np.take_along_axis(groups, places[:, :, None].astype(np.int64), 2)[:, :, 0]


def greatest_back(given: Array, places: Array, out: Array) -> None:
    groups = out.reshape(*given.shape[:2], -1, given.shape[2])
    numbers = np.arange(groups.shape[2])[:, None]
    groups[:] = np.where(places[:, :, None] == numbers, given[:, :, None], 0)


def samples(draw: Draw) -> Array:
    places = 1 if chance(draw) else integer(draw, 2, 20)
    return normal(draw, integer(draw, 0, 5), integer(draw, 1, 20), places)


def measured(draw: Draw) -> tuple[Any, ...]:
    x = samples(draw) + np.float32(integer(draw, -3, 3))
    return x, filled(x.shape[1]), filled(x.shape[1])


def stretched(draw: Draw) -> tuple[Any, ...]:
    x = samples(draw)
    return x, special(draw, x.shape[1]), special(draw, x.shape[1]), np.empty_like(x)


def summed(draw: Draw) -> tuple[Any, ...]:
    x = samples(draw)
    return normal(draw, *x.shape), x, normal(draw, x.shape[1]), filled(x.shape[1]), filled(x.shape[1])


def stretched_both(draw: Draw) -> tuple[Any, ...]:
    x, a, b, out = stretched(draw)
    return special(draw, *x.shape), x, a, b, special(draw, x.shape[1]), out


def of_groups(draw: Draw) -> tuple[Any, ...]:
    n, groups, size, places = (integer(draw, 1, high) for high in (3, 3, 4, 40))
    out = filled(n, groups, places)
    return special(draw, n, groups * size, places), out, np.full_like(out, 7, dtype=np.int32)


def of_groups_back(draw: Draw) -> tuple[Any, ...]:
    x, out, places = of_groups(draw)
    greatest(x, out, places)
    return special(draw, *out.shape), places, np.empty_like(x)


test_a_kernel_is_its_twin = held(
    [
        Case(images.unfold, unfold, unfolded, is_wide=True),
        Case(images.fold, fold, folded, is_wide=True),
        Case(images.pool_max, pool_max, most, is_wide=True),
        Case(images.pool_parts, pool_parts, most_of_parts, is_wide=True),
        Case(images.put_back, put_back, back, is_wide=True),
        Case(images.pool_average, pool_average, averaged, is_wide=True),
        Case(images.spread_average, spread_average, averaged_back, is_wide=True),
        Case(grids.read, grids.numpy_read, read),
        Case(grids.read_back, grids.numpy_read_back, read_back),
        Case(channels.moments, moments, measured, rtol=1e-6, atol=1e-7, is_wide=True),
        Case(channels.stretch, stretch, stretched, is_wide=True),
        Case(channels.sums, sums, summed, rtol=1e-6, atol=5e-6, is_wide=True),
        Case(channels.stretch_both, stretch_both, stretched_both, is_wide=True),
        Case(channels.greatest, greatest, of_groups, is_wide=True),
        Case(channels.greatest_back, greatest_back, of_groups_back, is_wide=True),
    ]
)
