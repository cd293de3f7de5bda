"""Rows of a grid of which each cell says boxes, what is in them and how sure that is: YOLO of the third kind.

Channels of a cell are, for each shape: x, y, width, height, how sure, and a score for each class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.boxes.described import array_of, described, say, shape_of
from paddle._program.running.host import Host
from paddle._program.running.tape import Done, Slopes

_EMPTY = 1e-6
_OWN = 5
"""Channels of a shape before those of classes."""


def _sigmoid(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = 1.0 / (1.0 + np.exp(-x))
    return found


def _cells(op: Operator, x: np.ndarray, shapes: int) -> np.ndarray:
    """(samples, shapes, channels of a shape, height, width)."""
    return x.reshape(len(x), shapes, _OWN + int(op.attr("class_num")), *x.shape[2:])


def _placed(op: Operator, cells: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """What each cell says, as middles and sizes, shares of the image: (samples, shapes, height, width, 4)."""
    height, width = cells.shape[3:]
    scale = float(op.attr("scale_x_y"))
    bias = -0.5 * (scale - 1.0)
    size = float(op.attr("downsample_ratio")) * height
    found = np.empty((*cells.shape[:2], height, width, 4), cells.dtype)
    found[..., 0] = (np.arange(width) + _sigmoid(cells[:, :, 0]) * scale + bias) / height
    found[..., 1] = (np.arange(height)[:, None] + _sigmoid(cells[:, :, 1]) * scale + bias) / height
    for axis in (0, 1):
        found[..., 2 + axis] = np.exp(cells[:, :, 2 + axis]) * anchors[:, axis, None, None] / size
    return found


def _pairs(op: Operator) -> np.ndarray:
    return np.array(op.attr("anchors"), np.float32).reshape(-1, 2)


def _of_boxes(op: Operator) -> None:
    x, shapes = described(op, "X"), len(_pairs(op))
    count = -1 if -1 in x.shape[2:] else shapes * x.shape[2] * x.shape[3]
    say(op, "Boxes", (x.shape[0], count, 4), x.dtype)
    say(op, "Scores", (x.shape[0], count, op.attr("class_num")), x.dtype)


@hosts(
    "yolo_box",
    infer=_of_boxes,
    anchors=(),
    class_num=1,
    conf_thresh=0.01,
    downsample_ratio=32,
    clip_bbox=True,
    scale_x_y=1.0,
)
def _yolo_box(host: Host, op: Operator) -> None:
    """Boxes in pixels and scores of classes, zeros where a cell is not sure enough."""
    anchors, x, sizes = _pairs(op), array_of(host, op, "X"), array_of(host, op, "ImgSize")
    cells = _cells(op, x, len(anchors))
    placed = _placed(op, cells, anchors)
    image = sizes[:, ::-1].astype(x.dtype)[:, None, None, None, :]  # width, height
    middle, half = placed[..., :2] * image, placed[..., 2:] * image / 2
    first, last = middle - half, middle + half
    if op.attr("clip_bbox"):
        first, last = np.maximum(first, 0), np.minimum(last, image - 1)
    sure = _sigmoid(cells[:, :, 4])
    is_sure = (sure >= op.attr("conf_thresh"))[..., None]
    scores = np.moveaxis(_sigmoid(cells[:, :, _OWN:]), 2, -1) * sure[..., None]
    boxes = np.where(is_sure, np.concatenate([first, last], -1), 0)
    host.give(op, "Boxes", boxes.reshape(len(x), -1, 4).astype(x.dtype))
    host.give(
        op, "Scores", np.where(is_sure, scores, 0).reshape(len(x), -1, scores.shape[-1]).astype(x.dtype)
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What the boxes of a batch tell cells. ``surety``: of each cell 0, a box's score, or -1 where it is let
    be; ``matched``: of each box its shape, or -1. By box that some cell has: ``cell``, which; ``place`` and
    ``weight``, what it is to say of middles and sizes and how much that counts; ``label`` and ``score``."""

    surety: np.ndarray
    matched: np.ndarray
    cell: tuple[np.ndarray, ...]
    place: np.ndarray
    weight: np.ndarray
    label: np.ndarray
    score: np.ndarray


