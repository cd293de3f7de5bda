"""Layers that make arrays of numbers that are told, or drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, dtype_of, numpy_dtype
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended, sizes_of
from paddle.fluid.layers.tensor import assign, fill_constant

__all__ = ["arange", "full", "full_like", "randint", "randn", "randperm"]


def arange(
    start: float | Variable,
    end: float | Variable,
    step: float | Variable = 1,
    dtype: Any = None,
    name: str | None = None,
) -> Variable:
    """Numbers from ``start`` to below ``end``, of float32 if no ``dtype`` is told."""
    kind = dtype_of("float32" if dtype is None else dtype)
    given: dict[str, Any] = {"Start": start, "End": end, "Step": step}
    is_computed = any(isinstance(each, Variable) for each in given.values())
    if is_computed or kind == VarType.FP64:  # which no operator of told numbers has
        inputs = {
            slot: each if isinstance(each, Variable) else fill_constant([1], kind, each)
            for slot, each in given.items()
        }
        out = appended("range", inputs, dtype=kind, name=name)
    else:
        out = LayerHelper("range", name=name).create_variable_for_type_inference(kind)
        assign(np.arange(start, end, step, dtype=numpy_dtype(kind)), out)  # type: ignore[arg-type]
    out.stop_gradient = True
    return out


def full(
    shape: Sequence[int] | Variable,
    fill_value: Any,
    out: Variable | None = None,
    dtype: Any = None,
    device: str | None = None,
    stop_gradient: bool = True,
    name: str | None = None,
) -> Variable:
    """One number everywhere, of float32 if no ``dtype`` is told; in ``out``, if told."""
    _check_device("full", device)
    kind = "float32" if dtype is None else dtype
    helper = LayerHelper("full", name=name)
    made = helper.create_variable_for_type_inference(kind) if out is None else out
    filled = fill_constant(shape, kind, fill_value, out=made)
    filled.stop_gradient = stop_gradient
    return filled


def full_like(
    input: Variable,
    fill_value: float,
    out: Variable | None = None,
    dtype: Any = None,
    device: str | None = None,
    stop_gradient: bool = True,
    name: str | None = None,
) -> Variable:
    """One number wherever ``input`` is anything, of its dtype if none is told; in ``out``, if told."""
    _check_device("full_like", device)
    kind = input.dtype if dtype is None else dtype_of(dtype)
    helper = LayerHelper("full_like", name=name)
    made = helper.create_variable_for_type_inference(kind) if out is None else out
    attrs = {"value": fill_value, "dtype": int(kind)}
    helper.append_op("fill_any_like", {"X": [input]}, {"Out": [made]}, attrs)
    made.stop_gradient = stop_gradient
    return made


def _check_device(layer: str, device: str | None) -> None:
    if device not in (None, "", "cpu", "gpu"):
        raise BadArgument(
            f"{layer}: device is 'cpu' or 'gpu' or None, not {device!r}; all is computed on the CPU"
        )


def randint(
    low: int,
    high: int | None = None,
    shape: Sequence[int] | Variable | None = None,
    out: Variable | None = None,
    dtype: Any = None,
    device: str | None = None,
    stop_gradient: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Variable:
    """Whole numbers from ``low`` to below ``high``, others in every step; from 0 to below ``low`` without
    ``high``. One of them, of int64, if no ``shape`` and ``dtype`` are told."""
    _check_device("randint", device)
    first, last = (0, low) if high is None else (low, high)
    if first >= last:
        raise BadArgument(f"randint: low is less than high, and they are {first} and {last}")
    inputs, sizes = sizes_of([1] if shape is None else shape, whole="ShapeTensor", each="ShapeTensorList")
    attrs = {"low": first, "high": last, "seed": seed, "shape": sizes}
    return _drawn("randint", inputs, attrs, out, dtype or "int64", ("int32", "int64"), stop_gradient, name)


def _drawn(
    type: str,
    inputs: dict[str, Any],
    attrs: dict[str, Any],
    out: Variable | None,
    dtype: Any,
    dtypes: tuple[str, ...],
    stop_gradient: bool,
    name: str | None,
) -> Variable:
    layer = "randn" if type == "gaussian_random" else type
    kind = dtype_of(dtype)
    if str(numpy_dtype(kind)) not in dtypes or (out is not None and out.dtype != kind):
        told = "" if out is None else f" and out, which is of {out.dtype.name.lower()}, of the same"
        raise BadArgument(f"{layer}: dtype is {' or '.join(dtypes)}{told}, not {dtype!r}")
    is_named = name is not None and type == "randint"  # which calls what it gives by the name alone
    helper = LayerHelper(layer, name=None if is_named else name)
    made = out
    if made is None and is_named:
        made = helper.create_variable(name=name, dtype=kind)
    elif made is None:
        made = helper.create_variable_for_type_inference(kind)
    helper.append_op(type, inputs, {"Out": [made]}, {**attrs, "dtype": int(kind)})
    made.stop_gradient = stop_gradient
    return made


def randn(
    shape: Sequence[int],
    out: Variable | None = None,
    dtype: Any = None,
    device: str | None = None,
    stop_gradient: bool = True,
    name: str | None = None,
) -> Variable:
    """Numbers of the standard normal distribution, others in every step."""
    _check_device("randn", device)
    if not shape:
        raise BadArgument("randn: shape holds one size or more")
    attrs = {"shape": [int(size) for size in shape], "mean": 0.0, "std": 1.0, "seed": 0}
    kinds = ("float32", "float64")
    return _drawn("gaussian_random", {}, attrs, out, dtype or "float32", kinds, stop_gradient, name)


def randperm(
    n: int,
    out: Variable | None = None,
    dtype: Any = "int64",
    device: str | None = None,
    stop_gradient: bool = True,
    seed: int = 0,
) -> Variable:
    """The whole numbers below ``n``, in an order that is another in every step."""
    _check_device("randperm", device)
    if n < 1:
        raise BadArgument(f"randperm: n is 1 or more, not {n}")
    attrs = {"n": n, "seed": seed}
    return _drawn("randperm", {}, attrs, out, dtype, ("int64", "int32"), stop_gradient, None)
