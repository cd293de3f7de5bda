"""Rows that cut regions out of features, each cell as a mean along both axes: ``psroi_pool``, whose cells see
channels of their own, and ``prroi_pool``, which integrates what lies between pixels.

Guarantee: a cell is a matrix for each axis; of ``prroi_pool`` the regions have gradients, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.boxes.described import array_of, described, ends_of, say, shape_of
from paddle._program.ops.boxes.regions import by_regions, ends_then, touched
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import offsets
from paddle._program.running.tape import Done, Slopes

Axes = tuple[np.ndarray, np.ndarray]


def _pooled(op: Operator) -> tuple[int, int]:
    return int(op.attr("pooled_height")), int(op.attr("pooled_width"))


def _of_parts(op: Operator) -> None:
    x = described(op, "X")
    channels = op.attrs.get("output_channels") or x.shape[1]
    say(op, "Out", (shape_of(op, "ROIs")[0], int(channels), *_pooled(op)), x.dtype)


def _means(first: float, last: float, count: int, side: int) -> np.ndarray:
    """(cells, pixels): each pixel that a cell touches counts alike."""
    step = np.float32(max(last - first, 0.1)) / np.float32(count)
    cells = np.arange(count, dtype=np.float32)
    begin = np.clip(np.floor(cells * step + np.float32(first)).astype(int), 0, side)
    end = np.clip(np.ceil((cells + 1) * step + np.float32(first)).astype(int), 0, side)
    pixels = np.arange(side)
    seen = (pixels >= begin[:, None]) & (pixels < end[:, None])
    found: np.ndarray = seen / np.maximum(end - begin, 1)[:, None]
    return found.astype(np.float32)


def _own_parts(op: Operator, region: np.ndarray, sides: tuple[int, ...]) -> Axes:
    """Ends are rounded to pixels, halves away from 0, and the last one lies within."""
    whole = np.sign(region) * np.floor(np.abs(region) + 0.5) + np.array([0, 0, 1, 1])
    left, top, right, bottom = (float(each) for each in whole.astype(np.float32) * _scale(op))
    height, width = _pooled(op)
    return _means(top, bottom, height, sides[0]), _means(left, right, width, sides[1])


def _scale(op: Operator) -> np.float32:
    return np.float32(op.attr("spatial_scale"))


@hosts("psroi_pool", infer=_of_parts, output_channels=1, spatial_scale=1.0, pooled_height=1, pooled_width=1)
def _psroi_pool(host: Host, op: Operator) -> None:
    """Of each cell the mean of what it sees in its own channel."""
    x, regions = array_of(host, op, "X"), array_of(host, op, "ROIs")
    cells = x.reshape(len(x), -1, *_pooled(op), *x.shape[2:])
    out = np.zeros((len(regions), *cells.shape[1:4]), x.dtype)
    for number, image in by_regions(ends_of(host, op, "ROIs")):
        down, across = _own_parts(op, regions[number], x.shape[2:])
        rows, columns = touched(down), touched(across)
        seen = cells[image][..., rows, columns]
        out[number] = np.einsum("cpqhw,ph,qw->cpq", seen, down[:, rows], across[:, columns], optimize=True)
    host.give(op, "Out", out)


@backs("psroi_pool")
def _psroi_pool_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is None:
        return
    x, regions = np.asarray(done.input("X")), np.asarray(done.input("ROIs"))
    found = np.zeros((len(x), *came.shape[1:], *x.shape[2:]), x.dtype)
    for number, image in by_regions(ends_then(done)):
        down, across = _own_parts(done.op, regions[number], x.shape[2:])
        rows, columns = touched(down), touched(across)
        parts = np.einsum("cpq,ph,qw->cpqhw", came[number], down[:, rows], across[:, columns], optimize=True)
        found[image][..., rows, columns] += parts
    done.add(slopes, "X", found.reshape(x.shape))


def _near(apart: np.ndarray) -> np.ndarray:
    """How much of a pixel there is so far from its middle."""
    found: np.ndarray = np.maximum(1.0 - np.abs(apart), 0.0)
    return found


def _until(apart: np.ndarray) -> np.ndarray:
    """How much of a pixel lies before a place so far from its middle."""
    held = np.clip(apart, -1.0, 1.0)
    return np.where(held < 0, (held + 1) ** 2 / 2, 0.5 + held - held**2 / 2)


def _cells(first: float, last: float, count: int, side: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Where cells begin and end, less where each pixel is: (cells, pixels) each; and the size of a cell."""
    size = max(last - first, 0.0) / count
    begin = first + np.arange(count) * size
    pixels = np.arange(side)
    return begin[:, None] - pixels, begin[:, None] + size - pixels, size


