"""Rows of arrays that a step makes from nowhere: told values, constants, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType, dtype_of, engine_dtype, numpy_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowers
from paddle._program.ops.sizes import known_sizes
from paddle._program.running.host import Host

_SIZES: dict[str, Any] = {"shape": (1,), "dtype": int(VarType.FP32)}
_LIKE: dict[str, Any] = {**_SIZES, "input_dim_idx": 0, "output_dim_idx": 0}


def _told(op: Operator, *names: str) -> dict[str, Any]:
    """The engine's attributes for a shape, its dtype and some numbers."""
    shape = tuple(int(size) for size in op.attr("shape"))
    dtype = engine_dtype(dtype_of(op.attr("dtype")))
    return {"shape": shape, "dtype": dtype, **{name: op.attr(name) for name in names}}


_PLACES = ("input_dim_idx", "output_dim_idx")


@lowers("fill_constant_batch_size_like", value=0.0, str_value="", force_cpu=False, **_LIKE)
def _fill_like(low: Lowering, op: Operator) -> None:
    """Of sequences the size of the batch is how many there are."""
    told, like = _told(op, "value", *_PLACES), low.input(op, "Input")
    if dtype_of(op.attr("dtype")) == VarType.BOOL:
        told["value"] = float(bool(told["value"]))
    x: EngineVariable = like.variable
    if like.runs and told["input_dim_idx"] == 0:
        x = low.op("sequence_lengths", Offsets=like.runs[-1])
    low.give(op, "Out", low.op("fill_constant_batch_size_like", told, X=x), (), dtype=op.attr("dtype"))


@lowers("uniform_random_batch_size_like", min=-1.0, max=1.0, seed=0, **_LIKE)
def _uniform_like(low: Lowering, op: Operator) -> None:
    _drawn_like(low, op, "uniform_random", "min", "max")


@lowers("gaussian_random_batch_size_like", mean=0.0, std=1.0, seed=0, **_LIKE)
def _gaussian_like(low: Lowering, op: Operator) -> None:
    _drawn_like(low, op, "gaussian_random", "mean", "std")


def _drawn_like(low: Lowering, op: Operator, type: str, *names: str) -> None:
    told = _told(op, "seed", *names, *_PLACES)
    out = low.op(f"{type}_batch_size_like", told, X=low.input(op, "Input").variable)
    low.give(op, "Out", out, (), dtype=op.attr("dtype"))


@lowers("uniform_random", min=-1.0, max=1.0, seed=0, **_SIZES)
def _uniform(low: Lowering, op: Operator) -> None:
    told = {**_told(op, "min", "max", "seed"), "shape": _shape(low, op)}
    low.give(op, "Out", low.op("uniform_random", told), (), dtype=op.attr("dtype"))


@lowers("gaussian_random", "truncated_gaussian_random", mean=0.0, std=1.0, seed=0, **_SIZES)
def _gaussian(low: Lowering, op: Operator) -> None:
    told = {**_told(op, "mean", "std", "seed"), "shape": _shape(low, op)}
    low.give(op, "Out", low.op(op.type, told), (), dtype=op.attr("dtype"))


def _shape(low: Lowering, op: Operator) -> tuple[int, ...]:
    """Told in numbers, or by sizes of others."""
    return known_sizes(low, op, "shape", "ShapeTensorList", "ShapeTensor") or tuple(op.attr("shape"))


@lowers("randint", low=0, high=1, seed=0, shape=(1,), dtype=int(VarType.INT64))
def _randint(low: Lowering, op: Operator) -> None:
    told = {**_told(op, "low", "high", "seed"), "dtype": "int64", "shape": _shape(low, op)}
    low.give(op, "Out", low.op("randint", told), (), dtype=op.attr("dtype"))


