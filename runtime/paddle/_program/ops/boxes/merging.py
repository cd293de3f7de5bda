"""The row that makes one box of those in a row that overlap, and keeps the best: ``locality_aware_nms``."""

from __future__ import annotations

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.ops.boxes.keeping import CORNERS, check_corners, kept, shares
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets


def _of_merged(op: Operator) -> None:
    boxes = described(op, "BBoxes")
    say(op, "Out", (boxes.shape[1], boxes.shape[-1] + 2), boxes.dtype)


@hosts(
    "locality_aware_nms",
    infer=_of_merged,
    background_label=-1,
    score_threshold=0.0,
    nms_top_k=-1,
    nms_threshold=0.3,
    nms_eta=1.0,
    keep_top_k=-1,
    normalized=True,
)
def _locality_aware_nms(host: Host, op: Operator) -> None:
    """(label, score, box) of each image. A box that overlaps the one before it is merged with that, each as
    much as its score says, which are added up."""
    check_corners(op, *CORNERS)
    scores = array_of(host, op, "Scores").copy()
    if scores.shape[1] != 1:
        raise BadProgram(f"operator 'locality_aware_nms' takes scores of one class, not {scores.shape[1]}")
    images = []
    for score, boxes in zip(scores[:, 0], array_of(host, op, "BBoxes").copy(), strict=True):
        chosen = _chosen(op, score, boxes) if op.attr("background_label") != 0 else []
        labels = np.zeros((len(chosen), 1), np.float32)
        images.append(np.concatenate([labels, score[chosen, None], boxes[chosen]], 1))
    if not any(map(len, images)):  # the original gives one row that means nothing
        host.give(op, "Out", LoDTensor(np.full((1, 1), -1, np.float32), [[0, 1]]))
        return
    host.give(op, "Out", LoDTensor(np.concatenate(images), [offsets(map(len, images))]))


def _chosen(op: Operator, score: np.ndarray, boxes: np.ndarray) -> list[int]:
    threshold, normalized = float(op.attr("nms_threshold")), bool(op.attr("normalized"))
    ends = _merged(score, boxes, threshold, normalized)
    may = ends[score[ends] > op.attr("score_threshold")]
    order = may[np.argsort(-score[may], kind="stable")]
    order = order[: int(op.attr("nms_top_k"))] if op.attr("nms_top_k") > -1 else order
    found = kept(boxes, order, threshold, op.attr("nms_eta"), normalized)
    most = int(op.attr("keep_top_k"))
    return found[:most] if most > -1 else found


def _merged(score: np.ndarray, boxes: np.ndarray, threshold: float, normalized: bool) -> np.ndarray:
    """The boxes that others were merged into, which are written over."""
    found: list[int] = []
    for place in range(len(boxes)):
        at = found[-1] if found else place
        if at == place or shares(boxes[place], boxes[at : at + 1], normalized)[0] <= threshold:
            found.append(place)
            continue
        both = score[place] + score[at]
        boxes[at] = (boxes[place] * score[place] + boxes[at] * score[at]) / both
        score[at] = both
    return np.array(found, np.int64)
