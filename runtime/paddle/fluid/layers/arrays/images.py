"""Images in another size, by whichever way: what 1.8 calls ``interpolate``."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.appending import appended, sizes_of
from paddle.fluid.layers.resizing import image_resize

__all__ = ["interpolate"]

_WAYS = ("BILINEAR", "TRILINEAR", "BICUBIC", "NEAREST")


def interpolate(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | Variable | None = None,
    name: str | None = None,
    resample: str = "BILINEAR",
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Variable:
    """Images of another size: between pixels, along curves (``BICUBIC``) or by the nearest pixel."""
    if resample not in _WAYS:
        raise BadArgument(f"interpolate: resample is one of {', '.join(_WAYS)}, not {resample!r}")
    if resample != "BICUBIC":
        told = (actual_shape, align_corners, align_mode, data_format)
        return image_resize(input, out_shape, scale, name, resample, *told)  # type: ignore[arg-type]
    if input.ndim != 4 or data_format not in ("NCHW", "NHWC"):
        raise BadArgument(
            f"interpolate: BICUBIC is of images, NCHW or NHWC, not of {input.shape}, {data_format}"
        )
    if out_shape is None and scale is None:
        raise BadArgument("interpolate: tell out_shape or scale")
    wanted = out_shape if actual_shape is None else actual_shape
    inputs, sizes = ({}, []) if wanted is None else sizes_of(wanted, whole="OutSize", each="SizeTensor")
    if out_shape is None and isinstance(scale, Variable):
        inputs = {**inputs, "Scale": scale}
    attrs = {
        "out_h": sizes[0] if sizes else -1,
        "out_w": sizes[1] if sizes else -1,
        "scale": float(scale) if out_shape is None and isinstance(scale, int | float) else 0.0,
        "interp_method": "bicubic",
        "align_corners": align_corners,
        "align_mode": align_mode,
        "data_layout": data_format,
    }
    return appended("bicubic_interp", {"X": input, **inputs}, attrs, name=name)
