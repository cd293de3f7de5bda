"""Appending one operator: what most layers are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper


def appended(
    type: str,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    *,
    out: str = "Out",
    dtype: Any = None,
    name: str | None = None,
    act: str | None = None,
    into: Variable | None = None,
    layer: str = "",
    helper: LayerHelper | None = None,
) -> Variable:
    """What one operator gives in slot ``out``, in the dtype of its first input unless another is said.
    ``into``: the variable that is to hold it, a new one if None. ``layer``: what that is called after, unless
    it is the operator's type; ``helper``: of a layer that has given names already."""
    helper = helper or LayerHelper(layer or type, name=name, act=act)
    made = into
    if made is None:
        kind = first_of(type, inputs).dtype if dtype is None else dtype
        made = helper.create_variable_for_type_inference(kind)
    helper.append_op(type, inputs=inputs, outputs={out: [made]}, attrs=attrs)
    return helper.append_activation(made)


def several(
    type: str,
    inputs: Mapping[str, Any],
    outs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
    layer: str = "",
) -> list[Variable]:
    """What one operator gives in several slots; a dtype that is None is that of the first input."""
    helper = LayerHelper(layer or type, name=name)
    first = first_of(type, inputs).dtype
    made = {
        slot: helper.create_variable_for_type_inference(first if dtype is None else dtype)
        for slot, dtype in outs.items()
    }
    helper.append_op(type, inputs=inputs, outputs={slot: [each] for slot, each in made.items()}, attrs=attrs)
    return list(made.values())


def first_of(type: str, inputs: Mapping[str, Any]) -> Variable:
    """The first input; all must be variables."""
    given = [
        each
        for slot in inputs.values()
        for each in (slot if isinstance(slot, list | tuple) else [slot])
        if each is not None
    ]
    for each in given:
        if not isinstance(each, Variable):
            raise BadArgument(
                f"{type} takes Variables of the program, not {each!r}: fluid.layers.assign makes one"
            )
    if not given:
        raise BadArgument(f"{type} takes one Variable of the program or more, and was given none")
    return given[0]


def sizes_of(
    given: Any, *, whole: str, each: str, helper: LayerHelper | None = None
) -> tuple[dict[str, Any], list[int]]:
    """Sizes, or places, as an operator is told them: what goes into its slots, and its attribute. ``whole``:
    the slot of a variable that says all; ``each``: that of one variable for each, where some are computed,
    of which ``helper`` names the others."""
    if isinstance(given, Variable):
        return {whole: given}, []
    if not any(isinstance(size, Variable) for size in given):
        return {}, [int(size) for size in given]
    attrs = {"shape": [1], "dtype": int(VarType.INT32)}
    told = [
        size if isinstance(size, Variable) else appended_number({**attrs, "value": float(size)}, helper)
        for size in given
    ]
    return {each: told}, [-1 if isinstance(size, Variable) else int(size) for size in given]


def size_of(given: Any, slot: str) -> tuple[dict[str, Any], int]:
    """One number, as an operator is told it: what goes into a slot, or its attribute."""
    return ({slot: given}, -1) if isinstance(given, Variable) else ({}, int(given))


def appended_number(attrs: Mapping[str, Any], helper: LayerHelper | None = None) -> Variable:
    """A number of the program's own."""
    helper = helper or LayerHelper("fill_constant")
    made = helper.create_variable_for_type_inference("int32")
    helper.append_op("fill_constant", outputs={"Out": [made]}, attrs=attrs)
    made.stop_gradient = True
    return made
