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
    attrs = {
        "background_label": background_label,
        "score_threshold": score_threshold,
        "nms_top_k": nms_top_k,
        "nms_threshold": nms_threshold,
        "nms_eta": nms_eta,
        "keep_top_k": keep_top_k,
        "normalized": normalized,
    }
    return kept(bboxes, scores, attrs, return_index=False)


def kept(bboxes: Variable, scores: Variable, attrs: dict[str, Any], return_index: bool) -> Any:
    """What is kept, and where it stood among all boxes of all images."""
    inputs = {"BBoxes": bboxes, "Scores": scores}
    if not return_index:
        return chosen("multiclass_nms", inputs, {"Out": None}, attrs)[0]
    out, index = chosen("multiclass_nms2", inputs, {"Out": None, "Index": "int32"}, attrs)
    return out, index
