"""Rows of what takes elements by integers, puts them there, and says where the greatest are."""

from __future__ import annotations

from math import prod

import numpy as np

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType, dtype_of
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.arithmetic import as_float, number
from paddle._program.ops.sizes import anything, in_shape, known_size, known_sizes, open_size


def _axis(op: Operator, name: str = "axis") -> int:
    return int(op.attrs.get(name) or 0)


def from_zero(axis: int, x: EngineVariable) -> int:
    """An axis counted from 0 on."""
    return axis % len(x.shape)


@lowers("gather", axis=0, overwrite=True)
def _gather(low: Lowering, op: Operator) -> None:
    x, index = low.input(op, "X").variable, low.input(op, "Index")
    axis, wanted = from_zero(_axis(op), x), index.variable
    if not wanted.shape:  # what one index names has no axis of its own
        line = low.op("reshape", {"shape": (1,)}, X=wanted)
        found = low.op("gather", {"axis": axis}, X=x, Index=line)
        low.give(op, "Out", low.op("squeeze", {"axes": (axis,)}, X=found), ())
        return
    out = low.op("gather", {"axis": axis}, X=x, Index=wanted)
    low.give(op, "Out", out, () if axis == 0 else None)


@lowers("index_select", dim=0)
def _index_select(low: Lowering, op: Operator) -> None:
    x, index = low.input(op, "X").variable, low.input(op, "Index").variable
    axis = from_zero(_axis(op, "dim"), x)
    low.give(op, "Out", low.op("gather", {"axis": axis}, X=x, Index=index), () if axis == 0 else None)


@lowers("gather_nd", "index_sample")
def _gather_nd(low: Lowering, op: Operator) -> None:
    x, index = low.input(op, "X").variable, low.input(op, "Index").variable
    low.give(op, "Out", low.op(op.type, X=x, Index=index), None if op.type == "index_sample" else ())


@lowers("scatter", overwrite=True)
def _scatter(low: Lowering, op: Operator) -> None:
    x, index, updates = (low.input(op, slot).variable for slot in ("X", "Ids", "Updates"))
    told = {"overwrite": bool(op.attr("overwrite"))}
    low.give(op, "Out", low.op("scatter", told, X=x, Index=index, Updates=updates))


@lowers("scatter_nd_add")
def _scatter_nd_add(low: Lowering, op: Operator) -> None:
    x, index, updates = (low.input(op, slot).variable for slot in ("X", "Index", "Updates"))
    low.give(op, "Out", low.op("scatter_nd_add", X=x, Index=index, Updates=updates))


@lowers("one_hot", depth=1, allow_out_of_range=False)
def _one_hot(low: Lowering, op: Operator) -> None:
    """The last axis of X, of size 1, becomes the choice."""
    x = low.input(op, "X").variable
    _chosen(low, op, low.op("squeeze", {"axes": (len(x.shape) - 1,)}, X=x))


@lowers("one_hot_v2", depth=1, allow_out_of_range=False)
def _one_hot_v2(low: Lowering, op: Operator) -> None:
    _chosen(low, op, low.input(op, "X").variable)


def _chosen(low: Lowering, op: Operator, x: EngineVariable) -> None:
    depth = known_size(low, op, "depth", "depth_tensor")
    if depth is None:
        low.give(op, "Out", anything(low, (*x.shape, -1), "float32"))
    else:
        low.give(
            op, "Out", _within(low, x, depth) if op.attr("allow_out_of_range") else _marked(low, x, depth)
        )


def _marked(low: Lowering, x: EngineVariable, depth: int) -> EngineVariable:
    return low.op("one_hot", {"depth": depth}, X=x)


def _within(low: Lowering, x: EngineVariable, depth: int) -> EngineVariable:
    """Zeros where there is no such place."""
    known = low.op(
        "logical_and",
        X=low.op("greater_equal", X=x, Y=number(low, 0, x)),
        Y=low.op("less_than", X=x, Y=number(low, depth, x)),
    )
    marked = _marked(low, low.op("elementwise_mul", X=x, Y=known), depth)
    kept = low.op("unsqueeze", {"axes": (len(x.shape),)}, X=as_float(low, known))
    return low.op("elementwise_mul", X=marked, Y=kept)


