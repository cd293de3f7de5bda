"""A grid of which each cell says boxes and classes: YOLO of the third kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.appending import several
from paddle.fluid.layers.detection.chosen import chosen

__all__ = ["yolo_box", "yolov3_loss"]


def _anchors(layer: str, given: Any) -> list[int]:
    if not isinstance(given, list | tuple) or len(given) % 2:
        raise BadArgument(f"{layer}: anchors are pairs of width and height in one list, not {given!r}")
    return [int(each) for each in given]


def yolo_box(
    x: Variable,
    img_size: Variable,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> tuple[Variable, Variable]:
    """Boxes in pixels, (n, boxes, 4), and scores, (n, boxes, classes), that ``x``, (n, channels, height,
    width), says of images of ``img_size``, (n, 2): height and width. Zeros where a cell is less sure than
    ``conf_thresh``."""
    attrs = {
        "anchors": _anchors("yolo_box", anchors),
        "class_num": class_num,
        "conf_thresh": conf_thresh,
        "downsample_ratio": downsample_ratio,
        "clip_bbox": clip_bbox,
        "scale_x_y": scale_x_y,
    }
    outs = {"Boxes": None, "Scores": None}
    boxes, scores = chosen("yolo_box", {"X": x, "ImgSize": img_size}, outs, attrs, name)
    return boxes, scores


def yolov3_loss(
    x: Variable,
    gt_box: Variable,
    gt_label: Variable,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Variable | None = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Variable:
    """What the boxes of each sample cost, (n,): their places, their classes, and how sure each cell is.

    ``gt_box``: (n, boxes, 4), middles and sizes as shares of the image, of no size where there is none;
    ``gt_label``: (n, boxes), int32; ``gt_score``: how much each counts. ``anchor_mask``: which of the anchors
    ``x`` is of; a box is told to the one of all that is most like it.
    """
    inputs = {"X": x, "GTBox": gt_box, "GTLabel": gt_label}
    if gt_score is not None:
        inputs["GTScore"] = gt_score
    attrs = {
        "anchors": _anchors("yolov3_loss", anchors),
        "anchor_mask": [int(each) for each in anchor_mask],
        "class_num": class_num,
        "ignore_thresh": ignore_thresh,
        "downsample_ratio": downsample_ratio,
        "use_label_smooth": use_label_smooth,
        "scale_x_y": scale_x_y,
    }
    outs = {"Loss": None, "ObjectnessMask": None, "GTMatchMask": "int32"}
    loss, surety, matched = several("yolov3_loss", inputs, outs, attrs, name)
    surety.stop_gradient = matched.stop_gradient = True
    return loss
