"""The row that says what anchors of several levels hold: ``retinanet_detection_output``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.ops.boxes.keeping import kept
from paddle._program.ops.boxes.pixels import clipped, decoded
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets


def _of_detected(op: Operator) -> None:
    boxes = described(op, "BBoxes")
    say(op, "Out", (boxes.shape[1], boxes.shape[2] + 2), boxes.dtype)


@hosts(
    "retinanet_detection_output",
    infer=_of_detected,
    score_threshold=0.05,
    nms_top_k=1000,
    nms_threshold=0.3,
    nms_eta=1.0,
    keep_top_k=100,
)
def _retinanet_detection_output(host: Host, op: Operator) -> None:
    """(label, score, box) of each image, the best first; labels are from 1 on."""
    told = array_of(host, op, "ImInfo")
    images = [_of_image(host, op, number, image) for number, image in enumerate(told)]
    host.give(op, "Out", LoDTensor(np.concatenate(images), [offsets(map(len, images))]))


def _of_image(host: Host, op: Operator, number: int, image: np.ndarray) -> np.ndarray:
    label, score, boxes = (
        np.concatenate(each) for each in zip(*_by_level(host, op, number, image), strict=True)
    )
    found: list[int] = []
    for each in np.unique(label):
        own = np.flatnonzero(label == each)
        order = own[np.argsort(-score[own], kind="stable")]
        found += kept(boxes, order, op.attr("nms_threshold"), op.attr("nms_eta"), False)
    chosen = np.array(found, np.int64)
    best = chosen[np.argsort(-score[chosen], kind="stable")][: int(op.attr("keep_top_k"))]
    rows: np.ndarray = np.concatenate([label[best, None] + 1, score[best, None], boxes[best]], 1)
    return rows.astype(np.float32)


def _by_level(
    host: Host, op: Operator, number: int, image: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Labels, scores and boxes of what is above the threshold, those that score best."""
    given = [host.inputs(op, slot) for slot in ("Scores", "BBoxes", "Anchors")]
    height, width, scale = image[:3]
    sides = np.round(height / scale), np.round(width / scale)
    for level, (scores, deltas, anchors) in enumerate(zip(*given, strict=True)):
        score = np.asarray(scores)[number]
        least = op.attr("score_threshold") if level < len(given[0]) - 1 else 0.0
        flat = score.reshape(-1)
        may = np.flatnonzero(flat > least)
        best = may[np.argsort(-flat[may], kind="stable")]
        best = best[: int(op.attr("nms_top_k"))] if op.attr("nms_top_k") > -1 else best
        place, label = np.divmod(best, score.shape[1])
        boxes = decoded(np.asarray(anchors).reshape(-1, 4)[place], np.asarray(deltas)[number][place], None)
        yield label, flat[best], clipped(boxes / scale, *sides)