def _along(op: Operator, region: np.ndarray, sides: tuple[int, ...]) -> list[tuple[Any, ...]]:
    left, top, right, bottom = (float(each) for each in region * _scale(op))
    height, width = _pooled(op)
    return [_cells(top, bottom, height, sides[0]), _cells(left, right, width, sides[1])]


def _whole(begin: np.ndarray, end: np.ndarray, size: float) -> np.ndarray:
    """(cells, pixels): how much of each pixel a cell holds, as a share of the cell."""
    found: np.ndarray = (_until(end) - _until(begin)) / (size or 1.0)
    return found.astype(np.float32)


def _ends(given: Any, counts: Any) -> list[int]:
    return list(given) if counts is None else offsets(np.asarray(counts).reshape(-1).tolist())


@hosts("prroi_pool", infer=_of_parts, spatial_scale=1.0, pooled_height=1, pooled_width=1)
def _prroi_pool(host: Host, op: Operator) -> None:
    """Of each cell the integral of what lies between pixels, over its area; beyond the image there is 0."""
    x, regions = array_of(host, op, "X"), array_of(host, op, "ROIs")
    out = np.zeros((len(regions), x.shape[1], *_pooled(op)), x.dtype)
    ends = _ends(ends_of(host, op, "ROIs"), host.input(op, "BatchRoINums"))
    for number, image in by_regions(ends):
        down, across = (_whole(*axis) for axis in _along(op, regions[number], x.shape[2:]))
        out[number] = down @ x[image] @ across.T
    host.give(op, "Out", out)


@backs("prroi_pool")
def _prroi_pool_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is None:
        return
    x, regions = np.asarray(done.input("X")), np.asarray(done.input("ROIs"))
    of_x, of_regions = np.zeros_like(x), np.zeros_like(regions)
    counts = done.input("BatchRoINums") if done.op.input("BatchRoINums") else None
    for number, image in by_regions(_ends(ends_then(done), counts)):
        axes = _along(done.op, regions[number], x.shape[2:])
        down, across = (_whole(*axis) for axis in axes)
        of_x[image] += down.T @ came[number] @ across
        if axes[0][2] and axes[1][2]:
            told = came[number] * (down @ x[image] @ across.T)
            rows = x[image] @ across.T, came[number], told
            of_regions[number, 1::2] = _of_ends(axes[0], *rows)
            columns = (down @ x[image]).transpose(0, 2, 1), came[number].transpose(0, 2, 1)
            of_regions[number, 0::2] = _of_ends(axes[1], *columns, told.transpose(0, 2, 1))
    done.add(slopes, "X", of_x)
    done.add(slopes, "ROIs", of_regions * _scale(done.op))


def _of_ends(axis: tuple[Any, ...], lines: np.ndarray, came: np.ndarray, told: np.ndarray) -> Axes:
    """The slopes of where a region begins and ends along an axis. ``lines``: (channels, pixels, cells of the
    other axis); ``came`` and ``told``: (channels, cells, cells of the other)."""
    begin, end, size = axis
    edges = [(came * (_near(edge) @ lines)).sum((0, 2)) / size for edge in (begin, end)]
    mean = told.sum((0, 2)) / size
    at_begin, at_end = mean - edges[0], edges[1] - mean
    share = np.arange(len(begin) + 1) / len(begin)
    first = (at_begin * (1 - share[:-1]) + at_end * (1 - share[1:])).sum()
    return first, (at_begin * share[:-1] + at_end * share[1:]).sum()
