"""Layers that make variables, copy them, or say what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, dtype_of, numpy_dtype
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant, Initializer
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.param_attr import ParamAttr
from paddle.fluid._listed import of_layers
from paddle.fluid.layers.appending import appended, several, size_of, sizes_of

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "assign",
    "cast",
    "concat",
    "create_global_var",
    "create_parameter",
    "create_tensor",
    "diag",
    "eye",
    "fill_constant",
    "fill_constant_batch_size_like",
    "has_inf",
    "has_nan",
    "isfinite",
    "linspace",
    "ones",
    "ones_like",
    "range",
    "reverse",
    "sums",
    "zeros",
    "zeros_like",
]


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Variable:
    """A variable that nothing has written yet."""
    helper = LayerHelper("create_tensor", name=name)
    return helper.create_variable(helper.name, dtype=dtype, persistable=persistable)


def create_parameter(
    shape: Sequence[int],
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Variable:
    """A parameter of one's own. With an ``attr`` that names none, ``name`` is that of a layer."""
    _check_sizes("create_parameter", shape)
    helper = LayerHelper("create_parameter", name=name)
    attr = ParamAttr(name=name) if attr is None else attr
    made: Variable = helper.create_parameter(attr, shape, dtype, is_bias, default_initializer)
    return made


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Variable:
    """A variable of the global block that begins as ``value`` everywhere."""
    _check_sizes("create_global_var", shape)
    helper = LayerHelper("global_var", name=name)
    made = helper.create_global_variable(persistable, name=name, dtype=dtype, shape=list(shape))
    helper.set_variable_initializer(made, Constant(value=float(value), force_cpu=force_cpu))
    return made


def _check_sizes(layer: str, shape: Any) -> None:
    whole = isinstance(shape, list | tuple) and all(isinstance(size, int | np.integer) for size in shape)
    if not whole:
        raise BadArgument(f"{layer}: shape is a list of whole numbers, not {shape!r:.60}")


def cast(x: Variable, dtype: Any) -> Variable:
    """The elements as another dtype."""
    attrs = {"in_dtype": int(x.dtype), "out_dtype": int(dtype_of(dtype))}
    return appended("cast", {"X": x}, attrs, dtype=dtype)


def concat(input: Sequence[Variable], axis: int | Variable = 0, name: str | None = None) -> Variable:
    """Variables one behind the other along an axis."""
    given = [input] if isinstance(input, Variable) else list(input)
    told, place = size_of(axis, "AxisTensor")
    return appended("concat", {"X": given, **told}, {"axis": place}, name=name)


def sums(input: Variable | Sequence[Variable], out: Variable | None = None) -> Variable:
    """The sum of variables of one shape."""
    return appended("sum", {"X": input}, into=out)


def assign(input: Any, output: Variable | None = None) -> Variable:
    """A copy of a variable, or of numbers, in ``output``, a new variable if None."""
    if isinstance(input, Variable):
        return appended("assign", {"X": input}, into=output)
    return _numbers(input, output)


def _numbers(given: Any, output: Variable | None = None, layer: str = "assign") -> Variable:
    """Numbers of the program's own; ``layer``: what a new variable of them is called after."""
    array = np.asarray(given)
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    kind, slots = dtype_of(array.dtype), {"f": "fp32_values", "b": "bool_values"}
    slot = slots.get(array.dtype.kind, "int64_values" if kind == VarType.INT64 else "int32_values")
    attrs = {"shape": list(array.shape) or [1], "dtype": int(kind), slot: array.reshape(-1).tolist()}
    return _made("assign_value", attrs, kind, output, layer=layer)


def _made(
    type: str,
    attrs: dict[str, Any],
    dtype: Any,
    output: Variable | None = None,
    layer: str = "",
) -> Variable:
    """What an operator that computes with nothing gives; ``layer``: what it is called after."""
    helper = LayerHelper(layer or type)
    made = output if output is not None else helper.create_variable_for_type_inference(dtype)
    helper.append_op(type, None, {"Out": [made]}, attrs)
    made.stop_gradient = True
    return made


