"""Rows of what gives the same elements in another shape or order, more of them, or some."""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType, dtype_of, engine_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.sizes import Size, anything, in_shape, in_sizes, known_size, known_sizes, sizes_given


def axes_of(given: int | Sequence[int]) -> tuple[int, ...]:
    """Axes, one or several."""
    return (int(given),) if isinstance(given, int) else tuple(int(each) for each in given)


@lowers("reshape", "reshape2", shape=(), inplace=False)
def _reshape(low: Lowering, op: Operator) -> None:
    x, told = low.input(op, "X").variable, sizes_given(low, op, "shape", "ShapeTensor", "Shape")
    if not all(isinstance(size, int) for size in told):
        _give_kept(low, op, _open_shape(low, op, x, told) if low.infers else in_sizes(low, op, x, told))
        return
    wanted = tuple(int(size) for size in told if isinstance(size, int))
    if not wanted and math.prod(x.shape) != 1:
        raise BadProgram(f"operator {op.type!r} is told no shape, and X is {list(x.shape)}, not one number")
    if wanted.count(-1) > 1:
        raise BadProgram(f"operator {op.type!r}: shape {list(wanted)} leaves more than one size open")
    _give_kept(low, op, low.op("reshape", {"shape": _settled(x.shape, wanted)}, X=x))


def _open_shape(low: Lowering, op: Operator, x: EngineVariable, told: Sequence[Size]) -> EngineVariable:
    """What is known while it is written; what the caller says besides is believed."""
    said = [int(size) for size in op.attr("shape")]
    said = said if len(said) == len(told) else [-1] * len(told)
    guess = [size if isinstance(size, int) else other for size, other in zip(told, said, strict=True)]
    return anything(low, _settled(x.shape, tuple(guess)), x.dtype)


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
    x, axes = low.input(op, "X").variable, sizes_given(low, op, "axes", "AxesTensorList", "AxesTensor")
    known = known_sizes(low, op, "axes", "AxesTensorList", "AxesTensor")
    if known is None:
        low.give(op, "Out", anything(low, (-1,) * (len(x.shape) + len(axes)), x.dtype), ())
    else:
        _give_kept(low, op, low.op("unsqueeze", {"axes": known}, X=x))


@lowers("flatten", "flatten2", axis=1)
def _flatten(low: Lowering, op: Operator) -> None:
    x, axis = low.input(op, "X").variable, op.attr("axis")
    behind = low.op("flatten", {"start": axis, "stop": len(x.shape)}, X=x)
    out = behind if axis == 1 else low.op("flatten", {"start": 0, "stop": axis}, X=behind)
    _give_kept(low, op, out)


