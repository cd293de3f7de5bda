"""What most networks are made of besides: ``paddle.nn.functional.linear``, ``dropout`` and others.

It must never compute: each function appends operators to the default program. Guarantee: dropout drops
nothing in a program that was cloned for tests.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.nn.functional.conv import sides
from paddle.tensor import math
from paddle.tensor._append import append, append_all, axes_of
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import cast, concat, squeeze, unsqueeze

__all__ = [
    *("cosine_similarity", "dropout", "dropout2d", "interpolate", "label_smooth", "linear", "normalize"),
    *("pad", "sequence_mask", "upsample", "zeropad2d"),
]


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x @ weight + bias."""
    name = name or LayerHelper("linear").name
    product = matmul(x, weight, name=name)
    if bias is None:
        return product
    attrs = {"axis": len(x.shape) - 1}
    return append("elementwise_add", {"X": product, "Y": bias}, attrs, name=name)


def dropout(
    x: Any,
    p: float = 0.5,
    axis: Any = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """Zero with the chance ``p``, what is left divided by 1 - p; nothing of both where not ``training``.

    ``mode`` "downscale_in_infer": what is left stays as it is, and all is multiplied by 1 - p in tests.
    """
    if mode not in ("upscale_in_train", "downscale_in_infer", "downgrade_in_infer"):
        raise ValueError(f"mode of dropout is 'upscale_in_train' or 'downscale_in_infer', not {mode!r}")
    if not 0 <= p <= 1:
        raise ValueError(f"p of dropout is a chance from 0 to 1, not {p!r}")
    if p == 0:
        return x
    kept = "upscale_in_train" if mode == "upscale_in_train" else "downgrade_in_infer"
    attrs = {
        "dropout_prob": float(p),
        "is_test": not training,
        "fix_seed": False,
        "seed": 0,
        "dropout_implementation": kept,
    }
    if axis is not None:
        return _dropped_slices(x, attrs, axes_of(axis))
    return append_all(
        "dropout", {"X": x}, attrs, outputs=("Out", "Mask"), dtypes={"Mask": "uint8"}, name=name
    )[0]


def _dropped_slices(x: Any, attrs: dict[str, Any], axes: list[int]) -> Any:
    """Along ``axes`` each place is drawn for, along the others it is one draw."""
    from paddle.tensor.creation import ones_like

    rank = len(x.shape)
    others = sorted(set(range(rank)) - {axis % rank for axis in axes})
    whole = ones_like(x)
    column = math.max(whole, others, keepdim=True) if others else whole
    return math.multiply(x, append_all("dropout", {"X": column}, attrs, outputs=("Out", "Mask"))[0])


def sequence_mask(x: Any, maxlen: int | None = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """Row i is 1 at its first x[i] places and 0 at the others, of ``maxlen``."""
    from paddle._program.description.dtypes import dtype_of

    attrs = {"maxlen": -1 if maxlen is None else int(maxlen), "out_dtype": int(dtype_of(dtype))}
    return append(
        "sequence_mask", {"X": x}, attrs, outputs=("Y",), dtype=dtype, stop_gradient=True, name=name
    )


_METHODS = {1: ("linear",), 2: ("nearest", "bilinear", "bicubic"), 3: ("trilinear",)}


def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """In another size: lines "linear", images "nearest", "bilinear" or "bicubic", volumes "trilinear"; "area"
    is the mean of equal parts."""
    axes = len(x.shape) - 2
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate takes either size or scale_factor")
    if mode == "area":
        return _areas(x, size, axes)
    if mode not in _METHODS.get(axes, ()):
        from paddle._absent import NotInThisRelease

        raise NotInThisRelease(
            f"interpolate in mode {mode!r} of {list(x.shape)} is not in this release: there are "
            f"{', '.join(_METHODS.get(axes, ()))}"
        )
    sizes = [-1] * axes if size is None else [int(each) for each in sides(size, axes)]
    factors = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * axes
    attrs = {
        "scale": [] if scale_factor is None else [float(each) for each in factors],
        "interp_method": mode,
        "align_corners": align_corners,
        "align_mode": align_mode,
        "data_layout": "NHWC" if data_format[-1] == "C" else "NCHW",
        **dict(zip(("out_d", "out_h", "out_w")[3 - axes :], sizes, strict=True)),
    }
    return append(f"{mode}_interp_v2", {"X": x}, attrs, name=name)


def _areas(x: Any, size: Any, axes: int) -> Any:
    from paddle.nn.functional import pooling

    if size is None or axes not in (1, 2, 3):
        raise ValueError("interpolate in mode 'area' takes a size, of 3 to 5 axes")
    return getattr(pooling, f"adaptive_avg_pool{axes}d")(x, size)


upsample = interpolate


def dropout2d(
    x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """Whole channels dropped."""
    channels = 1 if data_format == "NCHW" else 3
    return dropout(x, p, axis=[0, channels], training=training, name=name)


def normalize(x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """x / max(norm of x along ``axis``, epsilon)."""
    from paddle.tensor.linalg import norm

    length = math.clip(norm(x, p, axis, keepdim=True), min=epsilon)
    return math.divide(x, length, name=name)


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between ``x1`` and ``x2`` along ``axis``."""
    product = math.sum(math.multiply(x1, x2), axis)
    lengths = math.multiply(math.sum(math.square(x1), axis), math.sum(math.square(x2), axis))
    return math.divide(product, math.sqrt(math.clip(lengths, min=eps * eps)))


def label_smooth(label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None) -> Any:
    """(1 - epsilon) * label + epsilon * prior_dist, which is equal for all classes if None."""
    inputs = {"X": label, "PriorDist": prior_dist}
    return append("label_smooth", inputs, {"epsilon": float(epsilon)}, name=name)


def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x`` with more around: of two numbers for every axis, or for the last ones of NCHW, the last first.

    ``pad``: numbers, or a tensor of them; what is below zero is cut off. ``mode``: "constant", "reflect",
    "replicate" or "circular". Raises ValueError of another one, and where more is reflected than there is.
    """
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise ValueError(f"pad: mode is constant, reflect, replicate or circular, not {mode!r}")
    rank = len(x.shape)
    if mode == "constant" and not isinstance(pad, Variable) and len(pad) == 2 * rank:
        told = {"paddings": [int(size) for size in pad], "pad_value": float(value)}
        return append("pad", {"X": x}, told, name=name)
    if rank not in (3, 4, 5):
        raise ValueError(f"pad: x has 3, 4 or 5 axes, not {rank}, where not every axis is told two numbers")
    layout, first = ("NDHWC", 1) if data_format in ("NHWC", "NLC", "NDHWC") else ("NCDHW", 2)
    added = {3: [first + 1, first + 2], 4: [first], 5: []}[rank]
    zeros = [0] * (2 * len(added))
    attrs = {"mode": mode, "value": float(value), "data_format": layout}
    if isinstance(pad, Variable):
        attrs["paddings"], inputs = [], {"Paddings": _with_zeros(pad, len(zeros), rank)}
    else:
        numbers = [int(size) for size in pad]
        attrs["paddings"], inputs = [*zeros, *numbers] if rank == 3 else [*numbers, *zeros], {}
    volume = unsqueeze(x, added) if added else x
    found = append("pad3d", {"X": volume, **inputs}, attrs, name=name)
    return squeeze(found, added) if added else found


def _with_zeros(pad: Any, count: int, rank: int) -> Any:
    """What a tensor says, and nothing of the axes that a volume has besides."""
    from paddle.tensor.creation import zeros

    if not count:
        return pad
    parts = [zeros([count], "int32"), cast(pad, "int32")]
    return concat(parts if rank == 3 else parts[::-1])


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Zeros around images: [left, right, top, bottom]."""
    return pad(x, padding, "constant", 0.0, data_format, name)
