"""What variables are, as far as a program says it while it is written: shapes, dtypes, levels of sequences.

It must never run anything. Guarantee: what an operator writes is described once the operator is appended, or
the operator is refused there.
"""

from __future__ import annotations

from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.description.variable import Variable
from paddle._program.errors import BadProgram, NoSequences
from paddle._program.lowering.floats import refuse_whole_numbers
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import has_row, row
from paddle._program.lowering.updates import UPDATES

_STAND_INS = (5040, 10080)
"""Sizes that can be parted in many ways, for those that nobody knows yet."""


def infer(op: Operator) -> None:
    """Say of the variables that an operator writes what they are. Of what reads a tensor whose shape a feed
    will say, nothing is known before."""
    if op.role == BACKWARD or op.type in UPDATES or not has_row(op.type):
        return
    if any(_waits_for_a_feed(op.block._find_var_recursive(name)) for name in op.input_arg_names):
        return
    refuse_whole_numbers(op)
    found = row(op.type)
    if found.infer is not None:
        found.infer(op)
    elif found.lower is not None:
        try:
            Lowering(op.block, infers=True).lower_one(op)
        except NoSequences as refusal:
            if not _becomes_sequences(op.block._var_recursive(refusal.name)):
                raise
            infer(op)
        except BadProgram as error:
            _infer_in_two_sizes(op, error)


def _waits_for_a_feed(described: Variable | None) -> bool:
    if described is None or described.has_shape:
        return False
    is_tensor = described.type == VarType.LOD_TENSOR and not described.persistable
    return is_tensor or described.type == VarType.SELECTED_ROWS


def _infer_in_two_sizes(op: Operator, refusal: BadProgram) -> None:
    """Of an operator that asks for sizes which a feed decides: lower it as if these were known, once so and
    once so. What differs then is what a feed decides."""
    described = {name: op.block._find_var_recursive(name) for name in op.input_arg_names}
    open_ = {name: each.shape for name, each in described.items() if each is not None and -1 in each.shape}
    if not open_:
        raise refusal
    found = []
    for number in _STAND_INS:
        sizes = {name: tuple(number if n == -1 else n for n in shape) for name, shape in open_.items()}
        try:
            Lowering(op.block, infers=True, sizes=sizes).lower_one(op)
        except BadProgram:
            raise refusal from None
        found.append({name: op.block._var_recursive(name).shape for name in op.output_arg_names})
    for name, shape in found[0].items():
        pairs = zip(shape, found[1][name], strict=True)
        op.block._var_recursive(name).shape = tuple(a if a == b else -1 for a, b in pairs)


def _becomes_sequences(described: Variable) -> bool:
    """Whether it is made of sequences from now on: data whose ``layers.data`` says no level, as programs of
    0.11 do, is, where an operator over sequences reads it, or what was made of it row by row."""
    if described.is_data:
        described.lod_level = max(described.lod_level, 1)
        return True
    maker = described.op
    if maker is None:
        return False
    reads = (maker.block._find_var_recursive(name) for name in maker.input_arg_names)
    if not any(_becomes_sequences(each) for each in reads if each is not None):
        return False
    infer(maker)
    return described.lod_level > 0
