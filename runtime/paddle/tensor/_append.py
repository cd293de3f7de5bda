"""One operator at the end of the default program's current block: what every function of the 2.x face does.

It must never know what an operator computes. Guarantee: nothing is appended before
``paddle.enable_static()`` but to what is a program's already: a variable that fluid wrote, as in 2.0 alpha.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np

from paddle import _mode
from paddle._program.description.dtypes import is_float
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper

_CALLED = {
    "arg_max": "argmax",
    "arg_min": "argmin",
    "expand_v2": "expand",
    "flatten_contiguous_range": "flatten",
    "gaussian_random": "gaussian",
    "hard_sigmoid": "hardsigmoid",
    "lookup_table_v2": "embedding",
    **{f"reduce_{name}": name for name in ("all", "any", "max", "mean", "min", "prod", "sum")},
    **{f"{name}2": name for name in ("squeeze", "transpose")},
    "uniform_random": "uniform",
}
"""What results of operators are called after, where it is not the type: programs fetch by these names."""


def append(
    type: str,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    *,
    outputs: Sequence[str] = ("Out",),
    dtype: Any = None,
    into: Any = None,
    stop_gradient: bool = False,
    name: str | None = None,
) -> Any:
    """Append an operator; returns the variable of its first output slot.

    ``inputs``: slot -> variable or variables; those that are None are left out. ``dtype``: the output's, that
    of the first input if None. ``into``: the variable to write, a new one if None.
    """
    return append_all(
        type, inputs, attrs, outputs=outputs, dtype=dtype, into=into, stop_gradient=stop_gradient, name=name
    )[0]


def append_all(
    type: str,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    *,
    outputs: Sequence[str] = ("Out",),
    dtypes: Mapping[str, Any] | None = None,
    dtype: Any = None,
    into: Any = None,
    stop_gradient: bool = False,
    name: str | None = None,
) -> list[Any]:
    """As ``append``; returns the variables of all output slots. ``dtypes``: of slots that have their own."""
    given = {slot: _listed(value) for slot, value in inputs.items() if value is not None}
    _need_program(type, given, into)
    helper = LayerHelper(_CALLED.get(type, type), name=name)
    found = dtype if dtype is not None else _dtype_of(given)
    made = [
        helper.create_variable_for_type_inference(
            (dtypes or {}).get(slot, found), stop_gradient=stop_gradient
        )
        for slot in outputs
    ]
    if into is not None:
        made[0] = into
    helper.append_op(
        type=type,
        inputs=given,
        outputs={slot: [variable] for slot, variable in zip(outputs, made, strict=True)},
        attrs=dict(attrs or {}),
    )
    return made


def append_many(
    type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any], *, count: int, slot: str = "Out"
) -> list[Any]:
    """Append an operator that gives ``count`` variables in one slot."""
    given = {name: _listed(value) for name, value in inputs.items() if value is not None}
    _need_program(type, given)
    helper = LayerHelper(type)
    made = [helper.create_variable_for_type_inference(_dtype_of(given)) for _ in range(count)]
    helper.append_op(type=type, inputs=given, outputs={slot: made}, attrs=dict(attrs))
    return made


def variable_of(value: Any, like: Any) -> Any:
    """``value`` itself, or a constant of ``like``'s dtype where it is a number."""
    if isinstance(value, (Number, np.generic)):
        shape = [1] if like.shape or not like.has_shape else []  # what has no axes has none beside a number
        attrs = {"shape": shape, "value": float(value), "dtype": like.dtype}  # type: ignore[arg-type]
        helper = LayerHelper("fill_constant")
        made = helper.create_variable_for_type_inference(like.dtype, stop_gradient=True)
        helper.append_op(type="fill_constant", inputs={}, outputs={"Out": [made]}, attrs=attrs)
        return made
    return value


def floats_alone(function: str, **given: Any) -> None:
    """Refuse whole numbers where ``function`` is made of operators that would take them, and cut what is
    behind the point. Raises BadArgument, a TypeError, with the argument and its dtype."""
    for name, x in given.items():
        if isinstance(x, Variable) and not is_float(x.dtype):
            raise BadArgument(
                f"paddle.{function} computes with floats, and {name}, {x.name!r}, is of "
                f"{x.dtype.name.lower()}: cast it to float32"
            )


def axes_of(axis: Any) -> list[int]:
    """One axis or several as a list."""
    if isinstance(axis, (list, tuple)):
        return [int(one) for one in axis]
    return [int(axis)]


def axis_of(x: Any, axis: int, function: str) -> int:
    """An axis of ``x``, counted from 0 on. Raises ValueError where it has none such."""
    rank = len(x.shape)
    if not -rank <= axis < rank:
        raise ValueError(f"{axis} is not an axis of {x.name!r}, {list(x.shape)}, of paddle.{function}")
    return axis % rank


def sizes_of(shape: Any) -> tuple[list[int], list[Any]]:
    """A shape with variables in it: the numbers, -1 for each variable, and the variables."""
    sizes, variables = [], []
    for size in shape:
        if isinstance(size, Variable):
            sizes.append(-1)
            variables.append(size)
        else:
            sizes.append(int(size))
    return sizes, variables


def _need_program(type: str, given: Mapping[str, Sequence[Any]], into: Any = None) -> None:
    """Raises where an operator is of no variable of a program, and nobody asked for programs."""
    if not any(isinstance(one, Variable) for one in (into, *chain.from_iterable(given.values()))):
        _mode.need_static(f"the operator {type}")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _dtype_of(inputs: Mapping[str, Sequence[Any]]) -> Any:
    for variables in inputs.values():
        for variable in variables:
            return getattr(variable, "dtype", "float32")
    return "float32"
