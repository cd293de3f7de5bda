"""The row that proposes regions: ``generate_proposals``.

Guarantee: regions of an image stand by how they score; where nothing is left of an image it has none.
"""

from __future__ import annotations

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, say
from paddle._program.ops.boxes.keeping import kept
from paddle._program.ops.boxes.pixels import clipped, decoded, joined
from paddle._program.running.host import Host

Proposed = tuple[np.ndarray, np.ndarray]


def _of_proposals(op: Operator) -> None:
    kind = described(op, "BboxDeltas").dtype
    say(op, "RpnRois", (-1, 4), kind, 1)
    say(op, "RpnRoiProbs", (-1, 1), described(op, "Scores").dtype, 1)
    say(op, "RpnRoisLod", (-1,), "int32")
    say(op, "RpnRoisNum", (-1,), "int32")


@hosts(
    "generate_proposals",
    infer=_of_proposals,
    pre_nms_topN=6000,
    post_nms_topN=1000,
    nms_thresh=0.5,
    min_size=0.1,
    eta=1.0,
)
def _generate_proposals(host: Host, op: Operator) -> None:
    """Of each image the boxes that score best, at offsets from anchors, of which none overlap much."""
    told = array_of(host, op, "ImInfo")
    anchors, variances = (array_of(host, op, slot).reshape(-1, 4) for slot in ("Anchors", "Variances"))
    scores, deltas = (
        np.moveaxis(array_of(host, op, slot), 1, -1).reshape(len(told), -1, size)
        for slot, size in (("Scores", 1), ("BboxDeltas", 4))
    )
    images = [
        _proposed(op, image, anchors, delta * variances, score)
        for image, delta, score in zip(told, deltas, scores, strict=True)
    ]
    regions = joined([boxes for boxes, _ in images])
    host.give(op, "RpnRois", regions)
    host.give(op, "RpnRoiProbs", joined([score for _, score in images]))
    host.give(op, "RpnRoisLod", np.array(regions.lod()[0][1:], np.int64))
    host.give(op, "RpnRoisNum", np.diff(regions.lod()[0]).astype(np.int32))


def _proposed(
    op: Operator, image: np.ndarray, anchors: np.ndarray, offset: np.ndarray, score: np.ndarray
) -> Proposed:
    first, limit = int(op.attr("pre_nms_topN")), int(op.attr("post_nms_topN"))
    order = np.argsort(-score[:, 0], kind="stable")
    order = order[:first] if 0 < first < len(order) else order
    boxes = clipped(decoded(anchors[order], offset[order]), image[0], image[1])
    large = _large_enough(boxes, image, float(op.attr("min_size")))
    boxes, score = boxes[large], score[order][large]
    threshold = float(op.attr("nms_thresh"))
    if threshold <= 0 or not len(boxes):
        return boxes, score
    best = np.argsort(score[:, 0], kind="stable")[::-1]  # of equal scores the last one, as in 1.8.5
    chosen = kept(boxes, best, threshold, op.attr("eta"), False, limit if limit > 0 else None)
    return boxes[chosen], score[chosen]


def _large_enough(boxes: np.ndarray, image: np.ndarray, least: float) -> np.ndarray:
    """Those that are large enough in the image as it was before it was scaled, with their middle in it."""
    height, width, scale = image[:3]
    extent = boxes[:, 2:] - boxes[:, :2]
    middles = boxes[:, :2] + (extent + 1) / 2
    large = (extent / scale + 1 >= max(least, 1.0)).all(1)
    found: np.ndarray = large & (middles[:, 0] <= width) & (middles[:, 1] <= height)
    return found
