"""Sizes that a program computes: shapes given as variables, followed back to what they are sizes of.

The engine's arrays have sizes that follow from those of others, never from values. So a variable that says a
size is followed to the ``shape`` operator that it came from. It must never run anything.

Guarantee: a size is a number, or an axis of a variable of the program; what is neither is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from paddle._program.block import Block
from paddle._program.errors import BadProgram
from paddle._program.operator import Operator

_SAME = {"squeeze2", "squeeze", "unsqueeze2", "unsqueeze", "cast", "assign", "reshape2", "reshape"}


@dataclass(frozen=True, slots=True)
class SizeOf:
    """The size of axis ``axis`` of the variable ``name``."""

    name: str
    axis: int


def sizes_given(op: Operator) -> list[int | SizeOf]:
    """What an operator is told in ShapeTensorList, or in its attribute ``shape``."""
    names = op.inputs.get("ShapeTensorList") or []
    if not names:
        return [int(size) for size in op.attr("shape")]
    return [_followed(op, name, 0) for name in names]


def shaped_like(op: Operator, slot: str = "ShapeTensor") -> str | None:
    """The variable whose whole shape is given in a slot; None where the slot is empty."""
    for name in op.inputs.get(slot) or []:
        at: str | None = name
        while at is not None:
            writer = _writer(op.block, at, op)
            if writer is not None and writer.type == "shape":
                return writer.inputs["Input"][0]
            at = writer.input_arg_names[0] if writer is not None and writer.type in _SAME else None
        raise _unknown(op, name)
    return None


def _followed(op: Operator, name: str, at: int) -> int | SizeOf:
    """Element ``at`` of the variable ``name``."""
    writer = _writer(op.block, name, op)
    if writer is None:
        raise _unknown(op, name)
    match writer.type:
        case "fill_constant":
            return int(writer.attr("value"))
        case "assign_value":
            values = writer.attrs.get("int32_values") or writer.attrs.get("int64_values") or []
            if at < len(values):
                return int(values[at])
        case "slice" | "strided_slice" if list(writer.attr("axes")) == [0]:
            return _followed(op, writer.inputs["Input"][0], at + int(writer.attr("starts")[0]))
        case "shape":
            described = op.block._var_recursive(source := writer.inputs["Input"][0])
            axis = at % len(described.shape)
            size = described.shape[axis]
            return SizeOf(source, axis) if size is None or size < 0 else int(size)
        case same if same in _SAME:
            return _followed(op, (writer.inputs.get("X") or writer.input_arg_names)[0], at)
    raise _unknown(op, name)


def _writer(block: Block, name: str, before: Operator) -> Operator | None:
    """The last operator that writes a name ahead of another one."""
    found = None
    for op in block.ops:
        if op is before:
            break
        if name in op.output_arg_names:
            found = op
    return found


def _unknown(op: Operator, name: str) -> BadProgram:
    return BadProgram(
        f"operator {op.type!r}, written at {op.where}, is told a size by {name!r}, which is no size of "
        "another variable (paddle.shape(x)[i]), nor a number: sizes must not follow from values here"
    )
