"""Rows that cut regions out of features, each to one size: ``roi_pool`` and ``roi_align``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.boxes.described import (
    array_of,
    as_told,
    described,
    ends_of,
    from_counts,
    say,
    shape_of,
)
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.tape import Done, Slopes


def _of_regions(op: Operator) -> None:
    x = described(op, "X")
    sides = int(op.attr("pooled_height")), int(op.attr("pooled_width"))
    shape = (shape_of(op, "ROIs")[0], x.shape[1], *sides)
    say(op, "Out", shape, x.dtype)
    say(op, "Argmax", shape, "int64")


def _windows(
    op: Operator, region: np.ndarray, sides: tuple[int, ...]
) -> Iterator[tuple[int, int, slice, slice]]:
    """Of each cell of a region, by row and column, what it sees; halves are rounded away from 0."""
    scaled = region * float(op.attr("spatial_scale"))
    left, top, right, bottom = (int(each) for each in np.sign(scaled) * np.floor(np.abs(scaled) + 0.5))
    counts = int(op.attr("pooled_height")), int(op.attr("pooled_width"))
    rows, columns = (
        [_between(first, last, count, at, side) for at in range(count)]
        for first, last, count, side in zip((top, left), (bottom, right), counts, sides, strict=True)
    )
    for row, down in enumerate(rows):
        for column, across in enumerate(columns):
            yield row, column, down, across


def _between(first: int, last: int, count: int, at: int, side: int) -> slice:
    step = np.float32(max(last - first + 1, 1)) / np.float32(count)
    begin, end = int(np.floor(np.float32(at) * step)), ceil(np.float32(at + 1) * step)
    return slice(min(max(begin + first, 0), side), min(max(end + first, 0), side))


@hosts("roi_pool", infer=_of_regions, pooled_height=1, pooled_width=1, spatial_scale=1.0)
def _roi_pool(host: Host, op: Operator) -> None:
    """Of each cell of a region the greatest that it sees, 0 where it sees nothing."""
    x, regions = array_of(host, op, "X"), array_of(host, op, "ROIs")
    height, width = x.shape[2:]
    out = np.zeros((len(regions), x.shape[1], op.attr("pooled_height"), op.attr("pooled_width")), x.dtype)
    places = np.full(out.shape, -1, np.int64)
    for number, image in by_regions(ends_of(host, op, "ROIs")):
        for row, column, down, across in _windows(op, regions[number], (height, width)):
            seen = x[image][:, down, across]
            if not seen.size:
                continue
            best = seen.reshape(len(seen), -1).argmax(1)
            at_row, at_column = np.divmod(best, seen.shape[2])
            out[number, :, row, column] = seen[np.arange(len(seen)), at_row, at_column]
            places[number, :, row, column] = (at_row + down.start) * width + at_column + across.start
    host.give(op, "Out", out)
    host.give(op, "Argmax", places)


def by_regions(ends: list[int]) -> Iterator[tuple[int, int]]:
    """Each region by number, and its image."""
    for image, (first, end) in enumerate(pairwise(ends)):
        for number in range(first, end):
            yield number, image


def ends_then(done: Done) -> list[int]:
    """Where the regions of each image began and ended."""
    if done.op.inputs.get("RoisLod"):
        return as_told(done.input("RoisLod"))
    if done.op.inputs.get("RoisNum"):
        return from_counts(done.input("RoisNum"))
    value = done.input("ROIs")
    lod = value.lod() if isinstance(value, LoDTensor) else []
    return list(lod[-1]) if lod else [0, len(np.asarray(value))]


@backs("roi_pool")
def _roi_pool_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is None:
        return
    x, (places,) = np.asarray(done.input("X")), done.outputs("Argmax")
    found = np.zeros((*x.shape[:2], x.shape[2] * x.shape[3]), x.dtype)
    for number, image in by_regions(ends_then(done)):
        channel, row, column = np.nonzero(places[number] >= 0)
        np.add.at(
            found[image], (channel, places[number, channel, row, column]), came[number, channel, row, column]
        )
    done.add(slopes, "X", found.reshape(x.shape))


def _weights(first: float, extent: float, count: int, samples: int, side: int) -> np.ndarray:
    """(cells, pixels) along one axis: how much each pixel counts, which lies between two, for each cell."""
    step = extent / count
    each = samples if samples > 0 else ceil(extent / count)
    at = first + (np.arange(count)[:, None] + (np.arange(each) + 0.5) / each) * step
    found = np.zeros((count, side), np.float32)
    if not each:
        return found
    is_seen = (at >= -1.0) & (at <= side)
    at = np.maximum(at, 0.0)
    below = np.minimum(at.astype(int), side - 1)
    share = np.where(below >= side - 1, 0.0, at - below)
    above = np.minimum(below + 1, side - 1)
    cell = np.broadcast_to(np.arange(count)[:, None], at.shape)
    np.add.at(found, (cell, below), np.where(is_seen, 1.0 - share, 0.0) / each)
    np.add.at(found, (cell, above), np.where(is_seen, share, 0.0) / each)
    return found


def _aligned(op: Operator, region: np.ndarray, sides: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Weights along height and along width."""
    is_aligned = bool(op.attr("aligned"))
    scaled = region * np.float32(op.attr("spatial_scale")) - np.float32(0.5 if is_aligned else 0.0)
    left, top, right, bottom = (float(each) for each in scaled)
    least, samples = 0.0 if is_aligned else 1.0, int(op.attr("sampling_ratio"))
    down = _weights(top, max(bottom - top, least), int(op.attr("pooled_height")), samples, sides[0])
    return down, _weights(left, max(right - left, least), int(op.attr("pooled_width")), samples, sides[1])


@hosts(
    "roi_align",
    infer=_of_regions,
    pooled_height=1,
    pooled_width=1,
    spatial_scale=1.0,
    sampling_ratio=-1,
    aligned=False,
)
def _roi_align(host: Host, op: Operator) -> None:
    """Of each cell of a region the mean of samples between pixels."""
    x, regions = array_of(host, op, "X"), array_of(host, op, "ROIs")
    out = np.zeros((len(regions), x.shape[1], op.attr("pooled_height"), op.attr("pooled_width")), x.dtype)
    for number, image in by_regions(ends_of(host, op, "ROIs")):
        down, across = _aligned(op, regions[number], x.shape[2:])
        rows, columns = touched(down), touched(across)
        seen: Any = x[image][:, rows, columns]
        out[number] = down[:, rows] @ seen @ across[:, columns].T
    host.give(op, "Out", out)


def touched(weights: np.ndarray) -> slice:
    """The pixels that count at all."""
    found = np.flatnonzero(weights.any(0))
    return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0)


@backs("roi_align")
def _roi_align_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is None:
        return
    x, regions = np.asarray(done.input("X")), np.asarray(done.input("ROIs"))
    found = np.zeros_like(x)
    for number, image in by_regions(ends_then(done)):
        down, across = _aligned(done.op, regions[number], x.shape[2:])
        rows, columns = touched(down), touched(across)
        found[image][:, rows, columns] += down[:, rows].T @ came[number] @ across[:, columns]
    done.add(slopes, "X", found)