@lowers("top_k", k=1)
def _top_k(low: Lowering, op: Operator) -> None:
    count, x = known_size(low, op, "k", "K"), low.input(op, "X").variable
    if count is not None:
        _best(low, op, count, falls=True)
        return
    for slot, dtype in (("Out", x.dtype), ("Indices", "int64")):
        low.give(op, slot, anything(low, (*x.shape[:-1], -1), dtype))


@lowers("top_k_v2", k=1, axis=-1, largest=True, sorted=True)
def _top_k_v2(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    axis, count = int(op.attr("axis")) % len(x.shape), int(op.attr("k"))
    if axis == len(x.shape) - 1 and op.attr("largest"):
        _best(low, op, count, falls=True)
        return
    found = low.builder.ops("argsort", {"axis": axis, "descending": bool(op.attr("largest"))}, X=x)
    first = {"axes": (axis,), "starts": (0,), "ends": (count,), "clamps": True}
    low.give(op, "Out", low.op("slice", first, X=found["Out"]))
    low.give(op, "Indices", low.op("slice", first, X=found["Indices"]), dtype=VarType.INT64)


def _best(low: Lowering, op: Operator, count: int, falls: bool) -> None:
    x = low.input(op, "X").variable
    rank = len(x.shape)
    flat = x if rank == 2 else low.op("flatten", {"start": 0, "stop": rank - 1}, X=x)
    found = low.builder.ops("top_k", {"k": count}, X=flat)
    for slot, dtype in (("Out", None), ("Indices", VarType.INT64)):
        each = found[slot]
        if rank != 2:
            each = in_shape(low, each, (*x.shape[:-1], count), x)
        low.give(op, slot, each, dtype=dtype)


@lowers("arg_max", "arg_min", axis=-1, dtype=int(VarType.INT64), keepdims=False, flatten=False)
def _arg_max(low: Lowering, op: Operator) -> None:
    x, axis = low.input(op, "X").variable, int(op.attr("axis"))
    if op.attr("flatten") or not x.shape:
        x, axis = low.op("reshape", {"shape": (-1,)}, X=x), 0
    told = op.attr("dtype")
    kind = VarType.INT64 if told is None or told == -1 else dtype_of(told)
    out = low.op(op.type, {"axis": axis, "keep_dim": bool(op.attr("keepdims"))}, X=x)
    low.give(op, "Out", out, () if axis % len(x.shape) == 0 else None, dtype=kind)


@lowers("argsort", axis=-1, descending=False)
def _argsort(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    told = {"axis": int(op.attr("axis")), "descending": bool(op.attr("descending"))}
    found = low.builder.ops("argsort", told, X=x)
    low.give(op, "Out", found["Out"])
    low.give(op, "Indices", found["Indices"], dtype=VarType.INT64)


@lowers("kthvalue", k=1, axis=-1, keepdim=False)
def _kth(low: Lowering, op: Operator) -> None:
    """The k-th smallest, counted from 1; an axis of open size has that of a run."""
    x, k = low.input(op, "X").variable, int(op.attr("k"))
    axis = from_zero(int(op.attr("axis")), x)
    size = open_size(low, op) if x.shape[axis] < 0 else x.shape[axis]
    if k < 1 or 0 <= size < k:
        known = f"from 1 to {size}" if size > 0 else "1 or more"
        place = f"operator 'kthvalue' (written at {op.where})"
        raise BadProgram(f"{place}: k is {known} along axis {axis}, not {k}")
    found = low.builder.ops("argsort", {"axis": axis, "descending": False}, X=x)
    kth = {"axes": (axis,), "starts": (k - 1,), "ends": (k,), "clamps": True}
    for slot, source, dtype in (("Out", "Out", None), ("Indices", "Indices", VarType.INT64)):
        each = low.op("slice", kth, X=found[source])
        if not op.attr("keepdim"):
            each = low.op("squeeze", {"axes": (axis,)}, X=each)
        low.give(op, slot, each, () if axis == 0 else None, dtype=dtype)


@lowers("multiplex")
def _multiplex(low: Lowering, op: Operator) -> None:
    parts = [each.variable for each in low.inputs(op, "X")]
    low.give(op, "Out", low.op("multiplex", Ids=low.input(op, "Ids").variable, X=parts))


_PLACES = {"starts": "StartsTensorList", "ends": "EndsTensorList", "steps": "StepsTensorList"}
_VALUES = {f"{kind}_values": () for kind in ("fp32", "fp64", "int32", "int64", "bool")}


@lowers(
    "set_value",
    **{"axes": (), "starts": (), "ends": (), "steps": (), "decrease_axes": (), "none_axes": ()},
    **{"shape": (1,), "dtype": int(VarType.FP32), **_VALUES},
)
def _set_value(low: Lowering, op: Operator) -> None:
    """Input with the elements that slices name replaced."""
    x = low.input(op, "Input").variable
    value = low.input(op, "ValueTensor").variable if low.has(op, "ValueTensor") else None
    told = [known_sizes(low, op, name, slot) for name, slot in _PLACES.items()]
    if None in told or -1 in x.shape or (value is not None and -1 in value.shape):
        open_size(low, op)
        low.give(op, "Out", anything(low, x.shape, x.dtype), low.input(op, "Input").runs)
        return
    places = np.arange(prod(x.shape)).reshape(x.shape)[_named(op, len(x.shape), told)]
    if not places.size:
        low.give(op, "Out", x, low.input(op, "Input").runs)
        return
    updates = _spread(low, op, x, value, places.shape)
    flat = low.op("reshape", {"shape": (prod(x.shape), 1)}, X=x)
    index = _whole_numbers(low, places.reshape(-1))
    out = low.op("scatter", {"overwrite": True}, X=flat, Index=index, Updates=updates)
    low.give(op, "Out", low.op("reshape", {"shape": x.shape}, X=out), low.input(op, "Input").runs)


def _named(op: Operator, rank: int, told: list[tuple[int, ...] | None]) -> tuple[slice | int, ...]:
    """As numpy's brackets have it."""
    found: list[slice | int] = [slice(None)] * rank
    dropped = {int(axis) for axis in op.attr("decrease_axes")}
    for axis, start, end, step in zip(op.attr("axes"), *(each or () for each in told), strict=True):
        far = end <= -(2**31) + 1
        found[int(axis)] = start if int(axis) in dropped else slice(start, None if far else end, step)
    return tuple(found)


def _spread(
    low: Lowering, op: Operator, x: EngineVariable, value: EngineVariable | None, shape: tuple[int, ...]
) -> EngineVariable:
    """What is put there: a row of one element for each place."""
    count = prod(shape)
    if value is None:
        (told,) = [tuple(op.attr(name)) for name in _VALUES if op.attr(name)] or [()]
        held = np.asarray(told).reshape(tuple(int(size) for size in op.attr("shape")))
        values = tuple(_fitting(op, held, shape).reshape(-1).tolist())
        return low.op("assign_value", {"shape": (count, 1), "values": values, "dtype": x.dtype})
    flat = low.op("reshape", {"shape": (prod(value.shape), 1)}, X=value)
    if value.dtype != x.dtype:
        flat = low.op("cast", {"dtype": x.dtype}, X=flat)
    source = _fitting(op, np.arange(prod(value.shape)).reshape(value.shape), shape)
    if source.size == prod(value.shape):
        return flat
    return low.op("gather", {"axis": 0}, X=flat, Index=_whole_numbers(low, source.reshape(-1)))


def _fitting(op: Operator, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise BadProgram(
            f"what is put there (written at {op.where}) has the shape {list(values.shape)}, which is not "
            f"spread to {list(shape)}"
        ) from None


def _whole_numbers(low: Lowering, numbers: np.ndarray) -> EngineVariable:
    told = {"shape": (len(numbers),), "values": tuple(numbers.tolist()), "dtype": "int64"}
    return low.op("assign_value", told)
