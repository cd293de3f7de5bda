"""The row that lowers the scores of boxes that overlap better ones: ``matrix_nms``."""

from __future__ import annotations

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.ops.boxes.keeping import check_corners, shares
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets


def _of_lowered(op: Operator) -> None:
    boxes = described(op, "BBoxes")
    say(op, "Out", (boxes.shape[1], boxes.shape[-1] + 2), boxes.dtype, max(boxes.lod_level, 1))
    say(op, "Index", (boxes.shape[1], 1), "int32", max(boxes.lod_level, 1))
    say(op, "RoisNum", (-1,), "int32")


@hosts(
    "matrix_nms",
    infer=_of_lowered,
    background_label=0,
    score_threshold=0.0,
    post_threshold=0.0,
    nms_top_k=400,
    keep_top_k=200,
    normalized=True,
    use_gaussian=False,
    gaussian_sigma=2.0,
)
def _matrix_nms(host: Host, op: Operator) -> None:
    """(label, lowered score, box) of each image, the best first, all labels together."""
    check_corners(op, 4)
    scores, boxes = array_of(host, op, "Scores"), array_of(host, op, "BBoxes")
    counts, rows, numbers = [], [], []
    for image, (score, box) in enumerate(zip(scores, boxes, strict=True)):
        found = _of_image(op, score, box)
        best = np.argsort(-found[:, 1], kind="stable")
        best = best[: int(op.attr("keep_top_k"))] if op.attr("keep_top_k") > -1 else best
        place = found[best, 2].astype(int)
        rows.append(np.concatenate([found[best, :2], box[place]], 1))
        numbers.append(place + image * len(box))
        counts.append(len(best))
    ends = [offsets(counts)]
    host.give(op, "Out", LoDTensor(np.concatenate(rows).astype(np.float32), ends))
    host.give(op, "Index", LoDTensor(np.concatenate(numbers).astype(np.int32).reshape(-1, 1), ends))
    host.give(op, "RoisNum", np.array(counts, np.int32))


def _of_image(op: Operator, scores: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """(found, 3): label, lowered score, and the number of the box."""
    found = [np.zeros((0, 3))]
    for label, score in enumerate(scores):
        if label == op.attr("background_label"):
            continue
        may = np.flatnonzero(score > op.attr("score_threshold"))
        order = may[np.argsort(-score[may], kind="stable")]
        most = int(op.attr("nms_top_k"))
        order = order[:most] if most > -1 else order
        lowered = score[order] * _decay(op, boxes[order])
        left = lowered > op.attr("post_threshold")
        labels = np.full(int(left.sum()), label)
        found.append(np.stack([labels, lowered[left], order[left]], 1))
    return np.concatenate(found)


def _decay(op: Operator, boxes: np.ndarray) -> np.ndarray:
    """What is left of the score of each: the least that a better one leaves, which counts the less the more
    it overlaps a better one itself."""
    normalized = bool(op.attr("normalized"))
    each = [shares(box, boxes, normalized) for box in boxes]
    near = np.tril(np.array(each).reshape(len(boxes), len(boxes)), -1)
    most = near.max(1, initial=0.0)
    if op.attr("use_gaussian"):
        left = np.exp((most**2 - near**2) * np.float32(op.attr("gaussian_sigma")))
    else:
        left = (1.0 - near) / (1.0 - most)
    left = np.where(np.tri(len(boxes), k=-1, dtype=bool), left, 1.0)
    found: np.ndarray = left.min(1, initial=1.0).astype(np.float32)
    return found
