"""Rows of images: convolutions, pooling, resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
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
    if len(sides) == 4 and sides[0] == sides[1] and sides[2] == sides[3]:
        sides = (sides[0], sides[2])
    if len(sides) != 2:
        raise BadProgram(f"{list(sides)} does not say how many pixels there are on two sides")
    return int(sides[0]), int(sides[1])


def _moving(op: Operator, *names: str) -> dict[str, Any]:
    return {name: _pair(op.attr(name)) for name in ("strides", "paddings", *names)}


def _same(
    op: Operator, size: Sequence[int], window: tuple[int, int], moving: dict[str, Any]
) -> dict[str, Any]:
    """Paddings of algorithms that have a name."""
    way = op.attr("padding_algorithm")
    if way == "VALID":
        return {**moving, "paddings": (0, 0)}
    if way != "SAME":
        return moving
    if moving["strides"] != (1, 1) or not (window[0] % 2 and window[1] % 2):
        raise BadProgram(
            f"operator {op.type!r}: padding 'SAME' is in this release for odd windows and strides of 1"
        )
    apart = moving.get("dilations", (1, 1))
    return {**moving, "paddings": tuple((w - 1) * d // 2 for w, d in zip(window, apart, strict=True))}


def _framed(
    low: Lowering, x: EngineVariable, window: tuple[int, int], moving: dict[str, Any]
) -> tuple[EngineVariable, dict[str, Any]]:
    """An image with as much around it as "SAME" needs: the odd one of a number of pixels goes to the end."""
    sides = []
    for size, side, stride, apart in zip(
        x.shape[2:], window, moving["strides"], moving["dilations"], strict=True
    ):
        reach = (side - 1) * apart + 1
        missing = reach - 1 if stride == 1 else max((-(-size // stride) - 1) * stride + reach - size, 0)
        if stride != 1 and size < 0:
            raise BadProgram("padding 'SAME' with strides above 1 is of images of a declared size")
        sides.append((missing // 2, missing - missing // 2))
    if all(before == after for before, after in sides):
        return x, {**moving, "paddings": tuple(before for before, _ in sides)}
    framed = low.op("pad", {"paddings": ((0, 0), (0, 0), *sides), "value": 0.0}, X=x)
    return framed, {**moving, "paddings": (0, 0)}


@lowers("conv2d", "depthwise_conv2d", dilations=(1, 1), groups=1, use_cudnn=True, **_MOVING)
def _conv2d(low: Lowering, op: Operator) -> None:
    x, filters = channels_first(low, op, low.input(op, "Input").variable), low.input(op, "Filter").variable
    moving = _moving(op, "dilations")
    if op.attr("padding_algorithm") == "SAME":
        x, moving = _framed(low, x, (filters.shape[2], filters.shape[3]), moving)
    elif op.attr("padding_algorithm") == "VALID":
        moving["paddings"] = (0, 0)
    out = low.op("conv2d", {**moving, "groups": op.attr("groups") or 1}, X=x, Filter=filters)
    low.give(op, "Output", as_told(low, op, out))


@lowers(
    "conv2d_transpose",
    "depthwise_conv2d_transpose",
    dilations=(1, 1),
    groups=1,
    output_size=(),
    use_cudnn=True,
    **_MOVING,
)
def _conv2d_transpose(low: Lowering, op: Operator) -> None:
    told = {**_moving(op, "dilations"), "groups": op.attr("groups") or 1}
    size = op.attr("output_size")
    told["output_size"] = _pair(size) if size else ()
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
        out = low.op("max_pool2d", _same(op, x.shape, told["ksize"], told), X=x)
    else:
        told = {**_same(op, x.shape, told["ksize"], told), "exclusive": bool(op.attr("exclusive"))}
        out = low.op("average_pool2d", told, X=x)
    low.give(op, "Out", as_told(low, op, out))


def _global_pool(low: Lowering, x: EngineVariable, how: str) -> EngineVariable:
    if how == "max":  # not reduce_max: of equal pixels the first alone has the gradient
        return low.op("max_pool2d", {"ksize": (0, 0)}, X=x)
    return low.op("reduce_mean", {"dim": (2, 3), "keep_dim": True}, X=x)


def _adaptive_pool(low: Lowering, x: EngineVariable, how: str, wanted: tuple[int, int]) -> EngineVariable:
    if how == "avg":
        return low.op("bilinear_interp", {"size": wanted, "method": "average"}, X=x)
    sides = list(zip(x.shape[2:], wanted, strict=True))
    if any(size % count for size, count in sides):
        raise BadProgram(
            f"operator 'pool2d': adaptive maxima of {list(x.shape[2:])} as {list(wanted)} parts, not all of "
            "one size, are not in this release"
        )
    window = tuple(size // count for size, count in sides)
    return low.op("max_pool2d", {"ksize": window, "strides": window}, X=x)


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
    low.give(op, "Out", as_told(low, op, low.op("bilinear_interp", told, X=x), "data_layout"))


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


@lowers("lrn", n=5, k=2.0, alpha=1e-4, beta=0.75, data_format="NCHW")
def _lrn(low: Lowering, op: Operator) -> None:
    """x / (k + alpha * sum of squares near by) ** beta."""
    k, beta = float(op.attr("k")), float(op.attr("beta"))
    told = {"n": int(op.attr("n")), "alpha": float(op.attr("alpha")) / k, "beta": beta}
    out = low.op("lrn", told, X=channels_first(low, op, low.input(op, "X").variable))
    out = out if k == 1.0 else low.op("scale", {"scale": k**-beta}, X=out)
    low.give(op, "Out", as_told(low, op, out))
