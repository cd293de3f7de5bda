"""Regions among features of several sizes."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.detection.chosen import chosen

__all__ = ["collect_fpn_proposals", "distribute_fpn_proposals", "retinanet_detection_output"]


def distribute_fpn_proposals(
    fpn_rois: Variable,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    name: str | None = None,
) -> tuple[list[Variable], Variable]:
    """Regions by level, a region of sides ``refer_scale`` at ``refer_level``, one of twice that a level
    above; and where each region then is among those of all levels, one after another."""
    helper = LayerHelper("distribute_fpn_proposals", name=name)
    made = [
        helper.create_variable_for_type_inference(fpn_rois.dtype) for _ in range(min_level, max_level + 1)
    ]
    places = helper.create_variable_for_type_inference("int32")
    attrs = {"min_level": min_level, "max_level": max_level}
    attrs |= {"refer_level": refer_level, "refer_scale": refer_scale}
    outputs = {"MultiFpnRois": made, "RestoreIndex": [places]}
    helper.append_op("distribute_fpn_proposals", inputs={"FpnRois": fpn_rois}, outputs=outputs, attrs=attrs)
    for each in (*made, places):
        each.stop_gradient = True
    return made, places


def collect_fpn_proposals(
    multi_rois: Sequence[Variable],
    multi_scores: Sequence[Variable],
    min_level: int,
    max_level: int,
    post_nms_top_n: int,
    name: str | None = None,
) -> Variable:
    """Of the regions of all levels those ``post_nms_top_n`` that score best, in sequences, one an image."""
    count = max_level - min_level + 1
    inputs = {"MultiLevelRois": list(multi_rois[:count]), "MultiLevelScores": list(multi_scores[:count])}
    attrs = {"post_nms_topN": post_nms_top_n}
    return chosen("collect_fpn_proposals", inputs, {"FpnRois": None}, attrs, name)[0]


def retinanet_detection_output(
    bboxes: Sequence[Variable],
    scores: Sequence[Variable],
    anchors: Sequence[Variable],
    im_info: Variable,
    score_threshold: float = 0.05,
    nms_top_k: int = 1000,
    keep_top_k: int = 100,
    nms_threshold: float = 0.3,
    nms_eta: float = 1.0,
) -> Variable:
    """(label, score, box) of what offsets from anchors say, sequences, one for each image, the best first.

    For each level ``bboxes`` are offsets, (n, boxes, 4), ``scores`` (n, boxes, classes), and ``anchors``
    (boxes, 4). Of a level at most ``nms_top_k`` count, those above ``score_threshold``, which is 0 at the
    last one. As in 1.8.5 ``nms_eta`` is 1.
    """
    inputs = {"Scores": list(scores), "BBoxes": list(bboxes), "Anchors": list(anchors), "ImInfo": im_info}
    attrs = {
        "score_threshold": score_threshold,
        "nms_top_k": nms_top_k,
        "nms_threshold": nms_threshold,
        "keep_top_k": keep_top_k,
        "nms_eta": 1.0,
    }
    return chosen("retinanet_detection_output", inputs, {"Out": None}, attrs)[0]
