"""Boxes that stand on a grid over an image, by which others are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.detection.chosen import chosen, listed

__all__ = ["anchor_generator", "density_prior_box", "prior_box"]

_VARIANCE = (0.1, 0.1, 0.2, 0.2)


def prior_box(
    input: Variable,
    image: Variable,
    min_sizes: Any,
    max_sizes: Any = None,
    aspect_ratios: Any = (1.0,),
    variance: Sequence[float] = _VARIANCE,
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    name: str | None = None,
    min_max_aspect_ratios_order: bool = False,
) -> tuple[Variable, Variable]:
    """Boxes around the middle of each pixel of ``input`` as shares of ``image``, (height, width, boxes, 4),
    and their variances: of each size those of all ratios, and one between it and ``max_sizes``."""
    smallest = [float(each) for each in listed(min_sizes)]
    largest = [float(each) for each in listed(max_sizes)] if max_sizes else []
    if largest[:1] and largest[0] <= 0:
        largest = []
    if largest and len(largest) != len(smallest):
        raise BadArgument(
            f"prior_box: min_sizes are {len(smallest)} and max_sizes {len(largest)}: one of these to each"
        )
    attrs = {
        "min_sizes": smallest,
        "max_sizes": largest,
        "aspect_ratios": [float(each) for each in listed(aspect_ratios)],
        "variances": list(variance),
        "flip": flip,
        "clip": clip,
        **_steps("prior_box", steps),
        "offset": offset,
        "min_max_aspect_ratios_order": min_max_aspect_ratios_order,
    }
    outs = {"Boxes": None, "Variances": None}
    boxes, variances = chosen("prior_box", {"Input": input, "Image": image}, outs, attrs, name)
    return boxes, variances


def _steps(layer: str, steps: Any) -> dict[str, float]:
    if not isinstance(steps, list | tuple) or len(steps) != 2:
        raise BadArgument(f"{layer}: steps are two numbers, along width and along height, not {steps!r}")
    return {"step_w": float(steps[0]), "step_h": float(steps[1])}


def density_prior_box(
    input: Variable,
    image: Variable,
    densities: Sequence[int] | None = None,
    fixed_sizes: Sequence[float] | None = None,
    fixed_ratios: Sequence[float] | None = None,
    variance: Sequence[float] = _VARIANCE,
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    flatten_to_2d: bool = False,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """As ``prior_box``, with as many boxes of a size to a side of each cell as its density says;
    ``flatten_to_2d``: (all boxes, 4)."""
    if densities is None or fixed_sizes is None or fixed_ratios is None:
        raise BadArgument("density_prior_box takes densities, fixed_sizes and fixed_ratios")
    if len(densities) != len(fixed_sizes):
        raise BadArgument(
            f"density_prior_box: {len(densities)} densities, {len(fixed_sizes)} fixed_sizes: one to each"
        )
    attrs = {
        "densities": [int(each) for each in densities],
        "fixed_sizes": [float(each) for each in fixed_sizes],
        "fixed_ratios": [float(each) for each in fixed_ratios],
        "variances": list(variance),
        "clip": clip,
        **_steps("density_prior_box", steps),
        "offset": offset,
        "flatten_to_2d": flatten_to_2d,
    }
    outs = {"Boxes": None, "Variances": None}
    boxes, variances = chosen("density_prior_box", {"Input": input, "Image": image}, outs, attrs, name)
    return boxes, variances


def anchor_generator(
    input: Variable,
    anchor_sizes: Any = None,
    aspect_ratios: Any = None,
    variance: Sequence[float] = _VARIANCE,
    stride: Sequence[float] | None = None,
    offset: float = 0.5,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Boxes in pixels of the image around each pixel of ``input``, of which ``stride`` lie between two:
    (height, width, boxes, 4), and their variances."""
    if not isinstance(stride, list | tuple) or len(stride) != 2:
        raise BadArgument(f"anchor_generator: stride is two numbers, along width and height, not {stride!r}")
    attrs = {
        "anchor_sizes": [float(each) for each in listed(anchor_sizes)],
        "aspect_ratios": [float(each) for each in listed(aspect_ratios)],
        "variances": list(variance),
        "stride": [float(each) for each in stride],
        "offset": offset,
    }
    outs = {"Anchors": None, "Variances": None}
    anchors, variances = chosen("anchor_generator", {"Input": input}, outs, attrs, name)
    return anchors, variances
