"""Sizes that a program computes: followed back to what they are sizes of.

The engine's arrays have sizes that follow from those of others, never from values. So a variable that says a
size is followed to the ``shape`` operator that it came from, through what was computed of it.

1. A size is a number where it is known: of what is declared, or of a run, where the program is lowered for
   exactly the sizes of one.
2. Until then it is the size of an axis of a variable, or, where something was computed of it, open.
3. What follows from values a run is told as numbers (lowering/telling.py), and the program is lowered for
   these.

It must never run anything. Guarantee: what it says is a size is the same in each run of the same shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.telling import SAME, SLOTS, key_of, writer_of
from paddle._program.lowering.value import may_be_sizes


@dataclass(frozen=True, slots=True)
class SizeOf:
    """The size of axis ``axis`` of the variable ``name``."""

    name: str
    axis: int


@dataclass(frozen=True, slots=True)
class Open:
    """A size that only a run knows."""


Size: TypeAlias = int | SizeOf | Open

_OF_TWO: dict[str, Callable[[int, int], int]] = {
    "elementwise_add": lambda a, b: a + b,
    "elementwise_sub": lambda a, b: a - b,
    "elementwise_mul": lambda a, b: a * b,
    "elementwise_div": lambda a, b: int(a / b),
    "elementwise_floordiv": lambda a, b: a // b,
    "elementwise_mod": lambda a, b: a % b,
    "elementwise_max": max,
    "elementwise_min": min,
}


def sizes_given(
    low: Lowering,
    op: Operator,
    attr: str = "shape",
    each: str = "ShapeTensorList",
    whole: str = "ShapeTensor",
) -> list[Size]:
    """What an operator is told: in a slot that has a variable for each, in one that has a variable for all,
    or else in an attribute."""
    names = op.inputs.get(each) or []
    if names:
        return [_followed(low, op, name, 0) for name in names]
    names = op.inputs.get(whole) or []
    if not names:
        return [int(size) for size in op.attr(attr)]
    count = prod(op.block._var_recursive(names[0]).shape)
    return [_followed(low, op, names[0], at) for at in range(count)]


def known_sizes(
    low: Lowering, op: Operator, attr: str, each: str = "", whole: str = ""
) -> tuple[int, ...] | None:
    """The same as numbers; None where some are open, while an operator is only being written."""
    found = sizes_given(low, op, attr, each, whole)
    numbers = tuple(size if isinstance(size, int) else open_size(low, op) for size in found)
    return numbers if all(isinstance(size, int) for size in found) else None


def known_size(low: Lowering, op: Operator, attr: str, slot: str) -> int | None:
    """One number, of a slot or else of an attribute; None where it is open."""
    if not low.has(op, slot):
        return int(op.attr(attr))
    found = known_sizes(low, op, "", slot)
    return None if found is None else found[0]


def anything(low: Lowering, shape: tuple[int, ...], dtype: str) -> EngineVariable:
    """What has a shape, of which sizes may be open: all that is asked of an operator being written."""
    return low.op("fill_constant", {"shape": shape, "value": 0, "dtype": dtype})


def open_size(low: Lowering, op: Operator) -> int:
    """-1, while an operator is only being written; afterwards a run has to say more."""
    if low.infers:
        return -1
    raise BadProgram(f"operator {op.type!r}, written at {op.where}, has sizes that only a run knows")


def in_shape(
    low: Lowering, x: EngineVariable, shape: tuple[int, ...], like: EngineVariable
) -> EngineVariable:
    """The same elements in a shape; -1 is the size that ``like`` has there."""
    if shape == x.shape and -1 not in shape:
        return x
    if shape.count(-1) < 2:
        return low.op("reshape", {"shape": shape}, X=x)
    sizes = tuple((0, axis) if size == -1 else size for axis, size in enumerate(shape))
    return low.op("reshape_by", {"sizes": sizes}, X=x, Like=[like])


def in_sizes(low: Lowering, op: Operator, x: EngineVariable, sizes: Sequence[Size]) -> EngineVariable:
    """The same elements in sizes of which some are those of other variables."""
    likes = list(dict.fromkeys(size.name for size in sizes if isinstance(size, SizeOf)))
    told = tuple(
        (likes.index(size.name), size.axis) if isinstance(size, SizeOf) else size
        for size in (open_size(low, op) if isinstance(size, Open) else size for size in sizes)
    )
    if not likes:
        return low.op("reshape", {"shape": told}, X=x)
    return low.op("reshape_by", {"sizes": told}, X=x, Like=[low.value(name).variable for name in likes])


def shaped_like(op: Operator, slot: str = "ShapeTensor") -> str | None:
    """The variable of which all sizes are given in a slot; None where nothing or something else is."""
    for name in op.inputs.get(slot) or []:
        found = writer_of(op.block, name, op)
        while found is not None and found[1].type in SAME:
            found = writer_of(op.block, found[1].input_arg_names[0], found[1])
        if found is not None and found[1].type == "shape":
            return found[1].inputs["Input"][0]
    return None


def _followed(low: Lowering, op: Operator, name: str, at: int) -> Size:
    """Element ``at`` of the variable ``name``."""
    found = writer_of(op.block, name, op)
    key = name if found is None else key_of(op.block, name, found[0])
    if at < len(low.told.get(key, ())):
        return int(low.told[key][at])
    if found is None or not SLOTS.isdisjoint(found[1].inputs):
        return Open()
    writer = found[1]
    if writer.type in _OF_TWO:
        first, second = (_part(low, writer, slot, at) for slot in ("X", "Y"))
        if isinstance(first, int) and isinstance(second, int):
            return _OF_TWO[writer.type](first, second)
        return Open()
    match writer.type:
        case "fill_constant":
            return int(writer.attr("value"))
        case "assign_value":
            values = writer.attrs.get("int32_values") or writer.attrs.get("int64_values") or []
            if at < len(values):
                return int(values[at])
        case "slice" | "strided_slice" if list(writer.attr("axes")) == [0]:
            source = writer.inputs["Input"][0]
            start = int(writer.attr("starts")[0])
            count = op.block._var_recursive(source).shape[0]
            step = int((writer.attrs.get("strides") or [1])[0])
            first = start if start >= 0 else start + count
            first = first if step > 0 else min(first, count - 1)
            return _followed(low, writer, source, first + at * step)
        case "shape":
            return _size_of(low, op, writer.inputs["Input"][0], at)
        case "concat" | "stack":
            return _of_parts(low, writer, writer.inputs["X"], at)
        case "scale":
            part, told = _part(low, writer, "X", at), writer.attrs
            return int(part * told["scale"] + told["bias"]) if isinstance(part, int) else Open()
        case "reduce_prod" | "reduce_sum" | "sum":
            return _over_all(low, writer, at)
        case same if same in SAME:
            return _followed(low, writer, (writer.inputs.get("X") or writer.input_arg_names)[0], at)
    return Open()


def _size_of(low: Lowering, op: Operator, source: str, at: int) -> Size:
    shape = op.block._var_recursive(source).shape if low.infers else low.value(source).variable.shape
    axis = at % len(shape)
    return SizeOf(source, axis) if shape[axis] < 0 else int(shape[axis])


def _part(low: Lowering, writer: Operator, slot: str, at: int) -> Size:
    """Element ``at`` of an operand, of which one stands for all."""
    name = writer.inputs[slot][0]
    return _followed(low, writer, name, at if prod(writer.block._var_recursive(name).shape) > 1 else 0)


def _of_parts(low: Lowering, op: Operator, names: Sequence[str], at: int) -> Size:
    for name in names:
        count = prod(op.block._var_recursive(name).shape)
        if at < count:
            return _followed(low, op, name, at)
        at -= count
    return Open()


def _over_all(low: Lowering, writer: Operator, at: int) -> Size:
    names = writer.inputs["X"]
    if writer.type == "sum":
        parts = [_followed(low, writer, name, at) for name in names]
    else:
        shape = writer.block._var_recursive(names[0]).shape
        if not may_be_sizes(shape):
            return Open()
        parts = [_followed(low, writer, names[0], each) for each in range(shape[0])]
    numbers = [each for each in parts if isinstance(each, int)]
    if len(numbers) != len(parts):
        return Open()
    return prod(numbers) if writer.type == "reduce_prod" else sum(numbers)
