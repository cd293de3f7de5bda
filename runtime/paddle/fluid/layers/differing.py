"""Layers of values that differ, and that are held between bounds one of which may be left out."""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import VarType, dtype_of
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.appending import appended, several

__all__ = ["clamp", "unique", "unique_with_counts"]


def clamp(
    input: Variable,
    min: float | Variable | None = None,
    max: float | Variable | None = None,
    output: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """Each element, held between bounds, numbers or Variables of one, of which one may be None; ``output``:
    what is to hold it."""
    if min is None and max is None:
        raise BadArgument("clamp takes min, max or both")
    given = {side: value for side, value in (("min", min), ("max", max)) if value is not None}
    computed = {side.title(): value for side, value in given.items() if isinstance(value, Variable)}
    bounds = {side: float(value) for side, value in given.items() if not isinstance(value, Variable)}
    return appended("clip", {"X": input, **computed}, bounds, name=name, into=output, layer="clamp")


def unique(x: Variable, dtype: Any = "int32") -> tuple[Variable, Variable]:
    """The values of a vector in the order in which they come first, and, in ``dtype``, which each is."""
    out, index = _met("unique", x, dtype, ("Index",))
    return out, index


def unique_with_counts(x: Variable, dtype: Any = "int32") -> tuple[Variable, Variable, Variable]:
    """As ``unique``, and how often each is there."""
    out, index, count = _met("unique_with_counts", x, dtype, ("Index", "Count"))
    return out, index, count


def _met(type: str, x: Variable, dtype: Any, slots: tuple[str, ...]) -> list[Variable]:
    kind = dtype_of(dtype)
    if kind not in (VarType.INT32, VarType.INT64):
        raise BadArgument(f"{type}: dtype is int32 or int64, not {dtype!r}")
    made = several(type, {"X": x}, {"Out": None, **dict.fromkeys(slots, kind)}, {"dtype": int(kind)})
    for each in made:
        each.stop_gradient = True
    return made
