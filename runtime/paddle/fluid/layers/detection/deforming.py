"""Windows and regions that see pixels apart from where they would."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Normal
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import several

__all__ = ["deformable_conv", "deformable_roi_pooling"]

Sides = int | Sequence[int]


def _pair(layer: str, name: str, given: Sides) -> list[int]:
    sides = [given, given] if isinstance(given, int) else [int(each) for each in given]
    if len(sides) != 2:
        raise BadArgument(f"{layer}: {name} is one number or two, not {given!r}")
    return sides


def deformable_conv(
    input: Variable,
    offset: Variable,
    mask: Variable | None,
    num_filters: int,
    filter_size: Sides,
    stride: Sides = 1,
    padding: Sides = 0,
    dilation: Sides = 1,
    groups: int | None = None,
    deformable_groups: int | None = None,
    im2col_step: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    modulated: bool = True,
    name: str | None = None,
) -> Variable:
    """A convolution whose windows see each pixel ``offset`` apart, (n, 2 * deformable_groups * pixels of a
    window, rows, columns), down and across by turns; and, where it is ``modulated``, as much of it as
    ``mask`` says, with half as many channels. ``im2col_step`` tells nothing here: it is how much 1.8.5
    unfolds at once.
    """
    layer = "deformable_conv"
    if param_attr is False:
        raise BadArgument(f"{layer}: param_attr is not False: it has filters")
    if modulated and mask is None:
        raise BadArgument(f"{layer}: a mask says how much pixels count, unless modulated is False")
    channels = int(input.shape[1])
    if channels % (groups or 1):
        raise BadArgument(f"{layer}: {channels} channels are not {groups} equal groups")
    helper = LayerHelper(layer, input=input, param_attr=param_attr, bias_attr=bias_attr, name=name)
    window = _pair(layer, "filter_size", filter_size)
    spread = Normal(0.0, (2.0 / (prod(window) * channels)) ** 0.5, 0)
    shape = [num_filters, channels // (groups or 1), *window]
    filters = helper.create_parameter(helper.param_attr, shape, input.dtype, default_initializer=spread)
    made = helper.create_variable_for_type_inference(input.dtype)
    inputs = {"Input": input, "Filter": filters, "Offset": offset}
    told = {"strides": stride, "paddings": padding, "dilations": dilation}
    attrs: dict[str, Any] = {each: _pair(layer, each, given) for each, given in told.items()}
    attrs |= {"groups": groups or 1, "deformable_groups": deformable_groups or 1}
    helper.append_op(
        layer if modulated else "deformable_conv_v1",
        inputs={**inputs, "Mask": mask} if modulated else inputs,
        outputs={"Output": [made]},
        attrs={**attrs, "im2col_step": im2col_step or 64},
    )
    return helper.append_bias_op(made, dim_start=1, dim_end=2)


def deformable_roi_pooling(
    input: Variable,
    rois: Variable,
    trans: Variable,
    no_trans: bool = False,
    spatial_scale: float = 1.0,
    group_size: Sequence[int] = (1, 1),
    pooled_height: int = 1,
    pooled_width: int = 1,
    part_size: Sequence[int] | None = None,
    sample_per_part: int = 1,
    trans_std: float = 0.1,
    position_sensitive: bool = False,
    name: str | None = None,
) -> Variable:
    """Of each part of each region the mean of ``sample_per_part`` samples to a side, (regions, channels,
    pooled_height, pooled_width). Parts move by ``trans``, (regions, 2 * classes, *part_size), across and down
    by turns, times ``trans_std`` and the size of the region, unless ``no_trans``. ``position_sensitive``: of
    the channels each part, by ``group_size``, has its own."""
    channels, layer = int(input.shape[1]), "deformable_roi_pooling"
    parts = [pooled_height, pooled_width] if part_size is None else _pair(layer, "part_size", part_size)
    attrs = {
        "no_trans": no_trans,
        "spatial_scale": spatial_scale,
        "output_dim": channels // pooled_height // pooled_width if position_sensitive else channels,
        "group_size": _pair(layer, "group_size", group_size),
        "pooled_height": pooled_height,
        "pooled_width": pooled_width,
        "part_size": parts,
        "sample_per_part": sample_per_part,
        "trans_std": trans_std,
    }
    inputs = {"Input": input, "ROIs": rois, "Trans": trans}
    out, count = several(
        "deformable_psroi_pooling", inputs, {"Output": None, "TopCount": "int32"}, attrs, name
    )
    count.stop_gradient = True
    return out
