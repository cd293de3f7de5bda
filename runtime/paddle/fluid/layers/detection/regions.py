"""Regions of features, and what is said of them."""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.appending import appended, several

__all__ = [
    *("prroi_pool", "psroi_pool", "roi_align", "roi_perspective_transform", "roi_pool"),
    "sigmoid_focal_loss",
]


def roi_pool(
    input: Variable,
    rois: Variable,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
    rois_lod: Variable | None = None,
) -> Variable:
    """Of each part of each region the greatest, (regions, channels, height, width). ``rois``: sequences of
    boxes in pixels, of which ``spatial_scale`` makes those of ``input``. ``rois_lod``: where the regions of
    each image begin, and the end, whatever sequences ``rois`` are."""
    attrs = {"pooled_height": pooled_height, "pooled_width": pooled_width, "spatial_scale": spatial_scale}
    outs = {"Out": None, "Argmax": "int64"}
    out, places = several("roi_pool", {"X": input, "ROIs": rois, **_begins(rois_lod)}, outs, attrs)
    places.stop_gradient = True
    return out


def roi_align(
    input: Variable,
    rois: Variable,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    name: str | None = None,
    rois_lod: Variable | None = None,
) -> Variable:
    """As ``roi_pool``, with the mean of ``sampling_ratio`` samples to a side between pixels, of as many as a
    part has pixels if it is not above 0."""
    attrs = {
        "pooled_height": pooled_height,
        "pooled_width": pooled_width,
        "spatial_scale": spatial_scale,
        "sampling_ratio": sampling_ratio,
    }
    return appended("roi_align", {"X": input, "ROIs": rois, **_begins(rois_lod)}, attrs, name=name)


def _begins(rois_lod: Variable | None) -> dict[str, Variable]:
    return {} if rois_lod is None else {"RoisLod": rois_lod}


def sigmoid_focal_loss(
    x: Variable, label: Variable, fg_num: Variable, gamma: float = 2.0, alpha: float = 0.25
) -> Variable:
    """What each score of (rows, classes) costs, less where it is sure and right. ``label``: (rows, 1), from 1
    on, 0 for none, -1 for a row that is let be; ``fg_num``: how many rows have a class."""
    inputs = {"X": x, "Label": label, "FgNum": fg_num}
    return appended("sigmoid_focal_loss", inputs, {"gamma": gamma, "alpha": alpha})


def psroi_pool(
    input: Variable,
    rois: Variable,
    output_channels: int,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    name: str | None = None,
) -> Variable:
    """Of each part of each region the mean of what it sees in its own channel, (regions, output_channels,
    pooled_height, pooled_width): ``input`` has that many channels for each part."""
    attrs = {"output_channels": output_channels, "spatial_scale": _float("psroi_pool", spatial_scale)}
    attrs |= _sides("psroi_pool", pooled_height, pooled_width)
    parts = output_channels * pooled_height * pooled_width
    if input.shape[1] not in (-1, parts):
        raise BadArgument(f"psroi_pool: input has {parts} channels, one for each part, not {input.shape[1]}")
    return appended("psroi_pool", {"X": input, "ROIs": rois}, attrs, name=name)


def prroi_pool(
    input: Variable,
    rois: Variable,
    spatial_scale: float = 1.0,
    pooled_height: int = 1,
    pooled_width: int = 1,
    batch_roi_nums: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """Of each part of each region the mean of all that lies between pixels there. Regions have gradients,
    too. ``batch_roi_nums``: how many regions each image has, where ``rois`` are no sequences."""
    attrs = {"spatial_scale": _float("prroi_pool", spatial_scale)}
    attrs |= _sides("prroi_pool", pooled_height, pooled_width)
    inputs = {"X": input, "ROIs": rois}
    if batch_roi_nums is not None:
        inputs["BatchRoINums"] = batch_roi_nums
    return appended("prroi_pool", inputs, attrs, name=name)


def _float(layer: str, scale: Any) -> Any:
    if not isinstance(scale, float):
        raise BadArgument(f"{layer}: spatial_scale is a float, not {scale!r}")
    return scale


def _sides(layer: str, height: Any, width: Any) -> dict[str, Any]:
    if not isinstance(height, int) or not isinstance(width, int):
        raise BadArgument(
            f"{layer}: pooled_height and pooled_width are whole numbers, not {height!r}, {width!r}"
        )
    return {"pooled_height": height, "pooled_width": width}


def roi_perspective_transform(
    input: Variable,
    rois: Variable,
    transformed_height: int,
    transformed_width: int,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> tuple[Variable, Variable, Variable]:
    """Regions, sequences of (x, y) of four corners from the upper left on, eight numbers, as rectangles of
    one size; which pixels there are of each, (regions, 1, height, width); and the nine numbers of the
    matrix that takes (column, row, 1) to its place. A region that is less wide than that has nothing on the
    right."""
    attrs = {"transformed_height": transformed_height, "transformed_width": transformed_width}
    outs = {"Out": None, "Mask": "int32", "TransformMatrix": None}
    told = {**attrs, "spatial_scale": spatial_scale}
    out, mask, matrix = several("roi_perspective_transform", {"X": input, "ROIs": rois}, outs, told, name)
    mask.stop_gradient = matrix.stop_gradient = True
    return out, mask, matrix
