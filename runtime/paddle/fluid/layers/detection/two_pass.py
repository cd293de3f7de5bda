"""Detectors of two passes: what a first one proposes, and what both are to learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.detection.chosen import chosen
from paddle.fluid.layers.shaping import gather, reshape

__all__ = [
    *("generate_mask_labels", "generate_proposal_labels", "generate_proposals"),
    *("retinanet_target_assign", "rpn_target_assign"),
]


def rpn_target_assign(
    bbox_pred: Variable,
    cls_logits: Variable,
    anchor_box: Variable,
    anchor_var: Variable,
    gt_boxes: Variable,
    is_crowd: Variable,
    im_info: Variable,
    rpn_batch_size_per_im: int = 256,
    rpn_straddle_thresh: float = 0.0,
    rpn_fg_fraction: float = 0.5,
    rpn_positive_overlap: float = 0.7,
    rpn_negative_overlap: float = 0.3,
    use_random: bool = True,
) -> tuple[Variable, ...]:
    """Of ``rpn_batch_size_per_im`` anchors of each image the scores and the offsets that are said, and what
    they are to be: (scores, offsets, labels, right offsets, weights of these).

    ``gt_boxes`` and ``is_crowd``: sequences, one for each image; boxes in pixels before ``im_info`` (height,
    width, scale) scaled them. Anchors beyond an image by more than ``rpn_straddle_thresh`` learn nothing.
    ``anchor_var`` is not asked, as in 1.8.5: offsets are divided by nothing.
    """
    inputs = {"Anchor": anchor_box, "GtBoxes": gt_boxes, "IsCrowd": is_crowd, "ImInfo": im_info}
    attrs = {
        "rpn_batch_size_per_im": rpn_batch_size_per_im,
        "rpn_straddle_thresh": rpn_straddle_thresh,
        "rpn_positive_overlap": rpn_positive_overlap,
        "rpn_negative_overlap": rpn_negative_overlap,
        "rpn_fg_fraction": rpn_fg_fraction,
        "use_random": use_random,
    }
    placed, scored, *wanted = chosen("rpn_target_assign", inputs, _ASSIGNED, attrs)
    return _said(cls_logits, 1, scored, bbox_pred, placed) + tuple(wanted)


_ASSIGNED = {
    **dict.fromkeys(("LocationIndex", "ScoreIndex", "TargetLabel"), "int32"),
    **dict.fromkeys(("TargetBBox", "BBoxInsideWeight")),
}


def _said(
    scores: Variable, classes: int, scored: Variable, offsets: Variable, placed: Variable
) -> tuple[Variable, ...]:
    rows = reshape(scores, [-1, classes]), reshape(offsets, [-1, 4])
    return gather(rows[0], scored), gather(rows[1], placed)


def retinanet_target_assign(
    bbox_pred: Variable,
    cls_logits: Variable,
    anchor_box: Variable,
    anchor_var: Variable,
    gt_boxes: Variable,
    gt_labels: Variable,
    is_crowd: Variable,
    im_info: Variable,
    num_classes: int = 1,
    positive_overlap: float = 0.5,
    negative_overlap: float = 0.4,
) -> tuple[Variable, ...]:
    """As ``rpn_target_assign``, of all anchors of each image that are sure, with a score for each of
    ``num_classes``; the last that it gives is how many anchors of each image hold an object, and 1."""
    inputs = {"Anchor": anchor_box, "GtBoxes": gt_boxes, "GtLabels": gt_labels}
    inputs |= {"IsCrowd": is_crowd, "ImInfo": im_info}
    attrs = {"positive_overlap": positive_overlap, "negative_overlap": negative_overlap}
    outs = {**_ASSIGNED, "ForegroundNumber": "int32"}
    placed, scored, *wanted = chosen("retinanet_target_assign", inputs, outs, attrs)
    return _said(cls_logits, num_classes, scored, bbox_pred, placed) + tuple(wanted)


def generate_proposals(
    scores: Variable,
    bbox_deltas: Variable,
    im_info: Variable,
    anchors: Variable,
    variances: Variable,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    name: str | None = None,
    return_rois_num: bool = False,
) -> tuple[Variable, ...]:
    """Regions, sequences of (left, top, right, bottom) in pixels, one for each image, and their scores: of
    the ``pre_nms_top_n`` boxes that score best, each of at least ``min_size`` before its image was scaled,
    the best ``post_nms_top_n`` that do not overlap.

    ``scores``: (n, anchors, height, width); ``bbox_deltas``: (n, 4 * anchors, height, width), offsets from
    ``anchors`` in ``variances``, both (height, width, anchors, 4). ``return_rois_num``: also where the
    regions of each image end.
    """
    inputs = {"Scores": scores, "BboxDeltas": bbox_deltas, "ImInfo": im_info}
    inputs |= {"Anchors": anchors, "Variances": variances}
    attrs = {"pre_nms_topN": pre_nms_top_n, "post_nms_topN": post_nms_top_n}
    attrs |= {"nms_thresh": nms_thresh, "min_size": min_size, "eta": eta}
    outs = {"RpnRois": bbox_deltas.dtype, "RpnRoiProbs": None, "RpnRoisLod": "int32"}
    regions, chances, ends = chosen("generate_proposals", inputs, outs, attrs, name)
    return (regions, chances, ends) if return_rois_num else (regions, chances)


def generate_proposal_labels(
    rpn_rois: Variable,
    gt_classes: Variable,
    is_crowd: Variable,
    gt_boxes: Variable,
    im_info: Variable,
    batch_size_per_im: int = 256,
    fg_fraction: float = 0.25,
    fg_thresh: float = 0.25,
    bg_thresh_hi: float = 0.5,
    bg_thresh_lo: float = 0.0,
    bbox_reg_weights: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    class_nums: int | None = None,
    use_random: bool = True,
    is_cls_agnostic: bool = False,
    is_cascade_rcnn: bool = False,
) -> tuple[Variable, ...]:
    """Of each image ``batch_size_per_im`` regions, a share of them of objects: (regions, labels, right
    offsets, their weights, twice), sequences. A region is of an object that it overlaps by ``fg_thresh``, and
    of none, label 0, from ``bg_thresh_lo`` to below ``bg_thresh_hi``. Offsets, divided by
    ``bbox_reg_weights``, stand in the four columns of their label, or of class 1 where ``is_cls_agnostic``;
    ``is_cascade_rcnn``: all regions, not some.
    """
    if class_nums is None:
        raise BadArgument("generate_proposal_labels: class_nums says how many classes there are, with none")
    inputs = {"RpnRois": rpn_rois, "GtClasses": gt_classes, "IsCrowd": is_crowd}
    inputs |= {"GtBoxes": gt_boxes, "ImInfo": im_info}
    attrs: dict[str, Any] = {
        "batch_size_per_im": batch_size_per_im,
        "fg_fraction": fg_fraction,
        "fg_thresh": fg_thresh,
        "bg_thresh_hi": bg_thresh_hi,
        "bg_thresh_lo": bg_thresh_lo,
        "bbox_reg_weights": [float(each) for each in bbox_reg_weights],
        "class_nums": class_nums,
        "use_random": use_random,
        "is_cls_agnostic": is_cls_agnostic,
        "is_cascade_rcnn": is_cascade_rcnn,
    }
    outs = {"Rois": None, "LabelsInt32": gt_classes.dtype}
    outs |= dict.fromkeys(("BboxTargets", "BboxInsideWeights", "BboxOutsideWeights"))
    return tuple(chosen("generate_proposal_labels", inputs, outs, attrs))


def generate_mask_labels(
    im_info: Variable,
    gt_classes: Variable,
    is_crowd: Variable,
    gt_segms: Variable,
    rois: Variable,
    labels_int32: Variable,
    num_classes: int,
    resolution: int,
) -> tuple[Variable, ...]:
    """Of each image the regions that hold an object, which regions those are, and the object's mask in each,
    ``resolution`` to a side, in the columns of its class, with -1 in all others: sequences.

    ``gt_segms``: points (x, y) in sequences of three levels, of images, objects and polygons. An image of
    which no region holds an object has its first region without one, and no mask.
    """
    inputs = {"ImInfo": im_info, "GtClasses": gt_classes, "IsCrowd": is_crowd, "GtSegms": gt_segms}
    inputs |= {"Rois": rois, "LabelsInt32": labels_int32}
    outs = {"MaskRois": rois.dtype, "RoiHasMaskInt32": "int32", "MaskInt32": "int32"}
    attrs = {"num_classes": num_classes, "resolution": resolution}
    return tuple(chosen("generate_mask_labels", inputs, outs, attrs))