@lowers("flatten_contiguous_range", start_axis=1, stop_axis=-1)
def _flatten_range(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    if not x.shape:  # one number is a line of one
        _give_kept(low, op, low.op("reshape", {"shape": (1,)}, X=x))
        return
    start, stop = (op.attr(name) % len(x.shape) for name in ("start_axis", "stop_axis"))
    _give_kept(low, op, low.op("flatten", {"start": start, "stop": stop + 1}, X=x))


@lowers("transpose", "transpose2", axis=())
def _transpose(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    order = tuple(each % len(x.shape) for each in axes_of(op.attr("axis")))
    low.give(op, "Out", low.op("transpose", {"axis": order}, X=x), None if order[:1] == (0,) else ())


@lowers("concat", axis=0)
def _concat(low: Lowering, op: Operator) -> None:
    axis, parts = known_size(low, op, "axis", "AxisTensor"), [each.variable for each in low.inputs(op, "X")]
    if axis is None:
        low.give(op, "Out", anything(low, (-1,) * len(parts[0].shape), parts[0].dtype), ())
        return
    out = parts[0] if len(parts) == 1 else low.op("concat", {"axis": axis % len(parts[0].shape)}, X=parts)
    low.give(op, "Out", out, None if axis % len(parts[0].shape) else ())


@lowers("split", axis=0, num=0, sections=())
def _split(low: Lowering, op: Operator) -> None:
    x, told = low.input(op, "X").variable, known_size(low, op, "axis", "AxisTensor")
    known, axis = known_sizes(low, op, "sections", "SectionsTensorList"), (told or 0) % len(x.shape)
    if known is None or told is None:
        shape = (*x.shape[:axis], -1, *x.shape[axis + 1 :]) if told is not None else (-1,) * len(x.shape)
        for index in range(len(op.output("Out"))):
            low.give(op, "Out", anything(low, shape, x.dtype), (), index=index)
        return
    size, sections = x.shape[axis], list(known)
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
    starts = known_sizes(low, op, "starts", "StartsTensorList", "StartsTensor")
    ends = known_sizes(low, op, "ends", "EndsTensorList", "EndsTensor")
    if starts is None or ends is None:
        out = anything(low, tuple(-1 if i in axes else n for i, n in enumerate(x.shape)), x.dtype)
    else:
        out = low.op("slice", {"axes": axes, "starts": starts, "ends": ends, "clamps": True}, X=x)
    if dropped := axes_of(op.attr("decrease_axis")):
        out = low.op("squeeze", {"axes": dropped}, X=out)
    low.give(op, "Out", out, () if 0 in axes else None)


@lowers("strided_slice", axes=(), starts=(), ends=(), strides=(), decrease_axis=())
def _strided_slice(low: Lowering, op: Operator) -> None:
    """Backwards to -1 is to the first, as upstream."""
    slots = {"starts": "StartsTensor", "ends": "EndsTensor", "strides": "StridesTensor"}
    x, axes = low.input(op, "Input").variable, axes_of(op.attr("axes"))
    starts, ends, steps = (known_sizes(low, op, name, slot + "List", slot) for name, slot in slots.items())
    if starts is None or ends is None or steps is None:
        out = anything(low, tuple(-1 if i in axes else n for i, n in enumerate(x.shape)), x.dtype)
    else:
        ends = tuple(-_FAR if end == -1 and step < 0 else end for end, step in zip(ends, steps, strict=True))
        places = {"starts": starts, "ends": ends, "steps": steps}
        out = low.op("slice", {"axes": axes, **places, "clamps": True}, X=x)
    if dropped := axes_of(op.attr("decrease_axis")):
        out = low.op("squeeze", {"axes": dropped}, X=out)
    low.give(op, "Out", out, () if 0 in axes else None)


@lowers("crop", "crop_tensor", offsets=(), shape=())
def _crop(low: Lowering, op: Operator) -> None:
    """From ``offsets`` on, in the sizes of Y or ``shape``; -1 is all that is left."""
    x = low.input(op, "X").variable
    if low.has(op, "Y"):
        shape: tuple[int, ...] | None = low.input(op, "Y").variable.shape
    else:
        shape = known_sizes(low, op, "shape", "ShapeTensor", "Shape")
    offsets = known_sizes(low, op, "offsets", "OffsetsTensor", "Offsets")
    if shape is None or offsets is None:
        said = [int(size) for size in op.attr("shape")] or [-1] * len(x.shape)
        low.give(op, "Out", anything(low, tuple(said), x.dtype), ())
        return
    begins = offsets or (0,) * len(x.shape)
    if low.has(op, "Y") and -1 in shape:
        raise BadProgram(f"operator {op.type!r}: the sizes of Y, {list(shape)}, must be known")
    axes = [at for at, size in enumerate(shape) if size != -1 or begins[at]]
    ends = tuple(_FAR if shape[at] == -1 else begins[at] + shape[at] for at in axes)
    told = {"axes": tuple(axes), "starts": tuple(begins[at] for at in axes), "ends": ends, "clamps": True}
    part = low.op("slice", told, X=x) if axes else x
    sizes = tuple(part.shape[at] if size == -1 else size for at, size in enumerate(shape))
    low.give(op, "Out", in_shape(low, part, sizes, part), () if 0 in axes else None)


_FAR = 2**31 - 1


@lowers("expand", expand_times=())
def _expand(low: Lowering, op: Operator) -> None:
    _tiled(low, op, ("expand_times", "expand_times_tensor", "ExpandTimes"))


@lowers("tile", repeat_times=())
def _tile(low: Lowering, op: Operator) -> None:
    _tiled(low, op, ("repeat_times", "repeat_times_tensor", "RepeatTimes"))


def _tiled(low: Lowering, op: Operator, told: tuple[str, str, str]) -> None:
    x, times = low.input(op, "X").variable, known_sizes(low, op, *told)
    if times is None:
        low.give(op, "Out", anything(low, _repeated(x.shape, sizes_given(low, op, *told)), x.dtype), ())
        return
    times = (1,) * (len(x.shape) - len(times)) + times
    keeps = len(times) == len(x.shape) and times[0] == 1
    low.give(op, "Out", low.op("tile", {"times": times}, X=x), None if keeps else ())


def _repeated(sizes: Sequence[int], times: Sequence[Size]) -> tuple[int, ...]:
    """Sizes so many times over: -1 where either is open."""
    rank = max(len(sizes), len(times))
    lined = zip(
        (1,) * (rank - len(sizes)) + tuple(sizes), (1,) * (rank - len(times)) + tuple(times), strict=True
    )
    return tuple(size * n if isinstance(n, int) and n >= 0 <= size else -1 for size, n in lined)


@lowers("expand_as")
def _expand_as(low: Lowering, op: Operator) -> None:
    like = low.input(op, "target_tensor" if low.has(op, "target_tensor") else "Y")
    x = low.input(op, "X").variable
    times = _times(x.shape, like.variable.shape)
    if times is None:
        low.give(op, "Out", low.op("expand_as", X=x, Like=like.variable), ())
    else:
        low.give(op, "Out", low.op("tile", {"times": times}, X=x), ())


def _times(sizes: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...] | None:
    """How often parts of more than one element lie in what is wanted; None where none are repeated."""
    if len(sizes) != len(wanted):
        return None
    pairs = list(zip(sizes, wanted, strict=True))
    if not any(1 < size < whole for size, whole in pairs):
        return None
    if any(size != whole and (size < 1 or whole < 1 or whole % size) for size, whole in pairs):
        return None
    return tuple(1 if size == whole else whole // size for size, whole in pairs)


@lowers("expand_v2", shape=())
def _expand_v2(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    wanted = known_sizes(low, op, "shape", "expand_shapes_tensor", "Shape")
    if wanted is not None:
        low.give(op, "Out", low.op("expand", {"shape": wanted}, X=x))
        return
    sizes = sizes_given(low, op, "shape", "expand_shapes_tensor", "Shape")
    own = (-1,) * (len(sizes) - len(x.shape)) + x.shape
    pairs = zip(sizes, own, strict=True)
    shape = tuple((mine if size == -1 else size) if isinstance(size, int) else -1 for size, mine in pairs)
    low.give(op, "Out", anything(low, shape, x.dtype))


@lowers("expand_as_v2", target_shape=())
def _expand_as_v2(low: Lowering, op: Operator) -> None:
    if low.has(op, "Y"):
        _expand_as(low, op)
        return
    x = low.input(op, "X").variable
    low.give(op, "Out", low.op("expand", {"shape": axes_of(op.attr("target_shape"))}, X=x))


@lowers("reverse", "flip", axis=())
def _reverse(low: Lowering, op: Operator) -> None:
    out = low.input(op, "X").variable
    told = axes_of(op.attrs.get("dims", op.attr("axis")))  # dims: as 1.8 writes a flip
    axes = [axis % len(out.shape) for axis in told]
    for axis in axes:
        out = low.op("reverse", {"axis": axis}, X=out)
    low.give(op, "Out", out, () if 0 in axes else None)


@lowers("cast", in_dtype=int(VarType.FP32), out_dtype=int(VarType.FP32))
def _cast(low: Lowering, op: Operator) -> None:
    x, kind = low.input(op, "X").variable, dtype_of(op.attr("out_dtype"))
    if kind == VarType.BOOL:
        zero = low.op("fill_constant", {"shape": (1,) if x.shape else (), "value": 0, "dtype": x.dtype})
        low.give(op, "Out", low.op("not_equal", X=x, Y=zero), dtype=kind)
        return
    wanted = engine_dtype(kind)
    out = x if x.dtype == wanted else low.op("cast", {"dtype": wanted}, X=x)
    low.give(op, "Out", out, dtype=kind)


@lowers("shape")
def _shape(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("shape", X=low.input(op, "Input").variable), (), dtype=VarType.INT32)
