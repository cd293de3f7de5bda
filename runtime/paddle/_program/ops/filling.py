"""Rows of operators that fill a variable with numbers from nowhere, as startup programs do."""

from __future__ import annotations

import numpy as np

from paddle._engine.initial import generator_for
from paddle._program.dtypes import VarType, dtype_of, numpy_dtype
from paddle._program.host import Host
from paddle._program.lowering import Lowering
from paddle._program.op_rows import hosts, lowers
from paddle._program.operator import Operator


@lowers("fill_constant", shape=(1,), value=0.0, dtype=int(VarType.FP32))
def _fill_constant(low: Lowering, op: Operator) -> None:
    kind = dtype_of(op.attr("dtype"))
    attrs = {"shape": tuple(op.attr("shape")), "value": op.attr("value"), "dtype": _of_engine(kind)}
    low.give(op, "Out", low.op("fill_constant", attrs), (), dtype=kind)


@hosts("fill_constant")
def _fill_constant_here(host: Host, op: Operator) -> None:
    dtype = numpy_dtype(op.attr("dtype"))
    host.give(op, "Out", np.full(tuple(op.attr("shape")), op.attr("value"), dtype))


def _described(op: Operator) -> None:
    for name in op.output_arg_names:
        described = op.block._var_recursive(name)
        described.shape = op.attr("shape")
        described.dtype = op.attr("dtype")


@hosts("uniform_random", infer=_described, shape=(1,), min=-1.0, max=1.0, seed=0, dtype=int(VarType.FP32))
def _uniform_random(host: Host, op: Operator) -> None:
    low, high, generator = op.attr("min"), op.attr("max"), drawing(host, op)
    value = generator.random(tuple(op.attr("shape")), np.float32)
    value *= np.float32(high - low)
    value += np.float32(low)
    host.give(op, "Out", value.astype(numpy_dtype(op.attr("dtype")), copy=False))


@hosts("gaussian_random", infer=_described, shape=(1,), mean=0.0, std=1.0, seed=0, dtype=int(VarType.FP32))
def _gaussian_random(host: Host, op: Operator) -> None:
    value = drawing(host, op).standard_normal(tuple(op.attr("shape")), np.float32)
    value *= np.float32(op.attr("std"))
    value += np.float32(op.attr("mean"))
    host.give(op, "Out", value.astype(numpy_dtype(op.attr("dtype")), copy=False))


def drawing(host: Host, op: Operator) -> np.random.Generator:
    """What an operator draws from: its own seed or the run's, and its output's name; what does not outlive a
    run is drawn anew in each."""
    name = op.output("Out")[0]
    described = host.block._find_var_recursive(name)
    seed = int(op.attr("seed")) or host.seed
    if described is not None and described.persistable:
        return generator_for(seed, name)
    return generator_for(seed, f"{name}@{host.step}")


def _of_engine(kind: VarType) -> str:
    return "float32" if kind in (VarType.FP16, VarType.FP32, VarType.FP64) else "int64"