def _shares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of boxes by middles and sizes: what both cover as a share of what either does."""
    sides = [
        np.minimum(a[..., axis] + a[..., axis + 2] / 2, b[..., axis] + b[..., axis + 2] / 2)
        - np.maximum(a[..., axis] - a[..., axis + 2] / 2, b[..., axis] - b[..., axis + 2] / 2)
        for axis in (0, 1)
    ]
    shared = np.where((sides[0] < 0) | (sides[1] < 0), 0.0, sides[0] * sides[1])
    found: np.ndarray = shared / (a[..., 2] * a[..., 3] + b[..., 2] * b[..., 3] - shared)
    return found


def _told(
    op: Operator, cells: np.ndarray, boxes: np.ndarray, labels: np.ndarray, scores: np.ndarray
) -> _Told:
    anchors, mask = _pairs(op), np.array(op.attr("anchor_mask"))
    height, width = cells.shape[3:]
    size = float(op.attr("downsample_ratio")) * height
    is_there = (boxes[..., 2] > _EMPTY) & (boxes[..., 3] > _EMPTY)
    placed = _placed(op, cells, anchors[mask])
    surety = np.zeros(placed.shape[:4], np.float32)
    for sample, own in enumerate(boxes):
        if is_there[sample].any():
            near = _shares(placed[sample][..., None, :], own[is_there[sample]]).max(-1)
            surety[sample][near > op.attr("ignore_thresh")] = -1.0
    alone = np.concatenate([np.zeros_like(boxes[..., :2]), boxes[..., 2:]], -1)[:, :, None]
    shapes = np.concatenate([np.zeros_like(anchors), anchors / size], -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.nan_to_num(_shares(alone, shapes)).argmax(-1)
    is_own = best[..., None] == mask
    matched = np.where(is_there & is_own.any(-1), is_own.argmax(-1), -1).astype(np.int32)
    of, box = np.nonzero(matched >= 0)
    own = boxes[of, box]
    column, row = (own[:, 0] * width).astype(int), (own[:, 1] * height).astype(int)
    cell = of, matched[of, box], row, column
    score = scores[of, box]
    for at in range(len(of)):  # of several in one cell the last one
        surety[of[at], cell[1][at], row[at], column[at]] = score[at]
    told = anchors[best[of, box]]
    place = np.stack(
        [
            own[:, 0] * height - column,
            own[:, 1] * height - row,
            np.log(own[:, 2] * size / told[:, 0]),
            np.log(own[:, 3] * size / told[:, 1]),
        ],
        1,
    )
    weight = (2.0 - own[:, 2] * own[:, 3]) * score
    return _Told(surety, matched, cell, place, weight, labels[of, box], score)


def _entropy(x: np.ndarray, wanted: np.ndarray | float) -> np.ndarray:
    found: np.ndarray = np.maximum(x, 0) - x * wanted + np.log1p(np.exp(-np.abs(x)))
    return found


def _wanted_classes(op: Operator, label: np.ndarray) -> np.ndarray:
    count = int(op.attr("class_num"))
    smooth = min(1.0 / count, 1.0 / 40) if op.attr("use_label_smooth") else 0.0
    wanted = np.full((len(label), count), smooth, np.float32)
    wanted[np.arange(len(label)), label] = 1.0 - smooth
    return wanted


def _of_loss(op: Operator) -> None:
    x, boxes = described(op, "X"), shape_of(op, "GTBox")
    say(op, "Loss", (x.shape[0],), x.dtype)
    say(op, "ObjectnessMask", (x.shape[0], len(op.attr("anchor_mask")), *x.shape[2:]), x.dtype)
    say(op, "GTMatchMask", boxes[:2], "int32")


def _given(
    op: Operator, x: np.ndarray, boxes: np.ndarray, labels: np.ndarray, scores: object
) -> tuple[np.ndarray, _Told]:
    cells = _cells(op, x, len(op.attr("anchor_mask")))
    sure = np.ones(labels.shape, np.float32) if scores is None else np.asarray(scores)
    return cells, _told(op, cells, boxes, labels, sure)


@hosts(
    "yolov3_loss",
    infer=_of_loss,
    anchors=(),
    anchor_mask=(),
    class_num=1,
    ignore_thresh=0.7,
    downsample_ratio=32,
    use_label_smooth=True,
    scale_x_y=1.0,
)
def _yolov3_loss(host: Host, op: Operator) -> None:
    """Of each sample what its boxes cost: their places, their classes, and how sure each cell is."""
    x = array_of(host, op, "X")
    boxes, labels = array_of(host, op, "GTBox"), array_of(host, op, "GTLabel")
    cells, told = _given(op, x, boxes, labels, host.input(op, "GTScore"))
    sample, shape, row, column = told.cell
    said = cells[sample, shape, :, row, column]
    cost = (_entropy(said[:, :2], told.place[:, :2]) + np.abs(said[:, 2:4] - told.place[:, 2:])).sum(
        1
    ) * told.weight
    cost += _entropy(said[:, _OWN:], _wanted_classes(op, told.label)).sum(1) * told.score
    loss = np.bincount(sample, cost, len(x))
    sure = cells[:, :, 4]
    found = np.where(told.surety > 0, _entropy(sure, 1.0) * told.surety, 0.0)
    found += np.where(told.surety == 0, _entropy(sure, 0.0), 0.0)
    host.give(op, "Loss", (loss + found.sum((1, 2, 3))).astype(x.dtype))
    host.give(op, "ObjectnessMask", told.surety)
    host.give(op, "GTMatchMask", told.matched)


@backs("yolov3_loss")
def _yolov3_loss_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Loss")[0])
    if came is None:
        return
    op, x = done.op, np.asarray(done.input("X"))
    scores = done.input("GTScore") if op.input("GTScore") else None
    cells, told = _given(op, x, np.asarray(done.input("GTBox")), np.asarray(done.input("GTLabel")), scores)
    found = np.zeros_like(cells)
    sample, shape, row, column = told.cell
    said = cells[sample, shape, :, row, column]
    slope = np.empty_like(said)
    slope[:, :2] = (_sigmoid(said[:, :2]) - told.place[:, :2]) * told.weight[:, None]
    slope[:, 2:4] = np.sign(said[:, 2:4] - told.place[:, 2:]) * told.weight[:, None]
    slope[:, 4] = 0.0
    slope[:, _OWN:] = (_sigmoid(said[:, _OWN:]) - _wanted_classes(op, told.label)) * told.score[:, None]
    found[sample, shape, :, row, column] = slope  # of several boxes in a cell the last one's, as in 1.8.5
    sure = _sigmoid(cells[:, :, 4])
    found[:, :, 4] = np.where(
        told.surety > 0, (sure - 1.0) * told.surety, np.where(told.surety == 0, sure, 0.0)
    )
    done.add(slopes, "X", (found * came.reshape(-1, 1, 1, 1, 1)).reshape(x.shape).astype(x.dtype))
