"""Boxes against boxes and images."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.detection.chosen import chosen

__all__ = ["box_clip", "box_coder", "iou_similarity"]


def iou_similarity(
    x: Variable, y: Variable, box_normalized: bool = True, name: str | None = None
) -> Variable:
    """(boxes of x, boxes of y): what both cover as a share of what either does. ``box_normalized``: ends are
    places, not pixels that lie within."""
    attrs = {"box_normalized": box_normalized}
    return chosen("iou_similarity", {"X": x, "Y": y}, {"Out": None}, attrs)[0]


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
    return chosen("box_coder", inputs, {"OutputBox": None}, attrs)[0]


def box_clip(input: Variable, im_info: Variable, name: str | None = None) -> Variable:
    """Boxes held within their images, of which ``im_info`` says height, width and scale."""
    return chosen("box_clip", {"Input": input, "ImInfo": im_info}, {"Output": None})[0]