def fill_constant(
    shape: Sequence[int],
    dtype: Any,
    value: float | Variable,
    force_cpu: bool = False,
    out: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """One number everywhere."""
    if not isinstance(value, Variable):
        helper = LayerHelper("fill_constant")
        made = helper.create_variable_for_type_inference(dtype) if out is None else out
        inputs, sizes = sizes_of(shape, whole="ShapeTensor", each="ShapeTensorList", helper=helper)
        attrs = {"shape": sizes, "dtype": int(dtype_of(dtype)), "value": float(value)}
        helper.append_op("fill_constant", inputs, {"Out": [made]}, attrs)
        made.stop_gradient = True
        return made
    ones = fill_constant(shape, dtype, 1.0)
    made = appended("elementwise_mul", {"X": ones, "Y": cast(value, dtype)}, {"axis": -1}, into=out)
    made.stop_gradient = True
    return made


def fill_constant_batch_size_like(
    input: Variable,
    shape: Sequence[int],
    dtype: Any,
    value: float,
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    force_cpu: bool = False,
) -> Variable:
    """One number everywhere, in as many rows as another variable has."""
    attrs = {
        "shape": [int(size) for size in shape],
        "dtype": int(dtype_of(dtype)),
        "value": float(value),
        "input_dim_idx": input_dim_idx,
        "output_dim_idx": output_dim_idx,
    }
    made = appended("fill_constant_batch_size_like", {"Input": input}, attrs, dtype=dtype)
    made.stop_gradient = True
    return made


def ones(shape: Sequence[int], dtype: Any, force_cpu: bool = False) -> Variable:
    """1 everywhere."""
    return fill_constant(shape, dtype, 1.0, force_cpu)


def zeros(shape: Sequence[int], dtype: Any, force_cpu: bool = False, name: str | None = None) -> Variable:
    """0 everywhere."""
    return fill_constant(shape, dtype, 0.0, force_cpu)


def ones_like(x: Variable, out: Variable | None = None) -> Variable:
    """1 wherever x is anything."""
    return appended("fill_any_like", {"X": x}, {"value": 1.0}, into=out, layer="ones_like")


def zeros_like(x: Variable, out: Variable | None = None) -> Variable:
    """0 wherever x is anything."""
    return appended("fill_zeros_like", {"X": x}, into=out, layer="zeros_like")


def argmin(x: Variable, axis: int = 0) -> Variable:
    """Where along an axis the least element stands."""
    return appended("arg_min", {"X": x}, {"axis": axis}, dtype="int64")


def argmax(x: Variable, axis: int = 0) -> Variable:
    """Where along an axis the greatest element stands."""
    return appended("arg_max", {"X": x}, {"axis": axis}, dtype="int64")


def argsort(
    input: Variable, axis: int = -1, descending: bool = False, name: str | None = None
) -> tuple[Variable, Variable]:
    """The elements sorted along an axis, and where they stood."""
    attrs = {"axis": axis, "descending": descending}
    out, indices = several("argsort", {"X": input}, {"Out": None, "Indices": "int64"}, attrs, name)
    return out, indices


def reverse(x: Variable, axis: int | Sequence[int]) -> Variable:
    """The elements from the last to the first, along one axis or several."""
    return appended("reverse", {"X": x}, {"axis": [axis] if isinstance(axis, int) else list(axis)})


def has_inf(x: Variable) -> Variable:
    """Whether any element is infinite."""
    return appended("isinf", {"X": x}, dtype="bool")


def has_nan(x: Variable) -> Variable:
    """Whether any element is no number."""
    return appended("isnan", {"X": x}, dtype="bool")


def isfinite(x: Variable) -> Variable:
    """Whether all elements are finite."""
    return appended("isfinite", {"X": x}, dtype="bool")


def range(
    start: float | Variable,
    end: float | Variable,
    step: float | Variable,
    dtype: Any,
    name: str | None = None,
) -> Variable:
    """Numbers from ``start`` to below ``end``. Where any of the three is computed, a run decides how many."""
    given = {"Start": start, "End": end, "Step": step}
    if not any(isinstance(each, Variable) for each in given.values()):
        return _in_dtype(np.arange(start, end, step), dtype, "range")
    inputs = {
        slot: each if isinstance(each, Variable) else fill_constant([1], dtype, each)
        for slot, each in given.items()
    }
    return appended("range", inputs, dtype=dtype)


def linspace(
    start: float | Variable,
    stop: float | Variable,
    num: int | Variable,
    dtype: Any = "float32",
    name: str | None = None,
) -> Variable:
    """So many numbers, evenly apart, both ends included."""
    if any(isinstance(each, Variable) for each in (start, stop, num)):
        told = {"Start": (start, dtype), "Stop": (stop, dtype), "Num": (num, "int32")}
        inputs = {
            slot: given if isinstance(given, Variable) else fill_constant([1], kind, given)
            for slot, (given, kind) in told.items()
        }
        made = appended("linspace", inputs, {"dtype": int(dtype_of(dtype))}, dtype=dtype, name=name)
        made.stop_gradient = True
        return made
    return _in_dtype(np.linspace(start, stop, num), dtype, "linspace")


def _in_dtype(values: np.ndarray, dtype: Any, layer: str) -> Variable:
    """Numbers of a dtype, which an operator that holds them may not have."""
    made = _numbers(values.astype(numpy_dtype(dtype)), layer=layer)
    if dtype_of(dtype) != VarType.FP64:
        return made
    made = cast(made, dtype)
    made.stop_gradient = True
    return made


def diag(diagonal: Any) -> Variable:
    """A matrix with these numbers on its diagonal, and 0 elsewhere."""
    if not isinstance(diagonal, Variable):
        if np.ndim(diagonal) != 1:
            raise BadArgument(f"diag: diagonal is a Variable or an array of one axis, not {diagonal!r:.60}")
        return _numbers(np.diag(np.asarray(diagonal)), layer="diag")
    square = eye(int(diagonal.shape[0]), dtype=diagonal.dtype)
    return appended("elementwise_mul", {"X": square, "Y": diagonal}, {"axis": -1}, layer="diag")


def eye(
    num_rows: int,
    num_columns: int | None = None,
    batch_shape: Sequence[int] | None = None,
    dtype: Any = "float32",
) -> Variable:
    """1 on the diagonal and 0 elsewhere, again for each of a batch."""
    square = np.eye(num_rows, num_columns)
    whole = np.broadcast_to(square, (*(batch_shape or ()), *square.shape))
    return _in_dtype(np.ascontiguousarray(whole), dtype, "stack" if batch_shape else "eye")


__getattr__ = of_layers(__name__)
