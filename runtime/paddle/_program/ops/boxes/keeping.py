"""Rows that choose, of boxes that overlap, the best one: ``multiclass_nms``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, ends_of, say, shape_of
from paddle._program.ops.boxes.polygons import polygon_shares
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets

CORNERS = (4, 8, 16, 24, 32)
"""How many numbers say a box, or a polygon."""


@dataclass(frozen=True, slots=True)
class _Image:
    """Scores, (classes, boxes), and boxes, (classes or 1, boxes, 4); ``first``: the number of one."""

    scores: np.ndarray
    boxes: np.ndarray
    first: int
    per_class: bool

    def of(self, label: int) -> np.ndarray:
        found: np.ndarray = self.boxes[label if self.per_class else 0]
        return found


def kept(
    boxes: np.ndarray,
    order: np.ndarray,
    threshold: float,
    eta: float = 1.0,
    normalized: bool = True,
    most: int | None = None,
) -> list[int]:
    """Of boxes in an order those that overlap none before by more than ``threshold``, which shrinks by
    ``eta`` with each that is kept, while it is above 0.5; the first ``most`` of them."""
    found: list[int] = []
    left = np.asarray(order)
    own, nearest = boxes[left], np.full(len(left), -np.inf, boxes.dtype)
    for at, place in enumerate(left.tolist()):
        if nearest[at] > threshold:
            continue
        found.append(place)
        if len(found) == most:
            break
        np.maximum(nearest[at:], shares(own[at], own[at:], normalized), out=nearest[at:])
        if eta < 1.0 and threshold > 0.5:
            threshold *= eta
    return found


def shares(box: np.ndarray, others: np.ndarray, normalized: bool) -> np.ndarray:
    """How much a box and others overlap; not at all where one ends before the other begins. A box that ends
    before it begins has no area. Polygons of more numbers overlap as they lie."""
    if len(box) > 4:
        return polygon_shares(box, others)
    one = 0.0 if normalized else 1.0
    apart = (box[:2] > others[:, 2:]).any(1) | (box[2:] < others[:, :2]).any(1)
    shared = (np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2]) + one).prod(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = shared / (_areas(box[None], one) + _areas(others, one) - shared)
    return np.where(apart, 0.0, found)


def _areas(boxes: np.ndarray, one: float) -> np.ndarray:
    sides = boxes[:, 2:] - boxes[:, :2]
    return np.where((sides < 0).any(1), 0.0, (sides + one).prod(1))


def check_corners(op: Operator, *counts: int) -> None:
    """Refuse what has not one of so many numbers: 4 of a box, more of a polygon."""
    if (count := shape_of(op, "BBoxes")[-1]) not in counts:
        raise BadProgram(f"operator {op.type!r} takes boxes of {_listed(counts)} numbers, not of {count}")


def _listed(counts: tuple[int, ...]) -> str:
    return " or ".join(map(str, counts))


def _of_kept(op: Operator) -> None:
    boxes = described(op, "BBoxes")
    say(op, "Out", (-1, boxes.shape[-1] + 2), boxes.dtype, 1)
    say(op, "Index", (-1, 1), "int32", 1)


@hosts(
    "multiclass_nms",
    "multiclass_nms2",
    infer=_of_kept,
    background_label=0,
    score_threshold=0.0,
    nms_top_k=-1,
    nms_threshold=0.3,
    nms_eta=1.0,
    keep_top_k=-1,
    normalized=True,
)
def _multiclass_nms(host: Host, op: Operator) -> None:
    """(label, score, box) of what is kept of each image, by label, the best first."""
    check_corners(op, *CORNERS)
    images = [_chosen(op, image) for image in _images(host, op)]
    rows = [row for each in images for row in each]
    ends = offsets(map(len, images))
    numbers = np.array([number for number, _ in rows], np.int32).reshape(-1, 1)
    found = np.array([row for _, row in rows], np.float32)
    if not rows:  # the original gives one row that means nothing
        ends, numbers, found = [0, 1], np.zeros((0, 1), np.int32), np.full((1, 1), -1, np.float32)
    host.give(op, "Out", LoDTensor(found, [ends]))
    if op.outputs.get("Index"):
        host.give(op, "Index", LoDTensor(numbers, [ends] if rows else []))


def _images(host: Host, op: Operator) -> Iterator[_Image]:
    scores, boxes = array_of(host, op, "Scores"), array_of(host, op, "BBoxes")
    if scores.ndim == 3:
        for number, (score, own) in enumerate(zip(scores, boxes, strict=True)):
            yield _Image(score, own[None], number * boxes.shape[1], False)
        return
    ends = ends_of(host, op, "Scores" if isinstance(host.input(op, "Scores"), LoDTensor) else "BBoxes")
    for first, end in pairwise(ends):
        yield _Image(scores[first:end].T, boxes[first:end].transpose(1, 0, 2), first, True)


def _chosen(op: Operator, image: _Image) -> list[tuple[int, list[float]]]:
    """Of each label, by number, what is kept: the number of the box, and the row."""
    found: dict[int, list[int]] = {}
    for label, score in enumerate(image.scores):
        if label == op.attr("background_label"):
            continue
        may = np.flatnonzero(score > op.attr("score_threshold"))
        order = may[np.argsort(-score[may], kind="stable")]
        most = int(op.attr("nms_top_k"))
        order = order[:most] if most > -1 else order
        chosen = kept(
            image.of(label), order, op.attr("nms_threshold"), op.attr("nms_eta"), bool(op.attr("normalized"))
        )
        found[label] = sorted(chosen) if image.per_class else chosen
    pairs = [(label, place) for label, places in found.items() for place in places]
    most = int(op.attr("keep_top_k"))
    if -1 < most < len(pairs):
        best = sorted(pairs, key=lambda pair: -float(image.scores[pair]))[:most]
        pairs = sorted(best) if image.per_class else sorted(best, key=lambda pair: pair[0])
    classes = len(image.scores)
    return [
        (
            (image.first + place) * classes + label if image.per_class else image.first + place,
            [float(label), float(image.scores[label, place]), *image.of(label)[place].tolist()],
        )
        for label, place in pairs
    ]