@lowers("fill_zeros_like", "fill_zeros_like2")
def _zeros_like(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    value = 0.0 if x.dtype == "float32" else 0
    low.give(op, "Out", low.op("fill_any_like", {"value": value}, X=x))


@lowers("fill_any_like", value=0.0, dtype=-1)
def _fill_any_like(low: Lowering, op: Operator) -> None:
    x, told = low.input(op, "X").variable, op.attr("dtype")
    kind = None if told in (-1, None) else dtype_of(told)
    if kind is not None and engine_dtype(kind) != x.dtype:
        x = low.op("cast", {"dtype": engine_dtype(kind)}, X=x)
    value = op.attr("value") if x.dtype == "float32" else int(op.attr("value"))
    if (low.described(op, "X").dtype if kind is None else kind) == VarType.BOOL:
        value = int(bool(value))
    low.give(op, "Out", low.op("fill_any_like", {"value": value}, X=x), dtype=kind)


_VALUES = ("fp32_values", "int32_values", "int64_values", "bool_values")


def _values(op: Operator) -> tuple[Any, ...]:
    return next((tuple(op.attrs[name]) for name in _VALUES if op.attrs.get(name)), ())


@lowers("assign_value", **_SIZES)
def _assign_value(low: Lowering, op: Operator) -> None:
    told = {**_told(op), "values": _values(op)}
    low.give(op, "Out", low.op("assign_value", told), (), dtype=op.attr("dtype"))


@hosts("assign_value")
def _assign_value_here(host: Host, op: Operator) -> None:
    from paddle._program.description.dtypes import numpy_dtype

    value = np.array(_values(op), numpy_dtype(op.attr("dtype"))).reshape(tuple(op.attr("shape")))
    host.give(op, "Out", value)


def _described(op: Operator) -> None:
    from paddle._program.ops.filling import _described as say

    say(op)


@hosts("truncated_gaussian_random", infer=_described, mean=0.0, std=1.0, seed=0, **_SIZES)
def _truncated(host: Host, op: Operator) -> None:
    """Nothing farther from the mean than two standard deviations: what is, is drawn again."""
    from paddle._program.ops.filling import drawing

    value = truncated(drawing(host, op), tuple(op.attr("shape")))
    value *= np.float32(op.attr("std"))
    value += np.float32(op.attr("mean"))
    host.give(op, "Out", value)


_AT_ONCE = 1 << 16
"""So many numbers are looked at while the cache still has them."""


def truncated(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Standard normal numbers that are nowhere beyond 2. What is beyond is drawn again, all that is in order,
    until nothing is: the numbers do not depend on how many are looked at together."""
    value = generator.standard_normal(shape, np.float32)
    flat = value.reshape(-1)
    parts = [
        at + np.flatnonzero(np.abs(flat[at : at + _AT_ONCE]) > 2) for at in range(0, flat.size, _AT_ONCE)
    ]
    beyond = np.concatenate(parts) if parts else np.empty(0, np.int64)
    while beyond.size:
        drawn = generator.standard_normal(beyond.size, np.float32)
        flat[beyond] = drawn
        beyond = beyond[np.abs(drawn) > 2]
    return value


@lowers("sampling_id", min=0.0, max=1.0, seed=0)
def _sampling_id(low: Lowering, op: Operator) -> None:
    """The first column up to which the chances of a row add up to more than what is drawn; else the last."""
    x = low.input(op, "X").variable
    bounds = {name: float(op.attr(name)) for name in ("min", "max")}
    told = {**bounds, "shape": (-1, 1), "seed": int(op.attr("seed"))}
    drawn = low.op("uniform_random_batch_size_like", told, X=x)
    ends = low.op("cumsum", {"axis": 1}, X=x)
    is_passed = low.op("cast", {"dtype": "float32"}, X=low.op("less_equal", X=ends, Y=drawn))
    passed = low.op("reduce_sum", {"dim": 1, "keep_dim": False}, X=is_passed)
    column = low.op("clip", {"min": 0.0, "max": float(x.shape[1] - 1)}, X=passed)
    low.give(op, "Out", low.op("cast", {"dtype": "int64"}, X=column), dtype=VarType.INT64)


@lowers("shuffle_batch", startup_seed=0)
def _shuffle_batch(low: Lowering, op: Operator) -> None:
    """Rows in the order of numbers that are drawn for them; all axes but the last are of rows."""
    x = low.input(op, "X").variable
    rows = x if len(x.shape) == 2 else low.op("reshape", {"shape": (-1, x.shape[-1])}, X=x)
    told = {"shape": (-1, 1), "min": 0.0, "max": 1.0, "seed": 0}
    drawn = low.op("uniform_random_batch_size_like", told, X=rows)
    ascending = {"axis": 0, "descending": False}
    order = low.builder.ops("argsort", ascending, X=drawn)["Indices"]
    line = low.op("reshape", {"shape": (-1,)}, X=order)
    out = low.op("gather", {"axis": 0}, X=rows, Index=line)
    low.give(op, "Out", out if rows is x else low.op("reshape", {"shape": x.shape}, X=out))
    places = low.builder.ops("argsort", ascending, X=line)["Indices"]
    low.give(op, "ShuffleIdx", places, (), dtype=VarType.INT64)


def _open_line(op: Operator) -> None:
    out = op.block._var_recursive(op.output("Out")[0])
    start = op.block._var_recursive(op.input("Start")[0])
    out.shape, out.dtype = (-1,), start.dtype


def _open_numbers(op: Operator) -> None:
    out = op.block._var_recursive(op.output("Out")[0])
    out.shape, out.dtype = (-1,), dtype_of(op.attr("dtype"))


@hosts("linspace", infer=_open_numbers, dtype=int(VarType.FP32))
def _linspace(host: Host, op: Operator) -> None:
    """As many numbers as a value says, both ends included."""
    start, stop, count = (np.asarray(host.input(op, slot)).item() for slot in ("Start", "Stop", "Num"))
    if count < 1:
        raise BadProgram(f"operator 'linspace' (written at {op.where}): num is 1 or more, not {count}")
    host.give(op, "Out", np.linspace(start, stop, int(count)).astype(numpy_dtype(op.attr("dtype"))))


@hosts("range", infer=_open_line)
def _range(host: Host, op: Operator) -> None:
    """As many numbers as values say."""
    told = [np.asarray(host.input(op, slot)).reshape(-1) for slot in ("Start", "End", "Step")]
    start, end, step = (each[0].item() for each in told)
    host.give(op, "Out", np.arange(start, end, step).astype(told[0].dtype))
