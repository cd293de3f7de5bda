"""Rows of images: convolutions, pooling, resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowered_if, lowers
from paddle._program.ops.arithmetic import as_float
from paddle._program.ops.layouts import as_told, channels_first
from paddle._program.ops.sizes import anything, known_sizes

_MOVING: dict[str, Any] = {
    "strides": (1, 1),
    "paddings": (0, 0),
    "padding_algorithm": "EXPLICIT",
    "data_format": "NCHW",
}


def _pair(given: int | Sequence[int]) -> tuple[int, int]:
    sides = (given, given) if isinstance(given, int) else tuple(given)
    if len(sides) != 2:
        raise BadProgram(f"{list(sides)} does not say how many pixels there are on two sides")
    return int(sides[0]), int(sides[1])


def _paddings(op: Operator) -> tuple[int, ...] | str:
    """For each axis or for each side, or the name of a way to find them."""
    way, given = op.attr("padding_algorithm"), op.attr("paddings")
    if way == "SAME":
        return "SAME"
    if way == "VALID":
        return 0, 0
    numbers = (given, given) if isinstance(given, int) else tuple(int(each) for each in given)
    if len(numbers) not in (2, 4):
        raise BadProgram(
            f"operator {op.type!r}: paddings are two numbers or four, above, below, left and right of an "
            f"image, not {list(numbers)}"
        )
    return numbers


def _moving(op: Operator, *names: str) -> dict[str, Any]:
    told = {name: _pair(op.attr(name)) for name in ("strides", *names)}
    return {**told, "paddings": _paddings(op)}


def _convolving(op: Operator) -> dict[str, Any]:
    """ "SAME" sees pixels that are neighbours, whatever dilations are told, as upstream's does."""
    told = {**_moving(op, "dilations"), "groups": op.attr("groups") or 1}
    return {**told, "dilations": (1, 1)} if told["paddings"] == "SAME" else told


@lowers("conv2d", "depthwise_conv2d", dilations=(1, 1), groups=1, use_cudnn=True, **_MOVING)
def _conv2d(low: Lowering, op: Operator) -> None:
    x, filters = channels_first(low, op, low.input(op, "Input").variable), low.input(op, "Filter").variable
    out = low.op("conv2d", _convolving(op), X=x, Filter=filters)
    low.give(op, "Output", as_told(low, op, out))


@lowers(
    "conv2d_transpose",
    "depthwise_conv2d_transpose",
    dilations=(1, 1),
    groups=1,
    output_size=(),
    output_padding=(),
    use_cudnn=True,
    **_MOVING,
)
def _conv2d_transpose(low: Lowering, op: Operator) -> None:
    sizes = {name: op.attr(name) for name in ("output_size", "output_padding")}
    told = {**_convolving(op), **{name: _pair(size) if size else () for name, size in sizes.items()}}
    x, filters = channels_first(low, op, low.input(op, "Input").variable), low.input(op, "Filter").variable
    low.give(op, "Output", as_told(low, op, low.op("conv2d_transpose", told, X=x, Filter=filters)))


@lowers(
    "pool2d",
    pooling_type="max",
    ksize=(1, 1),
    global_pooling=False,
    ceil_mode=False,
    exclusive=True,
    adaptive=False,
    use_cudnn=True,
    **_MOVING,
)
def _pool2d(low: Lowering, op: Operator) -> None:
    x, how = channels_first(low, op, low.input(op, "X").variable), op.attr("pooling_type")
    told = {**_moving(op, "ksize"), "ceil_mode": bool(op.attr("ceil_mode"))}
    if how not in ("max", "avg"):
        raise BadProgram(f"operator 'pool2d': pooling_type is 'max' or 'avg', not {how!r}")
    if op.attr("adaptive") and not op.attr("global_pooling") and told["ksize"] != (1, 1):
        out = _adaptive_pool(low, x, how, told["ksize"])
    elif op.attr("global_pooling") or op.attr("adaptive"):
        out = _global_pool(low, x, how)
    elif how == "max":
        out = low.op("max_pool2d", told, X=x)
    else:
        out = low.op("average_pool2d", {**told, "exclusive": bool(op.attr("exclusive"))}, X=x)
    low.give(op, "Out", as_told(low, op, out))


