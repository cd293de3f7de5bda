"""Sequences as rows of operators see them: which they are, and rows as the matrix that the engine wants.

It must never know an operator. Guarantee: where there are no sequences, the error says whose, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import NoSequences
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.value import Value


def sequences(low: Lowering, op: Operator, slot: str) -> Value:
    """What is in a slot that takes sequences only."""
    value = low.input(op, slot)
    if not value.runs:
        name = op.input(slot)[0]
        raise NoSequences(
            f"operator {op.type!r} works on sequences, and {name!r} in slot {slot!r} has none (lod_level 0): "
            "declare its data with lod_level=1 and feed LoDTensors, or use layers.lod_reset",
            name,
        )
    return value


def matrix(low: Lowering, variable: EngineVariable) -> EngineVariable:
    """The same elements with one row for each of the first size."""
    if len(variable.shape) == 2:
        return variable
    return low.op("reshape", {"shape": (-1, prod(variable.shape[1:]))}, X=variable)


def shaped(low: Lowering, variable: EngineVariable, like: EngineVariable) -> EngineVariable:
    """Rows in the form of the rows of ``like``."""
    if len(like.shape) == 2:
        return variable
    if -1 not in like.shape[1:]:
        return low.op("reshape", {"shape": (-1, *like.shape[1:])}, X=variable)
    sizes = (-1, *((0, at) if size == -1 else size for at, size in enumerate(like.shape[1:], 1)))
    return low.op("reshape_by", {"sizes": sizes}, X=variable, Like=[like])


def picked(low: Lowering, source: EngineVariable, rows: EngineVariable) -> EngineVariable:
    """The rows of these numbers."""
    found = low.op("lookup_table", W=matrix(low, source), Ids=rows)
    return shaped(low, found, source)


def unpadded(
    low: Lowering, padded: EngineVariable, lengths: EngineVariable
) -> tuple[EngineVariable, EngineVariable]:
    """The rows of sequences that were padded to one length, and their offsets."""
    ends = low.builder.ops("sequence_ends", X=lengths)
    rows = low.op("sequence_unpad", X=padded, Offsets=ends["Out"], Rows=ends["Rows"])
    return rows, ends["Out"]


def constant(low: Lowering, values: Sequence[int]) -> EngineVariable:
    """Integers that stand in the program."""
    attrs = {"values": tuple(int(each) for each in values), "shape": (len(values),), "dtype": "int64"}
    return low.op("assign_value", attrs)
