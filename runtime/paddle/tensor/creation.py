"""Tensors that are made of nothing but numbers: ``paddle.full`` and its family.

It must never compute: each function appends an operator to the default program. Guarantee: floating point
numbers have the default dtype (``paddle.set_default_dtype``) unless another one is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, dtype_of, is_float
from paddle._program.description.variable import Variable
from paddle.tensor._append import append, append_many, sizes_of

__all__ = [
    *(
        "arange",
        "assign",
        "create_global_var",
        "create_parameter",
        "diag",
        "empty",
        "empty_like",
        "eye",
        "full",
    ),
    *("full_like", "linspace", "logspace", "meshgrid", "ones", "ones_like", "to_tensor", "tril", "triu"),
    *("zeros", "zeros_like"),
]


def _kind(dtype: Any) -> Any:
    from paddle._program.description.dtypes import dtype_of as of
    from paddle.framework import get_default_dtype

    return of(dtype or get_default_dtype())


def full(shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Every element is ``fill_value``."""
    kind = _kind(dtype)
    if not isinstance(shape, (list, tuple)):
        inputs: dict[str, Any] = {"ShapeTensor": shape}
        sizes: list[int] = []
    else:
        sizes, variables = sizes_of(shape)
        inputs = {}
        if variables:
            from paddle.tensor.manipulation import _all_variables

            inputs = {"ShapeTensorList": _all_variables(shape)}
    if isinstance(fill_value, Variable):
        from paddle.tensor.manipulation import cast, expand

        return expand(cast(fill_value, kind), shape, name)
    value = float(fill_value)
    attrs = {"shape": sizes, "value": value, "str_value": str(fill_value), "dtype": kind}
    return append("fill_constant", inputs, attrs, dtype=kind, stop_gradient=True, name=name)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Every element is 0."""
    return full(shape, 0, dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Every element is 1."""
    return full(shape, 1, dtype, name)