def _global_pool(low: Lowering, x: EngineVariable, how: str) -> EngineVariable:
    if how == "max":  # not reduce_max: of equal pixels the first alone has the gradient
        return low.op("max_pool2d", {"ksize": (0, 0)}, X=x)
    return low.op("reduce_mean", {"dim": (2, 3), "keep_dim": True}, X=x)


def _adaptive_pool(low: Lowering, x: EngineVariable, how: str, wanted: tuple[int, int]) -> EngineVariable:
    if how == "avg":
        return low.op("bilinear_interp", {"size": wanted, "method": "average"}, X=x)
    return low.op("adaptive_max_pool2d", {"size": wanted}, X=x)


@lowers(
    "max_pool2d_with_index",
    ksize=(1, 1),
    strides=(1, 1),
    paddings=(0, 0),
    global_pooling=False,
    adaptive=False,
    pooling_type="max",
)
def _pool_with_index(low: Lowering, op: Operator) -> None:
    """The greatest of each window, and which pixel of its channel that is, counted along its rows."""
    x, window = low.input(op, "X").variable, _pair(op.attr("ksize"))
    if op.attr("global_pooling"):
        made = low.builder.ops("max_pool2d", {"ksize": (0, 0)}, X=x)
    elif op.attr("adaptive"):
        made = low.builder.ops("adaptive_max_pool2d", {"size": window}, X=x)
    else:
        told = {"ksize": window, "strides": _pair(op.attr("strides")), "paddings": _pair(op.attr("paddings"))}
        made = low.builder.ops("max_pool2d", told, X=x)
    low.give(op, "Out", made["Out"])
    low.give(op, "Mask", low.op("cast", {"dtype": "int64"}, X=made["Places"]), dtype=VarType.INT32)


@lowers(
    "bilinear_interp",
    "nearest_interp",
    "bilinear_interp_v2",
    "nearest_interp_v2",
    out_h=-1,
    out_w=-1,
    scale=0.0,
    interp_method="bilinear",
    align_corners=True,
    align_mode=1,
    data_layout="NCHW",
)
def _interpolate(low: Lowering, op: Operator) -> None:
    x = channels_first(low, op, low.input(op, "X").variable, "data_layout")
    is_bytes = x.dtype == "int64" and op.type.startswith("bilinear")
    x = as_float(low, x) if is_bytes else x
    size = _size(low, op, x.shape)
    if size is None:
        out = anything(low, (*x.shape[:2], -1, -1), x.dtype)
        low.give(op, "Out", as_told(low, op, out, "data_layout"))
        return
    told = {
        "size": size,
        "method": "nearest" if op.type.startswith("nearest") else "bilinear",
        "align_corners": bool(op.attr("align_corners")),
        "align_mode": int(op.attr("align_mode")),
    }
    out = low.op("bilinear_interp", told, X=x)
    out = low.op("cast", {"dtype": "int64"}, X=out) if is_bytes else out
    low.give(op, "Out", as_told(low, op, out, "data_layout"))


def _size(low: Lowering, op: Operator, shape: Sequence[int]) -> tuple[int, ...] | None:
    """What a scale says, or the size that is told; None while it is open."""
    if low.has(op, "OutSize") or low.has(op, "SizeTensor"):
        return known_sizes(low, op, "", "SizeTensor", "OutSize")
    given = op.attr("scale")
    scales = [float(each) for each in (given if isinstance(given, list | tuple) else (given,)) if each]
    if not scales:
        return int(op.attr("out_h")), int(op.attr("out_w"))
    if -1 in shape[2:]:
        raise BadProgram(
            f"operator {op.type!r}: images whose size a feed decides are resized to a size, not by a scale"
        )
    return int(shape[2] * scales[0]), int(shape[3] * scales[-1])


@lowered_if("temporal_shift")
def _is_of_known_sides(op: Operator) -> bool:
    return min(op.block._var_recursive(op.input("X")[0]).shape[1:]) >= 0


