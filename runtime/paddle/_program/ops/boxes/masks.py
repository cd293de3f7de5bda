"""The row that says which pixels of regions are of objects: ``generate_mask_labels``.

A polygon is drawn with five steps to a pixel, and a pixel is within where its middle is. Guarantee: each
image that has regions has a mask, of nothing where no region holds an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from paddle._engine.boxes import overlaps
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.ops.boxes.pixels import joined, of_images
from paddle._program.ops.tags import tensor_of
from paddle._program.running.host import Host

_STEPS = 5
_LEAST = np.finfo(np.float32).tiny
Polygons = list[np.ndarray]


def _of_masks(op: Operator) -> None:
    regions, side = described(op, "Rois"), int(op.attr("resolution"))
    say(op, "MaskRois", (-1, 4), regions.dtype, regions.lod_level)
    say(op, "RoiHasMaskInt32", (-1, 1), "int32", regions.lod_level)
    say(op, "MaskInt32", (-1, int(op.attr("num_classes")) * side * side), "int32", regions.lod_level)


@hosts("generate_mask_labels", infer=_of_masks, num_classes=1, resolution=14)
def _generate_mask_labels(host: Host, op: Operator) -> None:
    """Of regions that hold an object the mask of the one that they overlap most, in the columns of its
    class."""
    told = array_of(host, op, "ImInfo")
    given = [of_images(host, op, slot) for slot in ("Rois", "LabelsInt32", "GtClasses", "IsCrowd")]
    parts = []
    for image, (regions, labels, kinds, crowd) in enumerate(zip(*given, strict=True)):
        objects = _objects(host, op, image, kinds.reshape(-1), crowd.reshape(-1))
        parts.append(_of_image(op, regions, labels.reshape(-1), objects, told[image, 2]))
    for slot, each in zip(
        ("MaskRois", "RoiHasMaskInt32", "MaskInt32"), zip(*parts, strict=True), strict=True
    ):
        host.give(op, slot, joined(list(each)))


def _objects(host: Host, op: Operator, image: int, kinds: np.ndarray, crowd: np.ndarray) -> list[Polygons]:
    """The polygons of each object of an image that counts."""
    segments = tensor_of(host, op, "GtSegms")
    lod = segments.lod()
    if len(lod) != 3:
        raise BadProgram(
            f"operator 'generate_mask_labels': polygons are sequences of three levels, images, objects and "
            f"polygons, not of {len(lod)}"
        )
    first, points, found = lod[0][image], segments.array(), []
    for number in np.flatnonzero((kinds > 0) & (crowd == 0)).tolist():
        begin, end = lod[1][first + number], lod[1][first + number + 1]
        found.append([points[start:stop] for start, stop in pairwise(lod[2][begin : end + 1])])
    return found


def _of_image(
    op: Operator, regions: np.ndarray, labels: np.ndarray, objects: list[Polygons], scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    side, classes = int(op.attr("resolution")), int(op.attr("num_classes"))
    chosen = np.flatnonzero(labels > 0)
    if not len(chosen):
        nothing = np.flatnonzero(labels == 0)[:1]
        masks = np.full((len(nothing), classes * side * side), -1, np.int32)
        return regions[nothing], nothing.astype(np.int32).reshape(-1, 1), masks
    own = regions[chosen] / scale
    near = overlaps(own, np.array([_bounds(polygons) for polygons in objects], np.float32), False)
    best = np.where(near.max(1) > _LEAST, near.argmax(1), 0)
    masks = np.full((len(chosen), classes, side * side), -1, np.int32)
    for row, (region, at) in enumerate(zip(own, best, strict=True)):
        masks[row, labels[chosen[row]]] = _drawn(objects[at], region, side).reshape(-1)
    flat = masks.reshape(len(chosen), -1)
    return own * scale, chosen.astype(np.int32).reshape(-1, 1), flat


def _bounds(polygons: Polygons) -> list[float]:
    points = np.concatenate(polygons)
    return [*points.min(0).tolist(), *np.maximum(points.max(0), _LEAST).tolist()]


def _drawn(polygons: Sequence[np.ndarray], region: np.ndarray, side: int) -> np.ndarray:
    """(side, side): 1 where a pixel of a region lies in one of some polygons."""
    sizes = np.maximum(region[2:] - region[:2], np.float32(1))
    found = np.zeros((side, side), bool)
    for points in polygons:
        found |= within((points - region[:2]) * np.float32(side) / sizes, side, side)
    return found.astype(np.int32)


def within(points: np.ndarray, height: int, width: int) -> np.ndarray:
    """(height, width): which pixels lie within a polygon of points (x, y)."""
    steps = np.trunc(points.astype(np.float64) * _STEPS + 0.5).astype(np.int64)
    lines = [_line(begin, end) for begin, end in zip(steps, np.roll(steps, -1, 0), strict=True)]
    columns, rows = np.concatenate(lines).T
    moved = np.flatnonzero(columns[1:] != columns[:-1]) + 1
    left = np.where(columns[moved] < columns[moved - 1], columns[moved], columns[moved] - 1)
    column = (left + 0.5) / _STEPS - 0.5
    is_middle = (np.floor(column) == column) & (column >= 0) & (column <= width - 1)
    upper = np.minimum(rows[moved], rows[moved - 1])[is_middle]
    row = np.ceil(np.clip((upper + 0.5) / _STEPS - 0.5, 0, height)).astype(np.int64)
    at = column[is_middle].astype(np.int64) * height + row
    turns = np.bincount(at, minlength=height * width + 1)[: height * width]
    inside: np.ndarray = np.cumsum(turns).reshape(width, height).T % 2 == 1
    return inside


def _line(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The points of a line, one for each step along the axis on which it is longer."""
    apart = np.abs(end - begin)
    axis = 0 if apart[0] >= apart[1] else 1
    is_turned = begin[axis] > end[axis]
    first, last = (end, begin) if is_turned else (begin, end)
    number = np.arange(apart[axis] + 1)
    slope = (last[1 - axis] - first[1 - axis]) / apart[axis] if apart[axis] else 0.0
    found = np.empty((len(number), 2), np.int64)
    found[:, axis] = number + first[axis]
    found[:, 1 - axis] = np.trunc(first[1 - axis] + slope * number + 0.5)
    return found[::-1] if is_turned else found
