"""The row that says what regions are to learn: ``generate_proposal_labels``.

Guarantee: the boxes of an image are among its regions, so each that counts has one that lies on it, unless
regions come from an earlier stage (``is_cascade_rcnn``). Of these the first ones, as many as there are
boxes, are taken for boxes, which no scale has made larger, as 1.8.5 does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._engine.boxes import overlaps
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.anchors import reservoir
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.ops.boxes.pixels import encoded, joined, of_images
from paddle._program.running.host import Host

_NEAR = 1e-5
_SLOTS = ("Rois", "LabelsInt32", "BboxTargets", "BboxInsideWeights", "BboxOutsideWeights")


def _of_labels(op: Operator) -> None:
    kind, classes = described(op, "RpnRois").dtype, int(op.attr("class_nums") or 0)
    say(op, "Rois", (-1, 4), kind, 1)
    say(op, "LabelsInt32", (-1, 1), "int32", 1)
    for slot in _SLOTS[2:]:
        say(op, slot, (-1, 4 * classes), kind, 1)


@hosts(
    "generate_proposal_labels",
    infer=_of_labels,
    batch_size_per_im=256,
    fg_fraction=0.25,
    fg_thresh=0.25,
    bg_thresh_hi=0.5,
    bg_thresh_lo=0.0,
    bbox_reg_weights=(0.1, 0.1, 0.2, 0.2),
    class_nums=81,
    use_random=True,
    is_cls_agnostic=False,
    is_cascade_rcnn=False,
)
def _generate_proposal_labels(host: Host, op: Operator) -> None:
    """Of each image some regions of objects and some of none, their labels, and where the objects are."""
    draw, told = reservoir(host, op), array_of(host, op, "ImInfo")
    given = [of_images(host, op, slot) for slot in ("RpnRois", "GtBoxes", "GtClasses", "IsCrowd")]
    parts = []
    for image, (regions, boxes, kinds, crowd) in enumerate(zip(*given, strict=True)):
        if not len(regions):
            continue
        every = _every(op, regions, boxes, told[image, 2])
        shares = overlaps(every, boxes, False)
        objects, box, nothing = _sampled(op, every, shares, crowd.reshape(-1) != 0, draw)
        chosen = every[np.concatenate([objects, nothing])]
        labels = np.zeros(len(chosen), np.int32)
        labels[: len(objects)] = kinds.reshape(-1)[box]
        target = encoded(chosen[: len(objects)], boxes[box], op.attr("bbox_reg_weights"))
        parts.append((chosen * told[image, 2], labels.reshape(-1, 1), *_by_class(op, labels, target)))
    if not parts:
        raise BadProgram("operator 'generate_proposal_labels': no image has a region in slot 'RpnRois'")
    for slot, each in zip(_SLOTS, zip(*parts, strict=True), strict=True):
        host.give(op, slot, joined(_with_gaps(each, [len(one) for one in given[0]])))


def _every(op: Operator, regions: np.ndarray, boxes: np.ndarray, scale: float) -> np.ndarray:
    """Boxes and regions as they were before the image was scaled."""
    unscaled = (regions / scale).astype(regions.dtype)
    if op.attr("is_cascade_rcnn"):
        return np.concatenate([regions[: len(boxes)], unscaled[len(boxes) :]])
    return np.concatenate([boxes, unscaled])


def _with_gaps(parts: Sequence[np.ndarray], lengths: Sequence[int]) -> list[np.ndarray]:
    """Of images without regions nothing."""
    left = iter(parts)
    return [next(left) if length else parts[0][:0] for length in lengths]


def _sampled(
    op: Operator, every: np.ndarray, shares: np.ndarray, crowd: np.ndarray, draw: object
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Regions of objects, the boxes of those, and regions of none."""
    near = shares.max(1, initial=-1.0)
    near[: len(crowd)][crowd[: len(near)]] = -1.0  # an earlier stage has these, too
    is_object = near >= op.attr("fg_thresh")
    is_nothing = ~is_object & (near >= op.attr("bg_thresh_lo")) & (near < op.attr("bg_thresh_hi"))
    if op.attr("is_cascade_rcnn"):
        has_size = (every[:, 2:] - every[:, :2] + 1 > 0).all(1)
        objects, nothing = np.flatnonzero(is_object & has_size), np.flatnonzero(is_nothing & has_size)
    else:
        assert callable(draw)
        total = int(op.attr("batch_size_per_im"))
        objects = draw(np.flatnonzero(is_object), int(total * np.float32(op.attr("fg_fraction"))))
        nothing = draw(np.flatnonzero(is_nothing), total - len(objects))
    box = (np.abs(shares[objects] - near[objects, None]) < _NEAR).argmax(1) if len(objects) else objects
    return objects, box, nothing


def _by_class(op: Operator, labels: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, ...]:
    """Targets in the columns of their labels, and which those are, twice."""
    classes = int(op.attr("class_nums"))
    found = np.zeros((len(labels), classes, 4), np.float32)
    weight = np.zeros_like(found)
    rows = np.flatnonzero(labels > 0)
    columns = np.ones(len(rows), np.int64) if op.attr("is_cls_agnostic") else labels[rows]
    found[rows, columns], weight[rows, columns] = target[rows], 1.0
    flat = weight.reshape(len(labels), -1)
    return found.reshape(len(labels), -1), flat, flat.copy()