def empty(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Nobody is to read it before it is written; it is 0 here."""
    return full(shape, 0, dtype, name)


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Every element is ``fill_value``, in the shape of ``x``."""
    kind = x.dtype if dtype is None else _kind(dtype)
    attrs = {"value": float(fill_value), "dtype": kind}
    return append("fill_any_like", {"X": x}, attrs, dtype=kind, stop_gradient=True, name=name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Every element is 0, in the shape of ``x``."""
    return full_like(x, 0, dtype, name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Every element is 1, in the shape of ``x``."""
    return full_like(x, 1, dtype, name)


def empty_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Nobody is to read it before it is written; it is 0 here."""
    return full_like(x, 0, dtype, name)


def assign(x: Any, output: Any = None) -> Any:
    """A copy of a tensor, or of numbers that are known now, in ``output`` if there is one: of one number that
    is in no array, a line of one."""
    from paddle._program.description.variable import Variable

    if isinstance(x, Variable):
        return append("assign", {"X": x}, into=output)
    values = np.asarray([x] if isinstance(x, (bool, int, float)) else x)
    return _assigned(values, output)


def _assigned(values: np.ndarray, output: Any = None) -> Any:
    if values.dtype == np.float64:
        values = values.astype(np.float32)
    kind = _kind(values.dtype)
    slot = {"f": "fp32_values", "b": "bool_values"}.get(values.dtype.kind)
    slot = slot or ("int64_values" if values.dtype == np.int64 else "int32_values")
    attrs = {"shape": list(values.shape), "dtype": kind, slot: values.reshape(-1).tolist()}
    return append("assign_value", {}, attrs, dtype=kind, into=output, stop_gradient=True)


def _known(values: np.ndarray, dtype: Any) -> Any:
    """A tensor of numbers that follow from the arguments alone."""
    from paddle.tensor.manipulation import cast

    found = _assigned(values)
    return found if dtype is None or found.dtype == _kind(dtype) else cast(found, dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Any:
    """From ``start`` up to ``end`` in steps; from 0 up to ``start`` without ``end``. Each is a number, or a
    Variable of one."""
    first, last = (0, start) if end is None else (start, end)
    if any(isinstance(number, Variable) for number in (first, last, step)):
        is_whole = all(_is_whole(number) for number in (first, last, step))
        kind = dtype_of("int64") if dtype is None and is_whole else _kind(dtype)
        told = {"Start": (first, kind), "End": (last, kind), "Step": (step, kind)}
        return append("range", _numbers(told), {}, dtype=kind, stop_gradient=True, name=name)
    whole = all(isinstance(number, int) for number in (first, last, step))
    values = np.arange(first, last, step, np.int64 if whole else np.float32)
    return _known(values, dtype)


def _is_whole(number: Any) -> bool:
    if isinstance(number, Variable):
        return not is_float(number.dtype) and number.dtype != VarType.BOOL
    return not isinstance(number, float)


def _numbers(told: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Slots with a Variable of one number each, of the dtype that is told with it."""
    from paddle.tensor.manipulation import cast

    return {
        slot: full([1], given, kind)
        if not isinstance(given, Variable)
        else given
        if given.dtype == kind
        else cast(given, kind)
        for slot, (given, kind) in told.items()
    }


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Any:
    """``num`` numbers at equal distances from ``start`` to ``stop``. Each may be a Variable of one number."""
    if any(isinstance(each, Variable) for each in (start, stop, num)):
        kind = _kind(dtype)
        inputs = _numbers({"Start": (start, kind), "Stop": (stop, kind), "Num": (num, dtype_of("int32"))})
        return append("linspace", inputs, {"dtype": int(kind)}, dtype=kind, stop_gradient=True, name=name)
    return _known(np.linspace(start, stop, num, dtype=np.float32), dtype)


def logspace(
    start: float, stop: float, num: int, base: float = 10.0, dtype: Any = None, name: str | None = None
) -> Any:
    """``num`` powers of ``base``, from ``start`` to ``stop`` at equal distances."""
    return _known(np.logspace(start, stop, num, base=base, dtype=np.float32), dtype)


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Any:
    """A tensor of numbers that are known now, or a copy of one. ``place`` is taken, and changes nothing."""
    from paddle.tensor.manipulation import cast

    if isinstance(data, Variable):
        found = assign(data)
    else:
        values = np.asarray(data)
        found = _assigned(values)
        if dtype is None and isinstance(data, (np.ndarray, np.generic)):  # numbers of Python's have none
            dtype = values.dtype
    if dtype is not None and found.dtype != _kind(dtype):
        found = cast(found, dtype)
    found.stop_gradient = stop_gradient
    return found


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """1 on the diagonal, 0 elsewhere."""
    return _known(np.eye(num_rows, num_columns, dtype=np.float32), dtype)


def diag(x: Any, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Any:
    """A matrix with this diagonal, ``padding_value`` elsewhere, or the diagonal of a matrix."""
    if offset or padding_value or any(size < 0 for size in x.shape):
        from paddle.tensor import diagonals

        return (
            diagonals.padded(x, offset, padding_value)
            if len(x.shape) == 1
            else diagonals.diagonal(x, offset, name=name)
        )
    return append("diag_v2", {"X": x}, {"offset": offset, "padding_value": padding_value}, name=name)


def tril(x: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """A matrix with 0 above a diagonal."""
    return append("tril_triu", {"X": x}, {"diagonal": diagonal, "lower": True}, name=name)


def triu(x: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """A matrix with 0 below a diagonal."""
    return append("tril_triu", {"X": x}, {"diagonal": diagonal, "lower": False}, name=name)


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """Of vectors, one tensor each that goes along its own axis and is repeated along the others."""
    vectors = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    return append_many("meshgrid", {"X": vectors}, {}, count=len(vectors))


def create_parameter(
    shape: Any,
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A parameter of the default program, initialized by the startup program. With an ``attr`` that names
    none, ``name`` is a layer's, as in the original."""
    from paddle import _mode
    from paddle._program.writing.layer_helper import LayerHelper
    from paddle._program.writing.param_attr import ParamAttr

    _mode.need_static("paddle.create_parameter")
    return LayerHelper("create_parameter", name=name).create_parameter(
        attr=ParamAttr(name=name) if attr is None else attr,
        shape=[int(size) for size in shape],
        dtype=dtype,
        is_bias=is_bias,
        default_initializer=default_initializer,
    )


def create_global_var(
    shape: Any,
    value: float,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Any:
    """A variable of the default program that the startup program fills with ``value``."""
    from paddle import _mode
    from paddle._program.writing.initializer import Constant
    from paddle._program.writing.layer_helper import LayerHelper

    _mode.need_static("paddle.static.create_global_var")
    helper = LayerHelper("global_var")
    made = helper.create_global_variable(
        dtype=dtype,
        shape=list(shape),
        persistable=persistable,
        name=name,
        stop_gradient=True,
    )
    helper.set_variable_initializer(made, initializer=Constant(value=float(value)))
    return made
