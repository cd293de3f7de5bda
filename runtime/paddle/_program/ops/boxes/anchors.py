"""Rows that say what each anchor is to learn: ``rpn_target_assign`` and ``retinanet_target_assign``.

An anchor is of an object where none overlaps that object more, or where both overlap by much; it is of none
where it overlaps all by little. Guarantee: an anchor that is both counts as none, as in 1.8.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paddle._engine.boxes import overlaps
from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.ops.boxes.pixels import drawing, encoded, joined, of_images
from paddle._program.running.host import Host

_NEAR = 1e-5
Draw = Callable[[np.ndarray, int], np.ndarray]
"""Takes at most so many of some numbers."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """Anchors by number. ``placed``: those that learn a place, of the box ``box``, which counts by
    ``weight``; ``scored``: those that learn a label, first ``objects`` of them that are of a box."""

    placed: np.ndarray
    box: np.ndarray
    weight: np.ndarray
    scored: np.ndarray
    objects: int


def assigned(shares: np.ndarray, high: float, low: float, draw: Draw, count: int, total: int) -> Assigned:
    """``shares``: (anchors, boxes), how much they overlap. ``count`` and ``total``: of objects and of all."""
    best, near = _best(shares)
    most = shares.max(0, initial=-1.0)
    is_own = (np.abs(shares - most) < _NEAR).any(1) | (near >= high)
    objects = draw(np.flatnonzero(is_own), count)
    nothing = draw(np.flatnonzero(near < low), total - len(objects) if total >= 0 else -1)
    is_object = np.zeros(len(shares), bool)
    is_object[objects] = True
    both = int(is_object[nothing].sum())
    is_object[nothing] = False
    own = np.flatnonzero(is_object)
    placed = np.concatenate([np.repeat(objects[:1], both), own])
    weight = np.ones((len(placed), 4), np.float32)
    weight[:both] = 0.0
    scored = np.concatenate([own, np.sort(nothing)])
    return Assigned(placed, best[placed], weight, scored, len(own))


def _best(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not shares.shape[1]:
        return np.zeros(len(shares), np.int64), np.full(len(shares), -1.0, shares.dtype)
    best = shares.argmax(1)
    return best, shares[np.arange(len(shares)), best]


def reservoir(host: Host, op: Operator) -> Draw:
    """The first of those that there are or, where ``use_random``, any; all where fewer than 0 are wanted."""
    generator = drawing(host, op) if op.attr("use_random") else None

    def draw(numbers: np.ndarray, most: int) -> np.ndarray:
        if most < 0 or len(numbers) <= most:
            return numbers
        return numbers[:most] if generator is None else generator.permutation(numbers)[:most]

    return draw


def _of_assigned(op: Operator) -> None:
    kind = described(op, "Anchor").dtype
    say(op, "LocationIndex", (-1,), "int32")
    say(op, "ScoreIndex", (-1,), "int32")
    say(op, "TargetLabel", (-1, 1), "int32")
    say(op, "TargetBBox", (-1, 4), kind)
    say(op, "BBoxInsideWeight", (-1, 4), kind)
    say(op, "ForegroundNumber", (-1, 1), "int32")


@hosts(
    "rpn_target_assign",
    infer=_of_assigned,
    rpn_batch_size_per_im=256,
    rpn_straddle_thresh=0.0,
    rpn_positive_overlap=0.7,
    rpn_negative_overlap=0.3,
    rpn_fg_fraction=0.5,
    use_random=True,
)
def _rpn_target_assign(host: Host, op: Operator) -> None:
    """Whether anchors that lie in their image hold an object, and where that is, for so many of each
    image."""
    draw, beyond = reservoir(host, op), float(op.attr("rpn_straddle_thresh"))
    total, share = int(op.attr("rpn_batch_size_per_im")), float(op.attr("rpn_fg_fraction"))
    is_drawn = share > 0 and total > 0
    counts = (int(np.float32(share) * np.float32(total)), total) if is_drawn else (-1, -1)
    high, low = (float(op.attr(f"rpn_{which}_overlap")) for which in ("positive", "negative"))
    anchors, told = array_of(host, op, "Anchor"), array_of(host, op, "ImInfo")

    def one(image: int, boxes: np.ndarray, labels: np.ndarray) -> tuple[Assigned, np.ndarray, np.ndarray]:
        inside = _inside(anchors, told[image], beyond)
        found = assigned(overlaps(anchors[inside], boxes, False), high, low, draw, *counts)
        return found, inside, (np.arange(len(found.scored)) < found.objects).astype(np.int32)

    _give(host, op, anchors, one)


def _inside(anchors: np.ndarray, image: np.ndarray, beyond: float) -> np.ndarray:
    if beyond < 0:
        return np.arange(len(anchors))
    last = np.array([image[1], image[0]], anchors.dtype) + beyond
    return np.flatnonzero((anchors[:, :2] >= -beyond).all(1) & (anchors[:, 2:] < last).all(1))


@hosts("retinanet_target_assign", infer=_of_assigned, positive_overlap=0.5, negative_overlap=0.4)
def _retinanet_target_assign(host: Host, op: Operator) -> None:
    """Of which label what anchors hold is, and where that is; label 0 is none."""
    high, low = (float(op.attr(f"{which}_overlap")) for which in ("positive", "negative"))
    anchors = array_of(host, op, "Anchor")

    def one(image: int, boxes: np.ndarray, labels: np.ndarray) -> tuple[Assigned, np.ndarray, np.ndarray]:
        shares = overlaps(anchors, boxes, False)
        found = assigned(shares, high, low, lambda numbers, most: numbers, -1, -1)
        told = np.zeros(len(found.scored), np.int32)
        told[: found.objects] = labels[_best(shares)[0][found.scored[: found.objects]]]
        return found, np.arange(len(anchors)), told

    images = _give(host, op, anchors, one)
    counts = np.array([[len(found.placed) + 1] for found in images], np.int32)
    host.give(op, "ForegroundNumber", joined(list(counts[:, None])))


One = Callable[[int, np.ndarray, np.ndarray], tuple[Assigned, np.ndarray, np.ndarray]]


def _give(host: Host, op: Operator, anchors: np.ndarray, one: One) -> list[Assigned]:
    """``one``: of an image, its boxes and their labels, what is assigned, the anchors of which that tells,
    and the labels."""
    told = array_of(host, op, "ImInfo")
    boxes, crowds = of_images(host, op, "GtBoxes"), of_images(host, op, "IsCrowd")
    kinds = of_images(host, op, "GtLabels") if op.inputs.get("GtLabels") else crowds
    images, parts = [], []
    for image, (own, crowd, kind) in enumerate(zip(boxes, crowds, kinds, strict=True)):
        is_one = crowd.reshape(-1) == 0
        wanted = own[is_one] * told[image, 2]
        found, inside, labels = one(image, wanted, kind.reshape(-1)[is_one])
        placed, scored = inside[found.placed], inside[found.scored]
        target = encoded(anchors[placed], wanted[found.box]).astype(anchors.dtype)
        numbers = ((each + image * len(anchors)).astype(np.int32) for each in (placed, scored))
        parts.append((*numbers, labels.reshape(-1, 1), target.reshape(-1, 4), found.weight))
        images.append(found)
    slots = ("LocationIndex", "ScoreIndex", "TargetLabel", "TargetBBox", "BBoxInsideWeight")
    for slot, found_parts in zip(slots, zip(*parts, strict=True), strict=True):
        host.give(op, slot, joined(list(found_parts)))
    return images
