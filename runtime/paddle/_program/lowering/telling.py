"""Telling: which sizes of a block follow from values, and when a run knows them.

What the shapes of other variables say is followed where it is lowered (ops/sizes.py). All else must be told
as numbers, by the run, before a piece is lowered for it: what a feed says, and what operators compute of
values. Operators that compute sizes go ahead where they can, and stand where they were besides; where they
cannot, a piece ends in front of whom they tell.

It must never run anything. Guarantee: what a name is told as is what its last writer ahead of the reader
gave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from paddle._program.description.block import Block, blocks_of
from paddle._program.description.dtypes import is_float
from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.lowering.op_rows import is_lowered
from paddle._program.lowering.states import IN_PLACE
from paddle._program.lowering.updates import UPDATES, is_update
from paddle._program.lowering.value import may_be_sizes

SLOTS = frozenset(
    {
        *("ShapeTensor", "ShapeTensorList", "Shape", "expand_shapes_tensor", "SizeTensor", "OutSize"),
        *("StartsTensor", "StartsTensorList", "EndsTensor", "EndsTensorList", "StridesTensor"),
        *("StridesTensorList", "OffsetsTensor", "Offsets", "SectionsTensorList", "MaxLenTensor"),
        *("expand_times_tensor", "ExpandTimes", "repeat_times_tensor", "RepeatTimes", "depth_tensor", "K"),
        *("AxisTensor", "AxesTensor", "AxesTensorList", "Paddings"),
    }
)
"""Input slots that say sizes, or places to cut at."""

LONGEST = "@LONGEST"
"""What an operator is told that pads sequences to the longest: how long that is, by the names of offsets."""

SAME = frozenset({"squeeze2", "squeeze", "unsqueeze2", "unsqueeze", "cast", "assign", "reshape2", "reshape"})
_NUMBERS = {"add", "sub", "mul", "div", "floordiv", "mod", "max", "min"}
_FOLLOWED = SAME | {"elementwise_" + name for name in _NUMBERS}
_FOLLOWED |= {"concat", "stack", "scale", "reduce_prod", "reduce_sum", "sum", "slice", "strided_slice"}
_CONSTANT = frozenset({"fill_constant", "assign_value", "shape"})
GIVEN = frozenset({"feed", "read"})
"""Operators whose values a run has before it begins: what they write comes from outside."""


@dataclass(frozen=True, slots=True)
class Told:
    """A size that a run tells: the variable's ``name``, and the ``key`` that it is told by, which says of
    which writer; that of a name from outside is the name."""

    name: str
    key: str


def writer_of(block: Block, name: str, before: Operator) -> tuple[int, Operator] | None:
    """The last operator that writes a name ahead of another one, and its place."""
    found = None
    for place, op in enumerate(block.ops):
        if op is before:
            break
        if op.type not in GIVEN and name in op.output_arg_names:
            found = place, op
    return found


def key_of(block: Block, name: str, place: int) -> str:
    """What a name is told by, as the operator at that place has written it."""
    return f"{name}@SIZE{block.idx}.{place}"


def told(op: Operator) -> list[Told]:
    """What an operator must be told as numbers, unless something else is known."""
    if op.type == "sequence_pad" and op.attrs["padded_length"] < 0:
        return [Told(LONGEST, LONGEST)]
    if op.role == BACKWARD or op.type in UPDATES or is_update(op) or SLOTS.isdisjoint(op.inputs):
        return []
    names = dict.fromkeys(name for slot, given in op.inputs.items() if slot in SLOTS for name in given)
    return [each for name in names for each in _told(op, name)]


def tells_by_value(each: Told) -> bool:
    """Whether operators compute it."""
    return each.name != each.key


def _told(op: Operator, name: str) -> list[Told]:
    leaves = list(_leaves(op, name))
    if None not in leaves:
        return [Told(leaf, leaf) for leaf in dict.fromkeys(leaves) if leaf is not None]
    found = writer_of(op.block, name, op)
    return [Told(name, name if found is None else key_of(op.block, name, found[0]))]


def _leaves(op: Operator, name: str) -> Iterator[str | None]:
    """The names from outside that a size is followed to; None where it cannot be followed."""
    found, described = writer_of(op.block, name, op), op.block._find_var_recursive(name)
    if described is None or is_float(described.dtype):
        yield None
        return
    if found is None:
        yield name if may_be_sizes(described.shape) else None
        return
    writer = found[1]
    slots = SLOTS.isdisjoint(writer.inputs)
    if writer.type in _CONSTANT and slots:
        return
    if writer.type in _FOLLOWED and slots:
        for each in writer.input_arg_names:
            yield from _leaves(writer, each)
        return
    yield None


def sizes_ahead(ops: Sequence[Operator]) -> list[Operator]:
    """The operators that compute sizes and may be run ahead of all others."""
    wanted: dict[int, Operator] = {}
    for op in ops:
        for each in told(op):
            for writer in (_closure(op, each.name) or ()) if tells_by_value(each) else ():
                wanted[id(writer)] = writer
    return [op for op in ops if id(op) in wanted]


def _closure(op: Operator, name: str) -> list[Operator] | None:
    """What computes a size, None unless each gives the same where it goes ahead. What a loop writes behind
    who reads it, such as a counter, is there from the turn before, and nobody goes ahead for it."""
    block, found = op.block, dict[int, Operator]()
    places = {id(each): place for place, each in enumerate(block.ops)}
    ops = [each for each in block.ops if each.type not in GIVEN]
    open_, seen = [(name, places[id(op)])], set[tuple[str, int]]()
    while open_:
        at, reader = open_.pop()
        if (at, reader) in seen:
            continue
        seen.add((at, reader))
        described = block._find_var_recursive(at)
        writers = [each for each in ops if at in each.output_arg_names]
        if described is None or described.persistable or len(writers) > 1:
            return None
        if not writers or places[id(writers[0])] >= reader:
            continue
        writer = places[id(writers[0])]
        if not _is_pure(writers[0]) or any(at in each.input_arg_names for each in block.ops[: writer + 1]):
            return None
        found[id(writers[0])] = writers[0]
        open_ += [(n, writer) for n in writers[0].input_arg_names]
    return list(found.values())


def _is_pure(op: Operator) -> bool:
    gives = op.role != BACKWARD and not is_update(op) and op.type not in IN_PLACE and "seed" not in op.attrs
    return gives and is_lowered(op) and not list(blocks_of(op))


def ends_ahead_of(op: Operator, written: Collection[str], ahead: Collection[int]) -> bool:
    """Whether a piece, whose operators have written these names, ends in front of an operator. ``ahead``: the
    ids of operators that were run ahead."""
    for each in told(op):
        found = writer_of(op.block, each.name, op) if tells_by_value(each) else None
        if found is not None and each.name in written and id(found[1]) not in ahead:
            return True
    return False
