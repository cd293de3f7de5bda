"""Boxes against boxes and images."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.detection.chosen import chosen

__all__ = [
    *("box_clip", "box_coder", "box_decoder_and_assign", "iou_similarity"),
    "polygon_box_transform",
]


def iou_similarity(
    x: Variable, y: Variable, box_normalized: bool = True, name: str | None = None
) -> Variable:
    """(boxes of x, boxes of y): what both cover as a share of what either does. ``box_normalized``: ends are
    places, not pixels that lie within."""
    attrs = {"box_normalized": box_normalized}
    return chosen("iou_similarity", {"X": x, "Y": y}, {"Out": None}, attrs, name)[0]


def box_coder(
    prior_box: Variable,
    prior_box_var: Variable | Sequence[float] | None,
    target_box: Variable,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    name: str | None = None,
    axis: int = 0,
) -> Variable:
    """Offsets of each target from each prior, (targets, priors, 4), or with ``"decode_center_size"`` the
    boxes that offsets say, whose priors lie along their other axis than ``axis``."""
    if code_type not in ("encode_center_size", "decode_center_size"):
        raise BadArgument(
            f"box_coder: code_type is 'encode_center_size' or 'decode_center_size', not {code_type!r}"
        )
    inputs = {"PriorBox": prior_box, "TargetBox": target_box}
    attrs: dict[str, object] = {"code_type": code_type, "box_normalized": box_normalized, "axis": axis}
    if isinstance(prior_box_var, Variable):
        inputs["PriorBoxVar"] = prior_box_var
    elif prior_box_var is not None:
        attrs["variance"] = [float(each) for each in prior_box_var]
    return chosen("box_coder", inputs, {"OutputBox": None}, attrs, name)[0]


def box_clip(input: Variable, im_info: Variable, name: str | None = None) -> Variable:
    """Boxes held within their images, of which ``im_info`` says height, width and scale."""
    return chosen("box_clip", {"Input": input, "ImInfo": im_info}, {"Output": None}, name=name)[0]


def box_decoder_and_assign(
    prior_box: Variable,
    prior_box_var: Variable,
    target_box: Variable,
    box_score: Variable,
    box_clip: float,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Of each region and class the box that offsets say, (n, 4 * classes), and the box of the class that
    scores best, the first one aside, (n, 4). ``prior_box_var``: what offsets are multiplied by, four numbers;
    ``box_clip``: the logarithm of how much larger than a region a box may be."""
    inputs = {"PriorBox": prior_box, "PriorBoxVar": prior_box_var}
    inputs |= {"TargetBox": target_box, "BoxScore": box_score}
    outs = {"DecodeBox": None, "OutputAssignBox": None}
    boxes, best = chosen("box_decoder_and_assign", inputs, outs, {"box_clip": box_clip}, name)
    return boxes, best


def polygon_box_transform(input: Variable, name: str | None = None) -> Variable:
    """Where corners lie, x and y by turns along the channels, from how far each pixel says, of which four go
    to a step."""
    return chosen("polygon_box_transform", {"Input": input}, {"Output": None}, name=name)[0]
