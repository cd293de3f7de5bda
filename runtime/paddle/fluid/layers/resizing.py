"""Layers of images and volumes in another size, and of images read at places of one's own.

They must never read a pixel. Guarantee: what is told is refused by name where it has no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.appending import appended, sizes_of
from paddle.fluid.layers.windows import channel_axis

__all__ = [
    *("affine_grid", "grid_sampler", "image_resize", "image_resize_short", "resize_bilinear"),
    *("resize_nearest", "resize_trilinear", "space_to_depth"),
]

_TYPES = {"BILINEAR": "bilinear_interp", "NEAREST": "nearest_interp", "TRILINEAR": "trilinear_interp"}
_FORMATS = {4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def image_resize(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | None = None,
    name: str | None = None,
    resample: str = "BILINEAR",
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Variable:
    """Images of another size, between pixels or by the nearest, or volumes (``"TRILINEAR"``), five axes.

    ``align_corners``: the first pixel and the last stay where they are. Otherwise, with ``align_mode`` 0,
    pixels are read by their middles.
    """
    axes = _checked(input, resample, align_corners, align_mode, data_format)
    if out_shape is None and scale is None:
        raise BadArgument("image_resize: tell out_shape or scale")
    if isinstance(scale, Variable):
        raise BadArgument("image_resize: a scale that is computed is not in this release: tell out_shape")
    if actual_shape is not None and not isinstance(actual_shape, Variable):
        raise BadArgument("image_resize: actual_shape is a Variable or None; numbers are told by out_shape")
    told = out_shape if actual_shape is None else actual_shape
    inputs, sizes = _told(told, axes)
    attrs: dict[str, Any] = dict(zip(("out_d", "out_h", "out_w"), [-1] * (3 - axes) + sizes, strict=True))
    attrs |= {
        "scale": _scale(scale) if out_shape is None else 0.0,
        "interp_method": resample.lower(),
        "align_corners": align_corners,
        "align_mode": align_mode,
        "data_layout": "NCHW" if data_format[1] == "C" else "NHWC",
    }
    return appended(_TYPES[resample], {"X": input, **inputs}, attrs, name=name)


def _checked(input: Variable, resample: str, align_corners: Any, align_mode: Any, data_format: str) -> int:
    """How many axes are resized."""
    if resample not in _TYPES:
        raise BadArgument(
            f"image_resize: resample is one of {sorted(_TYPES)} in this release, not {resample!r}"
        )
    rank = 5 if resample == "TRILINEAR" else 4
    if len(input.shape) != rank:
        raise BadArgument(f"image_resize: {resample!r} is of {rank} axes, not of {list(input.shape)}")
    if not isinstance(align_corners, bool) or align_mode not in (0, 1):
        raise BadArgument(
            f"image_resize: align_corners is True or False and align_mode 0 or 1, not {align_corners!r} and "
            f"{align_mode!r}"
        )
    channel_axis("image_resize", data_format, *_FORMATS[rank])
    return rank - 2


def _told(given: Any, axes: int) -> tuple[dict[str, Any], list[int]]:
    if given is None:
        return {}, [-1] * axes
    inputs, sizes = sizes_of(given, whole="OutSize", each="SizeTensor")
    if not isinstance(given, Variable) and (len(given) != axes or any(size == 0 for size in sizes)):
        raise BadArgument(f"image_resize: out_shape is {axes} sizes above 0, not {list(given)}")
    return inputs, sizes or [-1] * axes


def _scale(given: float | None) -> float:
    if given is None or given <= 0:
        raise BadArgument(f"image_resize: scale is above 0, not {given}")
    return float(given)


def resize_bilinear(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | None = None,
    name: str | None = None,
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Variable:
    """Images of another size, between pixels."""
    told = (actual_shape, align_corners, align_mode, data_format)
    return image_resize(input, out_shape, scale, name, "BILINEAR", *told)


def resize_trilinear(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | None = None,
    name: str | None = None,
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCDHW",
) -> Variable:
    """Volumes of another size, (depth, height, width), between voxels."""
    told = (actual_shape, align_corners, align_mode, data_format)
    return image_resize(input, out_shape, scale, name, "TRILINEAR", *told)


def resize_nearest(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | None = None,
    name: str | None = None,
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    data_format: str = "NCHW",
) -> Variable:
    """Images of another size, by the nearest pixel."""
    told = (actual_shape, align_corners, 1, data_format)
    return image_resize(input, out_shape, scale, name, "NEAREST", *told)


def image_resize_short(input: Variable, out_short_len: int, resample: str = "BILINEAR") -> Variable:
    """Images whose shorter side is of that size, and the other by as much larger or smaller."""
    if len(input.shape) != 4 or min(input.shape[2:]) < 1:
        raise BadArgument(
            "image_resize_short: images are (n, channels, height, width) of declared sizes, not "
            f"{list(input.shape)}"
        )
    short = min(input.shape[2:])
    sizes = [floor(side * (out_short_len / short) + 0.5) for side in input.shape[2:]]
    sizes[list(input.shape[2:]).index(short)] = out_short_len
    return image_resize(input, sizes, resample=resample)


def affine_grid(theta: Variable, out_shape: Variable | Sequence[int], name: str | None = None) -> Variable:
    """Where each pixel of images of ``out_shape``, (n, channels, height, width), is read: ``theta``, (n, 2,
    3), times (x, y, 1), which go from -1 to 1 over an image: (n, height, width, 2). As in 1.8.5 ``name`` is
    not asked."""
    if isinstance(out_shape, Variable):
        return appended("affine_grid", {"Theta": theta, "OutputShape": out_shape}, out="Output")
    if not isinstance(out_shape, list | tuple) or len(out_shape) != 4:
        raise BadArgument(f"affine_grid: out_shape is four sizes or a Variable, not {out_shape!r}")
    return appended("affine_grid", {"Theta": theta}, {"output_shape": list(out_shape)}, out="Output")


def grid_sampler(x: Variable, grid: Variable, name: str | None = None) -> Variable:
    """Images (n, channels, height, width) read between pixels at ``grid``, (n, rows, columns, 2), of x and y
    from -1 to 1; beyond an image there is 0."""
    return appended("grid_sampler", {"X": x, "Grid": grid}, out="Output", name=name)


def space_to_depth(x: Variable, blocksize: int, name: str | None = None) -> Variable:
    """(n, channels * blocksize**2, height / blocksize, width / blocksize): pixels among the channels, in the
    order in which 1.8.5 lays them: channels are cut into blocksize**2 parts, which are woven into one image
    of that many times the size, and what lies in memory then is read in the shape above."""
    if not isinstance(blocksize, int) or isinstance(blocksize, bool) or blocksize < 1:
        raise BadArgument(f"space_to_depth: blocksize is a whole number above 0, not {blocksize!r}")
    sizes = zip(x.shape[1:], (blocksize**2, blocksize, blocksize), strict=True) if len(x.shape) == 4 else ()
    if len(x.shape) != 4 or any(size > 0 and size % part for size, part in sizes):
        raise BadArgument(
            f"space_to_depth: channels are parted by {blocksize**2}, height and width by {blocksize}, and "
            f"{list(x.shape)} cannot be"
        )
    return appended("space_to_depth", {"X": x}, {"blocksize": blocksize}, name=name)
