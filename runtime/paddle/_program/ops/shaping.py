"""Rows of what gives the same elements in another shape or order, more of them, or some."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine.program import Variable as EngineVariable
from paddle._program.dtypes import VarType, dtype_of, engine_dtype
from paddle._program.errors import BadProgram
from paddle._program.lowering import Lowering
from paddle._program.op_rows import lowers
from paddle._program.operator import Operator


def axes_of(given: int | Sequence[int]) -> tuple[int, ...]:
    """Axes, one or several."""
    return (int(given),) if isinstance(given, int) else tuple(int(each) for each in given)


@lowers("reshape", "reshape2", shape=(), inplace=False)
def _reshape(low: Lowering, op: Operator) -> None:
    x, wanted = low.input(op, "X").variable, tuple(int(size) for size in op.attr("shape"))
    if not wanted:
        raise BadProgram(
            f"operator {op.type!r}: a shape that is computed is not in this release: give numbers"
        )
    if wanted.count(-1) > 1:
        raise BadProgram(f"operator {op.type!r}: shape {list(wanted)} leaves more than one size open")
    _give_kept(low, op, low.op("reshape", {"shape": _settled(x.shape, wanted)}, X=x))


def _settled(source: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """A 0 as the size that X has there where that is known; -1 where it is the one that a feed decides."""
    copied = [source[i] if size == 0 and i < len(source) else size for i, size in enumerate(wanted)]
    if copied.count(-1) > 1:
        return wanted  # the engine settles it when the sizes are known
    return tuple(copied)


def _give_kept(low: Lowering, op: Operator, out: EngineVariable) -> None:
    x = low.input(op, "X").variable
    keeps = bool(x.shape and out.shape) and out.shape[0] == x.shape[0]
    low.give(op, "Out", out, None if keeps else ())


@lowers("squeeze", "squeeze2", axes=())
def _squeeze(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    axes = tuple(each for each in axes_of(op.attr("axes")) if x.shape[each] in (1, -1))
    if op.attr("axes") and not axes:
        _give_kept(low, op, x)
        return
    _give_kept(low, op, low.op("squeeze", {"axes": axes}, X=x))


@lowers("unsqueeze", "unsqueeze2", axes=())
def _unsqueeze(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    _give_kept(low, op, low.op("unsqueeze", {"axes": axes_of(op.attr("axes"))}, X=x))


@lowers("flatten", "flatten2", axis=1)
def _flatten(low: Lowering, op: Operator) -> None:
    x, axis = low.input(op, "X").variable, op.attr("axis")
    behind = low.op("flatten", {"start": axis, "stop": len(x.shape)}, X=x)
    out = behind if axis == 1 else low.op("flatten", {"start": 0, "stop": axis}, X=behind)
    _give_kept(low, op, out)


@lowers("flatten_contiguous_range", start_axis=1, stop_axis=-1)
def _flatten_range(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    start, stop = (op.attr(name) % len(x.shape) for name in ("start_axis", "stop_axis"))
    _give_kept(low, op, low.op("flatten", {"start": start, "stop": stop + 1}, X=x))


@lowers("transpose", "transpose2", axis=())
def _transpose(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    order = tuple(each % len(x.shape) for each in axes_of(op.attr("axis")))
    low.give(op, "Out", low.op("transpose", {"axis": order}, X=x), None if order[:1] == (0,) else ())


@lowers("concat", axis=0)
def _concat(low: Lowering, op: Operator) -> None:
    given, axis = low.inputs(op, "X"), int(op.attr("axis"))
    parts = [each.variable for each in given]
    out = parts[0] if len(parts) == 1 else low.op("concat", {"axis": axis % len(parts[0].shape)}, X=parts)
    low.give(op, "Out", out, None if axis % len(parts[0].shape) else ())


@lowers("split", axis=0, num=0, sections=())
def _split(low: Lowering, op: Operator) -> None:
    x, axis = low.input(op, "X").variable, int(op.attr("axis")) % len(low.input(op, "X").variable.shape)
    size, sections = x.shape[axis], [int(each) for each in op.attr("sections")]
    if size == -1:
        _split_rows(low, op, x, axis)
        return
    if not sections:
        if size % int(op.attr("num")):
            raise BadProgram(f"operator 'split': {size} is not divisible into {op.attr('num')} equal parts")
        sections = [size // int(op.attr("num"))] * int(op.attr("num"))
    if -1 in sections:
        sections[sections.index(-1)] = size - sum(sections) - 1
    begin = 0
    for index, part in enumerate(sections):
        attrs = {"axes": (axis,), "starts": (begin,), "ends": (begin + part,)}
        low.give(op, "Out", low.op("slice", attrs, X=x), None if axis else (), index=index)
        begin += part


def _split_rows(low: Lowering, op: Operator, x: EngineVariable, axis: int) -> None:
    """Equal parts of the first axis, however many rows a feed gives."""
    count, rest = int(op.attr("num")), x.shape[1:]
    if axis or not count or -1 in rest:
        raise BadProgram(
            "operator 'split': the axis is one whose size a feed decides: its parts are not known"
        )
    apart = low.op("reshape", {"shape": (count, -1, *rest)}, X=x)
    for index in range(count):
        attrs = {"axes": (0,), "starts": (index,), "ends": (index + 1,)}
        part = low.op("reshape", {"shape": (-1, *rest)}, X=low.op("slice", attrs, X=apart))
        low.give(op, "Out", part, (), index=index)


@lowers("stack", axis=0)
def _stack(low: Lowering, op: Operator) -> None:
    parts = [each.variable for each in low.inputs(op, "X")]
    axis = int(op.attr("axis")) % (len(parts[0].shape) + 1)
    lined = [low.op("unsqueeze", {"axes": (axis,)}, X=each) for each in parts]
    out = lined[0] if len(lined) == 1 else low.op("concat", {"axis": axis}, X=lined)
    low.give(op, "Y", out, None if axis else ())


@lowers("unstack", axis=0, num=0)
def _unstack(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    axis = int(op.attr("axis")) % len(x.shape)
    for index in range(len(op.output("Y"))):
        attrs = {"axes": (axis,), "starts": (index,), "ends": (index + 1,), "clamps": x.shape[axis] == -1}
        one = low.op("squeeze", {"axes": (axis,)}, X=low.op("slice", attrs, X=x))
        low.give(op, "Y", one, None if axis else (), index=index)


@lowers("slice", axes=(), starts=(), ends=(), decrease_axis=(), infer_flags=())
def _slice(low: Lowering, op: Operator) -> None:
    x, axes = low.input(op, "Input").variable, axes_of(op.attr("axes"))
    attrs = {
        "axes": axes,
        "starts": axes_of(op.attr("starts")),
        "ends": axes_of(op.attr("ends")),
        "clamps": True,
    }
    out = low.op("slice", attrs, X=x)
    if dropped := axes_of(op.attr("decrease_axis")):
        out = low.op("squeeze", {"axes": dropped}, X=out)
    low.give(op, "Out", out, () if 0 in axes else None)


@lowers("strided_slice", axes=(), starts=(), ends=(), strides=())
def _strided_slice(low: Lowering, op: Operator) -> None:
    names = {"axes": "axes", "starts": "starts", "ends": "ends", "strides": "steps"}
    attrs = {ours: axes_of(op.attr(theirs)) for theirs, ours in names.items()}
    x = low.input(op, "Input").variable
    low.give(op, "Out", low.op("slice", {**attrs, "clamps": True}, X=x), () if 0 in attrs["axes"] else None)


@lowers("expand", expand_times=())
def _expand(low: Lowering, op: Operator) -> None:
    _tiled(low, op, axes_of(op.attr("expand_times")))


@lowers("tile", repeat_times=())
def _tile(low: Lowering, op: Operator) -> None:
    times, rank = axes_of(op.attr("repeat_times")), len(low.input(op, "X").variable.shape)
    _tiled(low, op, (1,) * (rank - len(times)) + times)


def _tiled(low: Lowering, op: Operator, times: tuple[int, ...]) -> None:
    x = low.input(op, "X").variable
    keeps = len(times) == len(x.shape) and times[0] == 1
    low.give(op, "Out", low.op("tile", {"times": times}, X=x), None if keeps else ())


@lowers("expand_as")
def _expand_as(low: Lowering, op: Operator) -> None:
    like = low.input(op, "target_tensor" if low.has(op, "target_tensor") else "Y")
    x = low.input(op, "X").variable
    low.give(op, "Out", low.op("expand_as", X=x, Like=like.variable), like.runs)


@lowers("expand_v2", shape=())
def _expand_v2(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    low.give(op, "Out", low.op("expand", {"shape": axes_of(op.attr("shape"))}, X=x))


@lowers("expand_as_v2", target_shape=())
def _expand_as_v2(low: Lowering, op: Operator) -> None:
    if low.has(op, "Y"):
        _expand_as(low, op)
        return
    x = low.input(op, "X").variable
    low.give(op, "Out", low.op("expand", {"shape": axes_of(op.attr("target_shape"))}, X=x))


@lowers("pad", paddings=(), pad_value=0.0)
def _pad(low: Lowering, op: Operator) -> None:
    told = axes_of(op.attr("paddings"))
    around = tuple(zip(told[::2], told[1::2], strict=True))
    attrs = {"paddings": around, "value": float(op.attr("pad_value"))}
    low.give(op, "Out", low.op("pad", attrs, X=low.input(op, "X").variable))


@lowers("pad2d", paddings=(0, 0, 0, 0), mode="constant", pad_value=0.0, data_format="NCHW")
def _pad2d(low: Lowering, op: Operator) -> None:
    if op.attr("mode") != "constant" or op.attr("data_format") != "NCHW":
        raise BadProgram("operator 'pad2d': only mode 'constant' of 'NCHW' images is in this release")
    top, bottom, left, right = axes_of(op.attr("paddings"))
    attrs = {"paddings": ((0, 0), (0, 0), (top, bottom), (left, right)), "value": float(op.attr("pad_value"))}
    low.give(op, "Out", low.op("pad", attrs, X=low.input(op, "X").variable))


@lowers("reverse", "flip", axis=())
def _reverse(low: Lowering, op: Operator) -> None:
    out, axes = low.input(op, "X").variable, axes_of(op.attr("axis"))
    for axis in axes:
        out = low.op("reverse", {"axis": axis}, X=out)
    low.give(op, "Out", out, () if 0 in axes else None)


@lowers("cast", in_dtype=int(VarType.FP32), out_dtype=int(VarType.FP32))
def _cast(low: Lowering, op: Operator) -> None:
    x, kind = low.input(op, "X").variable, dtype_of(op.attr("out_dtype"))
    if kind == VarType.BOOL:
        zero = low.op("fill_constant", {"shape": (1,), "value": 0, "dtype": x.dtype})
        low.give(op, "Out", low.op("not_equal", X=x, Y=zero), dtype=kind)
        return
    wanted = engine_dtype(kind)
    out = x if x.dtype == wanted else low.op("cast", {"dtype": wanted}, X=x)
    low.give(op, "Out", out, dtype=kind)


@lowers("shape")
def _shape(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("shape", X=low.input(op, "Input").variable), (), dtype=VarType.INT32)
