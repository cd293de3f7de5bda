"""Rows of operators that fill a variable with numbers from nowhere, as startup programs do."""

from __future__ import annotations

import numpy as np

from paddle._engine.initial import generator_for
from paddle._program.description.dtypes import VarType, dtype_of, engine_dtype, numpy_dtype
from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowers
from paddle._program.ops.sizes import SizeOf, open_size, shaped_like, sizes_given
from paddle._program.running.host import Host


@lowers("fill_constant", shape=(1,), value=0.0, dtype=int(VarType.FP32))
def _fill_constant(low: Lowering, op: Operator) -> None:
    kind = dtype_of(op.attr("dtype"))
    value = bool(op.attr("value")) if kind == VarType.BOOL else op.attr("value")
    attrs = {"value": float(value), "dtype": engine_dtype(kind)}
    whole = shaped_like(op)
    sizes = [] if whole is not None else sizes_given(low, op)
    dynamic = [place for place, size in enumerate(sizes) if not isinstance(size, int)]
    if whole is not None:
        out = low.op("fill_any_like", {"value": value}, X=low.value(whole).variable)
        out = out if out.dtype == attrs["dtype"] else low.op("cast", {"dtype": attrs["dtype"]}, X=out)
    elif not dynamic:
        out = low.op("fill_constant", {**attrs, "shape": tuple(sizes)})
    elif len(dynamic) == 1 and isinstance(size := sizes[dynamic[0]], SizeOf):
        places = {"input_dim_idx": size.axis, "output_dim_idx": dynamic[0]}
        shape = tuple(each if isinstance(each, int) else -1 for each in sizes)
        like = low.value(size.name).variable
        out = low.op("fill_constant_batch_size_like", {**attrs, **places, "shape": shape}, X=like)
    else:
        shape = tuple(each if isinstance(each, int) else open_size(low, op) for each in sizes)
        out = low.op("fill_constant", {**attrs, "shape": shape})
    low.give(op, "Out", out, (), dtype=kind)


@hosts("fill_constant")
def _fill_constant_here(host: Host, op: Operator) -> None:
    host.give(op, "Out", np.full(_shape_told(host, op), op.attr("value"), numpy_dtype(op.attr("dtype"))))


def _shape_told(host: Host, op: Operator) -> tuple[int, ...]:
    if op.inputs.get("ShapeTensor"):
        return tuple(np.asarray(host.input(op, "ShapeTensor")).reshape(-1).tolist())
    if op.inputs.get("ShapeTensorList"):
        return tuple(int(np.asarray(size).reshape(-1)[0]) for size in host.inputs(op, "ShapeTensorList"))
    return tuple(op.attr("shape"))


def _described(op: Operator) -> None:
    shape, told = op.attr("shape"), op.inputs.get("ShapeTensor")
    if told:
        shape = (-1,) * max(op.block._var_recursive(told[0]).shape[0], 0)
    for name in op.output_arg_names:
        described = op.block._var_recursive(name)
        described.shape = shape
        described.dtype = op.attr("dtype")


@hosts("uniform_random", infer=_described, shape=(1,), min=-1.0, max=1.0, seed=0, dtype=int(VarType.FP32))
def _uniform_random(host: Host, op: Operator) -> None:
    low, high, generator = op.attr("min"), op.attr("max"), drawing(host, op)
    value = generator.random(_shape_told(host, op), np.float32)
    value *= np.float32(high - low)
    value += np.float32(low)
    host.give(op, "Out", value.astype(numpy_dtype(op.attr("dtype")), copy=False))


@hosts("gaussian_random", infer=_described, shape=(1,), mean=0.0, std=1.0, seed=0, dtype=int(VarType.FP32))
def _gaussian_random(host: Host, op: Operator) -> None:
    value = drawing(host, op).standard_normal(_shape_told(host, op), np.float32)
    value *= np.float32(op.attr("std"))
    value += np.float32(op.attr("mean"))
    host.give(op, "Out", value.astype(numpy_dtype(op.attr("dtype")), copy=False))


def drawing(host: Host, op: Operator) -> np.random.Generator:
    """What an operator draws from: its own seed; or the program's, and where it stands there, so that two
    programs that are written alike begin alike, whatever their variables are called. What does not outlive a
    run is drawn anew in each, and so is everything where nobody has said a seed."""
    own, place = int(op.attrs.get("seed", 0)), f"{op.block.idx}:{op.block.place_of(op)}"
    described = host.block._find_var_recursive(op.output("Out")[0])
    outlives = described is not None and described.persistable
    if own and outlives:
        return generator_for(own, "")
    if outlives and host.block.program.random_seed:
        return generator_for(host.seed, place)
    return generator_for(own or host.seed, f"{place}@{host.step}")


@hosts("orthogonal_random", infer=_described, shape=(1, 1), gain=1.0, seed=0, dtype=int(VarType.FP32))
def _orthogonal(host: Host, op: Operator) -> None:
    shape = tuple(op.attr("shape"))
    rows, columns = shape[0], int(np.prod(shape[1:]))
    drawn = drawing(host, op).standard_normal((max(rows, columns), min(rows, columns)))
    square, triangle = np.linalg.qr(drawn)
    square = square * np.sign(np.diagonal(triangle))
    value = (square if rows >= columns else square.T).reshape(shape) * op.attr("gain")
    host.give(op, "Out", value.astype(numpy_dtype(op.attr("dtype"))))
