"""Fixed: the arrays of a plan that somebody else has given: feeds, parameters, gradients that leave.

It must never know where the other arrays lie. Guarantee: they are the same ones on every run of a plan, and
gradients that leave the same ones for all plans of an executor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form, Operator, Program
from paddle._engine.rows import OPEN
from paddle._engine.scope import Scope

LOOKUPS = ("lookup_table", "lookup_beside", "lookup_pool")
"""Operators that read those rows of their table that they are told."""


def fixed_of(
    program: Program, operators: Sequence[Operator], forms: Mapping[str, Form], scope: Scope
) -> dict[str, np.ndarray]:
    """The arrays that somebody else has given: feed buffers and parameters."""
    fixed: dict[str, np.ndarray] = {}
    made = {name for operator in operators for name in operator.writes()}
    for name in forms.keys() - made:
        if program.variable(name).is_data:
            fixed[name] = np.empty(forms[name].shape, forms[name].dtype)
        elif is_open(forms[name]):
            sizes = [prod(forms[ids].shape) for ids in open_lookups(operators, name)]
            fixed[name] = np.empty((sum(sizes), *forms[name].shape[1:]), np.float32)
        else:
            fixed[name] = _parameter(scope, name, forms[name])
    return fixed


def is_open(form: Form) -> bool:
    """Whether it is an open table's: no other size is unknown when a plan is made."""
    return form.rows is None and form.shape[:1] == (OPEN,)


def open_lookups(operators: Sequence[Operator], table: str) -> Iterator[str]:
    """The ids with which an open table is looked up."""
    for operator in operators:
        if operator.role == "exchange" or table not in operator.reads():
            continue
        if operator.type not in LOOKUPS or not operator.attrs["is_sparse"]:
            raise ShapeError(
                f"{table!r} is a table without a height: nobody has all of it, so it can be looked up in "
                f"(lookup_table with is_sparse), and nothing else, such as {operator}"
            )
        yield from operator.inputs["Ids"]


def leaving(
    operators: Sequence[Operator],
    forms: Mapping[str, Form],
    gradients: dict[str, np.ndarray],
    room: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """The arrays of dense gradients that leave. ``gradients``: those handed out before, by parameter, as what
    leaves may have one name in two programs and be of two parameters."""
    exchanges = [each.inputs for each in operators if each.type == "exchange"]
    pairs = {n: p for each in exchanges for p, n in zip(each["Param"], each["Grad"], strict=True)}
    leaving = {name: parameter for name, parameter in pairs.items() if forms[name].rows is None}
    for name, parameter in leaving.items():
        if parameter not in gradients:
            array = room.get(parameter)
            gradients[parameter] = np.empty(forms[name].shape, forms[name].dtype) if array is None else array
    return {name: gradients[parameter] for name, parameter in leaving.items()}


def _parameter(scope: Scope, name: str, form: Form) -> np.ndarray:
    array = scope.get(name)
    if array.shape != form.shape or array.dtype != form.dtype:
        raise ShapeError(
            f"parameter {name!r} is {form.dtype}{list(form.shape)} in the program, "
            f"{array.dtype}{list(array.shape)} in the scope"
        )
    return array
