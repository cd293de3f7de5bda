"""Of boxes that overlap the best one, class by class."""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle.fluid.layers.detection.chosen import chosen

__all__ = ["multiclass_nms"]


def multiclass_nms(
    bboxes: Variable,
    scores: Variable,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
    name: str | None = None,
) -> Variable:
    """(label, score, box) of what is kept, an image's after another's: at most ``keep_top_k`` of an image,
    of at most ``nms_top_k`` of a class whose score is above a threshold. ``bboxes`` are (n, boxes, 4) and
    ``scores`` (n, classes, boxes), or sequences (boxes, classes, 4) and (boxes, classes)."""
    found: Variable = multiclass_nms2(
        bboxes,
        scores,
        score_threshold,
        nms_top_k,
        keep_top_k,
        nms_threshold,
        normalized,
        nms_eta,
        background_label,
    )
    return found


def multiclass_nms2(
    bboxes: Variable,
    scores: Variable,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
    return_index: bool = False,
    name: str | None = None,
) -> Any:
    """``fluid.layers.multiclass_nms`` and, where ``return_index``, the number of each box that is kept among
    all boxes of all images."""
    attrs = {
        "background_label": background_label,
        "score_threshold": score_threshold,
        "nms_top_k": nms_top_k,
        "nms_threshold": nms_threshold,
        "nms_eta": nms_eta,
        "keep_top_k": keep_top_k,
        "normalized": normalized,
    }
    inputs = {"BBoxes": bboxes, "Scores": scores}
    if not return_index:
        return chosen("multiclass_nms", inputs, {"Out": None}, attrs)[0]
    out, index = chosen("multiclass_nms2", inputs, {"Out": None, "Index": "int32"}, attrs)
    return out, index
