"""Of boxes that overlap the best one, class by class."""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.detection.chosen import chosen

__all__ = ["locality_aware_nms", "matrix_nms", "multiclass_nms"]


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
    found: Variable = overlapping(
        bboxes,
        scores,
        score_threshold,
        nms_top_k,
        keep_top_k,
        nms_threshold,
        normalized,
        nms_eta,
        background_label,
        name=name,
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
    told = (score_threshold, nms_top_k, keep_top_k, nms_threshold, normalized, nms_eta, background_label)
    return overlapping(bboxes, scores, *told, return_index=return_index, name=name, layer="multiclass_nms2")


def overlapping(
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
    layer: str = "multiclass_nms",
) -> Any:
    """What is kept and, where ``return_index``, its numbers; ``layer``: what they are called after."""
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
        return chosen("multiclass_nms", inputs, {"Out": None}, attrs, name, layer)[0]
    out, index = chosen("multiclass_nms2", inputs, {"Out": None, "Index": "int32"}, attrs, name, layer)
    return out, index


def matrix_nms(
    bboxes: Variable,
    scores: Variable,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    name: str | None = None,
) -> Any:
    """(label, score, box) of what scores above ``post_threshold`` when scores are lowered by how much better
    boxes of the label overlap, an image's after another's; and the number of each box among all boxes."""
    attrs = {
        "background_label": background_label,
        "score_threshold": score_threshold,
        "post_threshold": post_threshold,
        "nms_top_k": nms_top_k,
        "gaussian_sigma": gaussian_sigma,
        "use_gaussian": use_gaussian,
        "keep_top_k": keep_top_k,
        "normalized": normalized,
    }
    outs = {"Out": None, "Index": "int32"}
    out, index = chosen("matrix_nms", {"BBoxes": bboxes, "Scores": scores}, outs, attrs, name)
    return (out, index) if return_index else out


def locality_aware_nms(
    bboxes: Variable,
    scores: Variable,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = -1,
    name: str | None = None,
) -> Variable:
    """(label, score, box) of what is kept of one class, (n, 1, boxes), once boxes that follow each other and
    overlap have been merged, as much of each as its score says; scores are added up."""
    if len(scores.shape) != 3 or scores.shape[1] != 1:
        raise BadArgument(f"locality_aware_nms: scores are of one class, (n, 1, m), not {list(scores.shape)}")
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
    return chosen("locality_aware_nms", inputs, {"Out": None}, attrs, name)[0]
