"""Regions of features, and what is said of them."""

from __future__ import annotations

from paddle._program.description.variable import Variable
from paddle.fluid.layers.appending import appended, several

__all__ = ["roi_align", "roi_pool", "sigmoid_focal_loss"]


def roi_pool(
    input: Variable,
    rois: Variable,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> Variable:
    """Of each part of each region the greatest, (regions, channels, height, width). ``rois``: sequences of
    boxes in pixels, of which ``spatial_scale`` makes those of ``input``."""
    attrs = {"pooled_height": pooled_height, "pooled_width": pooled_width, "spatial_scale": spatial_scale}
    outs = {"Out": None, "Argmax": "int64"}
    out, places = several("roi_pool", {"X": input, "ROIs": rois}, outs, attrs)
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
) -> Variable:
    """As ``roi_pool``, with the mean of ``sampling_ratio`` samples to a side between pixels, of as many as a
    part has pixels if it is not above 0."""
    attrs = {
        "pooled_height": pooled_height,
        "pooled_width": pooled_width,
        "spatial_scale": spatial_scale,
        "sampling_ratio": sampling_ratio,
    }
    return appended("roi_align", {"X": input, "ROIs": rois}, attrs, name=name)


def sigmoid_focal_loss(
    x: Variable, label: Variable, fg_num: Variable, gamma: float = 2.0, alpha: float = 0.25
) -> Variable:
    """What each score of (rows, classes) costs, less where it is sure and right. ``label``: (rows, 1), from 1
    on, 0 for none, -1 for a row that is let be; ``fg_num``: how many rows have a class."""
    inputs = {"X": x, "Label": label, "FgNum": fg_num}
    return appended("sigmoid_focal_loss", inputs, {"gamma": gamma, "alpha": alpha})