@lowers("temporal_shift", seg_num=1, shift_ratio=0.25)
def _temporal_shift(low: Lowering, op: Operator) -> None:
    """Of images one after another some channels come from the one before, some from the one behind. Of sides
    that a feed decides it is a formula (windows.py)."""
    x, moments = channels_first(low, op, low.input(op, "X").variable), int(op.attr("seg_num"))
    channels, sides = x.shape[1], tuple(x.shape[2:])
    share = float(op.attr("shift_ratio"))
    ends = (0, int(channels * share), int(channels * 2 * share), channels)
    films = low.op("reshape", {"shape": (-1, moments, channels, *sides)}, X=x)
    parts = []
    for begin, end, (before, behind) in zip(ends, ends[1:], ((1, 0), (0, 1), (0, 0)), strict=False):
        if begin == end:
            continue
        part = low.op("slice", {"axes": (2,), "starts": (begin,), "ends": (end,)}, X=films)
        if before or behind:
            cut = {"axes": (1,), "starts": (behind,), "ends": (moments - before,)}
            zeros = {"paddings": ((0, 0), (before, behind), (0, 0), (0, 0), (0, 0)), "value": 0.0}
            part = low.op("pad", zeros, X=low.op("slice", cut, X=part))
        parts.append(part)
    whole = parts[0] if len(parts) == 1 else low.op("concat", {"axis": 2}, X=parts)
    out = low.op("reshape", {"shape": (-1, channels, *sides)}, X=whole)
    low.give(op, "Out", as_told(low, op, out))


@lowers("lrn", n=5, k=2.0, alpha=1e-4, beta=0.75, data_format="NCHW")
def _lrn(low: Lowering, op: Operator) -> None:
    """x / (k + alpha * sum of squares near by) ** beta."""
    k, beta = float(op.attr("k")), float(op.attr("beta"))
    told = {"n": int(op.attr("n")), "alpha": float(op.attr("alpha")) / k, "beta": beta}
    out = low.op("lrn", told, X=channels_first(low, op, low.input(op, "X").variable))
    out = out if k == 1.0 else low.op("scale", {"scale": k**-beta}, X=out)
    low.give(op, "Out", as_told(low, op, out))


@lowers("space_to_depth", blocksize=1)
def _space_to_depth(low: Lowering, op: Operator) -> None:
    """Parts of channels are woven into one larger image, and that is read in another shape."""
    x, side = low.input(op, "X").variable, int(op.attr("blocksize"))
    _, channels, height, width = x.shape
    shape = (channels * side * side, height // side, width // side)
    if -1 in x.shape[1:]:
        whole = tuple(-1 if -1 in x.shape[1:] else size for size in shape)
        low.give(op, "Out", anything(low, (x.shape[0], *whole), x.dtype))
        return
    parts = low.op("reshape", {"shape": (-1, side, side, channels // side**2, height, width)}, X=x)
    woven = low.op("transpose", {"axis": (0, 3, 4, 1, 5, 2)}, X=parts)
    low.give(op, "Out", low.op("reshape", {"shape": (-1, *shape)}, X=woven))


@lowers("pixel_shuffle", upscale_factor=1, data_format="NCHW")
def _pixel_shuffle(low: Lowering, op: Operator) -> None:
    """As models of 1.8 and 2.x have it."""
    x, times = channels_first(low, op, low.input(op, "X").variable), op.attr("upscale_factor")
    left, (height, width) = x.shape[1] // times**2, _sides(op, x)
    parted, whole = (-1, left, times, times, height, width), (-1, left, height * times, width * times)
    low.give(op, "Out", as_told(low, op, _turned(low, x, parted, (0, 1, 4, 2, 5, 3), whole)))


@lowers("shuffle_channel", group=1)
def _shuffle_channel(low: Lowering, op: Operator) -> None:
    """As models of 1.8 have it."""
    x, groups = low.input(op, "X").variable, op.attr("group")
    whole = (-1, x.shape[1], *_sides(op, x))
    parted = (-1, groups, x.shape[1] // groups, *whole[2:])
    low.give(op, "Out", _turned(low, x, parted, (0, 2, 1, 3, 4), whole))


def _sides(op: Operator, x: EngineVariable) -> tuple[int, int]:
    if -1 in x.shape[2:]:
        raise BadProgram(f"operator {op.type!r}: the size of images is decided by a feed: declare it")
    return x.shape[2], x.shape[3]


def _turned(
    low: Lowering, x: EngineVariable, parted: tuple[int, ...], order: tuple[int, ...], whole: tuple[int, ...]
) -> EngineVariable:
    parts = low.op("transpose", {"axis": order}, X=low.op("reshape", {"shape": parted}, X=x))
    return low.op("reshape", {"shape": whole}, X=parts)
