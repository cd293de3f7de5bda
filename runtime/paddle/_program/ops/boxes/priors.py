"""Rows of boxes that stand on a grid over an image, whatever the image shows: numbers of the program's own.

They must never know a value. Guarantee: they are in the order of the original's, by row, column and shape.
"""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.sizes import anything, open_size

_EQUAL = 1e-6
_VARIANCES = (0.1, 0.1, 0.2, 0.2)


def _ratios(op: Operator) -> list[float]:
    """1, and those given that are others, each with its inverse where boxes are turned."""
    found = [1.0]
    for ratio in op.attr("aspect_ratios"):
        if all(abs(ratio - each) >= _EQUAL for each in found):
            found += [ratio, 1.0 / ratio] if op.attr("flip") else [ratio]
    return found


def _sides(op: Operator) -> np.ndarray:
    """Half of the width and height of each box, in pixels."""
    found: list[tuple[float, float]] = []
    largest = list(op.attr("max_sizes") or ())
    for at, size in enumerate(op.attr("min_sizes")):
        shaped = [(size * sqrt(ratio) / 2, size / sqrt(ratio) / 2) for ratio in _ratios(op)]
        between = [(sqrt(size * largest[at]) / 2,) * 2] if largest else []
        if op.attr("min_max_aspect_ratios_order"):
            found += [shaped[0], *between, *shaped[1:]]
        else:
            found += [*shaped, *between]
    return np.array(found)


def _grid(
    low: Lowering, op: Operator, count: int, **more: Any
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Height and width of the features and of the image; None, and outputs of open sizes, where these are."""
    sides = tuple(low.input(op, "Input").variable.shape[2:])
    image = tuple(low.input(op, "Image").variable.shape[2:]) if low.has(op, "Image") else (1, 1)
    if -1 not in (*sides, *image):
        return sides, image
    shape = (-1, 4) if more.get("flat") else (*sides, count, 4)
    if not low.infers:
        open_size(low, op)
    for slot in op.outputs:
        low.give(op, slot, anything(low, shape, "float32"), ())
    return None


def _centers(op: Operator, sides: tuple[int, ...], image: tuple[int, ...]) -> tuple[Any, Any, float, float]:
    """Where the middles of boxes lie, by column and by row, in pixels, and how far they are apart."""
    step_w, step_h = float(op.attr("step_w")), float(op.attr("step_h"))
    if not step_w or not step_h:
        step_w, step_h = image[1] / sides[1], image[0] / sides[0]
    offset = float(op.attr("offset"))
    return (np.arange(sides[1]) + offset) * step_w, (np.arange(sides[0]) + offset) * step_h, step_w, step_h


def _give(low: Lowering, op: Operator, first: str, boxes: np.ndarray) -> None:
    shape = (-1, 4) if op.attrs.get("flatten_to_2d") else boxes.shape
    variances = np.broadcast_to(np.array(op.attr("variances"), np.float32), boxes.shape)
    for slot, values in ((first, boxes), ("Variances", variances)):
        whole = values.astype(np.float32).reshape(shape)
        told = {"shape": whole.shape, "dtype": "float32", "values": tuple(whole.reshape(-1).tolist())}
        low.give(op, slot, low.op("assign_value", told), ())


@lowers(
    "prior_box",
    min_sizes=(),
    max_sizes=(),
    aspect_ratios=(1.0,),
    variances=_VARIANCES,
    flip=False,
    clip=False,
    step_w=0.0,
    step_h=0.0,
    offset=0.5,
    min_max_aspect_ratios_order=False,
)
def _prior_box(low: Lowering, op: Operator) -> None:
    sides = _sides(op)
    if (grid := _grid(low, op, len(sides))) is None:
        return
    (height, width), image = grid
    across, down, _, _ = _centers(op, (height, width), image)
    boxes = np.empty((height, width, len(sides), 4))
    for axis, centers, size in ((0, across[None, :, None], image[1]), (1, down[:, None, None], image[0])):
        boxes[..., axis] = (centers - sides[:, axis]) / size
        boxes[..., axis + 2] = (centers + sides[:, axis]) / size
    _give(low, op, "Boxes", np.clip(boxes, 0.0, 1.0) if op.attr("clip") else boxes)


@lowers(
    "density_prior_box",
    densities=(),
    fixed_sizes=(),
    fixed_ratios=(),
    variances=_VARIANCES,
    clip=False,
    step_w=0.0,
    step_h=0.0,
    offset=0.5,
    flatten_to_2d=False,
)
def _density_prior_box(low: Lowering, op: Operator) -> None:
    """Of each size as many boxes as its density says to a side, evenly over a cell."""
    densities = [int(each) for each in op.attr("densities")]
    count = sum(each**2 for each in densities) * len(op.attr("fixed_ratios"))
    if (grid := _grid(low, op, count, flat=op.attr("flatten_to_2d"))) is None:
        return
    (height, width), image = grid
    across, down, step_w, step_h = _centers(op, (height, width), image)
    cell = int((step_w + step_h) * 0.5)
    found: list[tuple[float, float, float, float]] = []
    for size, density in zip(op.attr("fixed_sizes"), densities, strict=True):
        shift = cell // density
        first = shift / 2.0 - cell / 2.0
        for ratio in op.attr("fixed_ratios"):
            half = size * sqrt(ratio) / 2, size / sqrt(ratio) / 2
            places = [first + at * shift for at in range(density)]
            found += [(x, y, *half) for y in places for x in places]
    moved = np.array(found)
    boxes = np.empty((height, width, count, 4))
    for axis, centers, size in ((0, across[None, :, None], image[1]), (1, down[:, None, None], image[0])):
        middles = centers + moved[:, axis]
        boxes[..., axis] = np.maximum((middles - moved[:, axis + 2]) / size, 0.0)
        boxes[..., axis + 2] = np.minimum((middles + moved[:, axis + 2]) / size, 1.0)
    _give(low, op, "Boxes", np.clip(boxes, 0.0, 1.0) if op.attr("clip") else boxes)


@lowers("anchor_generator", anchor_sizes=(), aspect_ratios=(), variances=_VARIANCES, stride=(), offset=0.5)
def _anchor_generator(low: Lowering, op: Operator) -> None:
    """In pixels of the image, both ends within a box."""
    stride_w, stride_h = (float(each) for each in op.attr("stride"))
    halves: list[tuple[float, float]] = []
    for ratio in op.attr("aspect_ratios"):
        base = _rounded(sqrt(stride_w * stride_h / ratio))
        bases = base, _rounded(base * ratio)
        sizes = op.attr("anchor_sizes")
        halves += [(_half(size / stride_w * bases[0]), _half(size / stride_h * bases[1])) for size in sizes]
    if (grid := _grid(low, op, len(halves))) is None:
        return
    (height, width), _ = grid
    offset = float(op.attr("offset"))
    across = np.arange(width) * stride_w + offset * (stride_w - 1)
    down = np.arange(height) * stride_h + offset * (stride_h - 1)
    boxes, half = np.empty((height, width, len(halves), 4)), np.array(halves)
    for axis, centers in ((0, across[None, :, None]), (1, down[:, None, None])):
        boxes[..., axis], boxes[..., axis + 2] = centers - half[:, axis], centers + half[:, axis]
    _give(low, op, "Anchors", boxes)


def _half(extent: float) -> float:
    return 0.5 * (extent - 1.0)


def _rounded(number: float) -> float:
    """To the nearest whole number, halves away from 0."""
    return float(floor(number + 0.5) if number >= 0 else ceil(number - 0.5))
