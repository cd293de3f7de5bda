"""The row that straightens regions of four corners: ``roi_perspective_transform``.

Guarantee: a pixel whose place lies beyond the region or the image is 0, and the mask says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.boxes.deforming import around
from paddle._program.ops.boxes.described import array_of, described, ends_of, say, shape_of
from paddle._program.ops.boxes.regions import by_regions, ends_then
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.tape import Done, Slopes

_NEAR = 1e-4


def _sides(op: Operator) -> tuple[int, int]:
    return int(op.attr("transformed_height")), int(op.attr("transformed_width"))


def _of_straight(op: Operator) -> None:
    x, count = described(op, "X"), shape_of(op, "ROIs")[0]
    say(op, "Out", (count, x.shape[1], *_sides(op)), x.dtype, described(op, "ROIs").lod_level)
    say(op, "Mask", (count, 1, *_sides(op)), "int32")
    say(op, "TransformMatrix", (count, 9), x.dtype)


def _matrix(corners: np.ndarray, height: int, width: int) -> np.ndarray:
    """What takes (column, row, 1) to places in a region; as many columns count as its sides say."""
    lengths = np.hypot(*(corners - np.roll(corners, -1, 0)).T)
    tall, wide = (lengths[1] + lengths[3]) / 2, (lengths[0] + lengths[2]) / 2
    rows = max(2, height) - 1
    columns = max(2, min(int(np.floor(wide * rows / tall + 0.5)) + 1, width)) - 1
    first, second, third = (
        corners[1] - corners[2],
        corners[3] - corners[2],
        corners[0] - corners[1] + corners[2] - corners[3],
    )
    whole = first[0] * second[1] - second[0] * first[1] + 1e-5
    across = (third[0] * second[1] - second[0] * third[1]) / whole / columns
    down = (first[0] * third[1] - third[0] * first[1]) / whole / rows
    found = np.empty((3, 3))
    found[:2, 0] = (corners[1] - corners[0]) / columns + across * corners[1]
    found[:2, 1] = (corners[3] - corners[0]) / rows + down * corners[3]
    found[:2, 2] = corners[0]
    found[2] = across, down, 1.0
    return found


def _within(x: np.ndarray, y: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Which places lie in a region, or on its border."""
    found, crossed = np.zeros(x.shape, bool), np.zeros(x.shape, int)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, 0), strict=True):
        low, high = min(y0, y1), max(y0, y1)
        if abs(y0 - y1) < _NEAR:
            found |= (np.abs(y - y0) < _NEAR) & (x > min(x0, x1) - _NEAR) & (x < max(x0, x1) + _NEAR)
            continue
        at = (y - y0) * (x1 - x0) / (y1 - y0) + x0
        found |= (np.abs(at - x) < _NEAR) & (y > low - _NEAR) & (y < high + _NEAR)
        crossed += (y >= low + _NEAR) & (y - high <= _NEAR) & (at - x > _NEAR)
    within: np.ndarray = found | (crossed % 2 == 1)
    return within


def _placed(
    op: Operator, region: np.ndarray, sides: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """The matrix of a region, which pixels there are, and the pixels around each with their shares."""
    corners = region.reshape(4, 2).astype(np.float64) * np.float32(op.attr("spatial_scale"))
    height, width = _sides(op)
    matrix = _matrix(corners, height, width)
    down, across = np.mgrid[:height, :width]
    x, y, depth = np.tensordot(matrix, np.stack([across, down, np.ones_like(down)]), 1)
    x, y = x / depth, y / depth
    there = _within(x, y, corners)
    for at, size in ((x, sides[1]), (y, sides[0])):
        there &= (at > -0.5 + _NEAR) & (at < size - 0.5 - _NEAR)
    held = np.clip(y, 0, sides[0] - 1), np.clip(x, 0, sides[1] - 1)
    return matrix, there, [(place, share * there) for place, share, *_ in around(*held, *sides)]


@hosts(
    "roi_perspective_transform",
    infer=_of_straight,
    spatial_scale=1.0,
    transformed_height=1,
    transformed_width=1,
)
def _straightened(host: Host, op: Operator) -> None:
    """Regions, (x, y) of four corners from the upper left on, as rectangles, read between pixels."""
    x, regions = array_of(host, op, "X"), array_of(host, op, "ROIs")
    out = np.zeros((len(regions), x.shape[1], *_sides(op)), x.dtype)
    masks = np.zeros((len(regions), 1, *_sides(op)), np.int32)
    matrices = np.zeros((len(regions), 9), x.dtype)
    for number, image in by_regions(ends_of(host, op, "ROIs")):
        matrix, there, corners = _placed(op, regions[number], x.shape[2:])
        planes = x[image].reshape(x.shape[1], -1)
        out[number] = sum(planes[:, place] * share for place, share in corners)
        masks[number, 0], matrices[number] = there, matrix.reshape(-1)
    given = host.input(op, "ROIs")
    host.give(op, "Out", LoDTensor(out, given.lod()) if isinstance(given, LoDTensor) else out)
    host.give(op, "Mask", masks)
    host.give(op, "TransformMatrix", matrices)


@backs("roi_perspective_transform")
def _straightened_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is None:
        return
    x, regions = np.asarray(done.input("X")), np.asarray(done.input("ROIs"))
    found = np.zeros((len(x), x.shape[1], x.shape[2] * x.shape[3]), x.dtype)
    for number, image in by_regions(ends_then(done)):
        for place, share in _placed(done.op, regions[number], x.shape[2:])[2]:
            flat = (came[number] * share).reshape(x.shape[1], -1)
            put: Any = (slice(None), place.reshape(-1))
            np.add.at(found[image], put, flat)
    done.add(slopes, "X", found.reshape(x.shape))
