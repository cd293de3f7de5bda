"""Layouts of images: channels behind the samples, as the engine computes them, or last.

Where they are last an image is turned around an operator. Guarantee: a layout that has no meaning is refused
by name.
"""

from __future__ import annotations

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering

_FIRST = frozenset({"NCHW", "AnyLayout", "NCL", "NC", "NCDHW"})
_LAST = frozenset({"NHWC", "NLC", "NDHWC"})


def is_last(op: Operator, attr: str = "data_format") -> bool:
    """Whether channels are the last axis."""
    layout = op.attr(attr)
    if layout not in _FIRST | _LAST:
        raise BadProgram(f"operator {op.type!r}: {attr} is 'NCHW' or 'NHWC', not {layout!r}")
    return layout in _LAST


def channels_first(
    low: Lowering, op: Operator, x: EngineVariable, attr: str = "data_format"
) -> EngineVariable:
    """An image with its channels behind the samples."""
    rank = len(x.shape)
    if not is_last(op, attr) or rank < 3:
        return x
    return low.op("transpose", {"axis": (0, rank - 1, *range(1, rank - 1))}, X=x)


def as_told(low: Lowering, op: Operator, x: EngineVariable, attr: str = "data_format") -> EngineVariable:
    """The same in the layout that an operator is told."""
    rank = len(x.shape)
    if not is_last(op, attr) or rank < 3:
        return x
    return low.op("transpose", {"axis": (0, *range(2, rank), 1)}, X=x)
