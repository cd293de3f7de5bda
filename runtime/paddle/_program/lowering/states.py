"""States: what comes from outside and is read in a run before it is written: a counter that outlives runs, or
data that are written over.

What is computed for a second time, for the gradients of what comes behind a host operator, has to see a state
as it was the first time: it is noted when it is first read. It must never know a run.

Guarantee: a block without states, and one that computes nothing twice, notes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from paddle._program.description.block import Block, blocks_of, reads_of
from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.lowering.op_rows import is_lowered
from paddle._program.lowering.updates import is_update

IN_PLACE = frozenset({"batch_norm", "sync_batch_norm", "inplace_abn", "auc"})
"""Operators that change what they keep where it lies; when they are computed again they change nothing."""


def states_of(block: Block) -> frozenset[str]:
    """The states that operators of a block change ahead of its last gradients: what is changed behind these,
    such as a parameter that is clipped, is as it was while anything is computed again."""
    read: set[str] = set()
    written: set[str] = set()
    found: set[str] = set()
    for op in _ahead_of_gradients(block):
        read.update(name for name in reads_of(op) if name not in written)
        written.update(writes_of(op))
        found |= read & written
    return frozenset(name for name in found if _outlives(block, name))


def written_over(block: Block) -> frozenset[str]:
    """What operators that are lowered read as it was fed, or as one of the host made it, and what is written
    over ahead of the last gradients, such as by a loop that begins with it. No arrays of tensors."""
    read: set[str] = set()
    made: set[str] = set()
    found: set[str] = set()
    for op in _ahead_of_gradients(block):
        by_engine = is_lowered(op)
        if by_engine:
            read.update(name for name in reads_of(op) if name not in made)
        written = set(writes_of(op))
        found |= read & written
        (made.update if by_engine else made.difference_update)(written)
    return frozenset(name for name in found if _is_tensor(block, name))


def _ahead_of_gradients(block: Block) -> list[Operator]:
    last = max((place for place, op in enumerate(block.ops) if op.role == BACKWARD), default=-1)
    leaves = (op.role == BACKWARD or is_update(op) or op.type in IN_PLACE for op in block.ops[: last + 1])
    return [op for op, is_left in zip(block.ops, leaves, strict=False) if not is_left]


def first_reads(ops: Sequence[Operator], states: Collection[str]) -> tuple[str, ...]:
    """The states that operators read before they write them themselves, in order."""
    written: set[str] = set()
    found: dict[str, None] = {}
    for op in ops:
        if op.role != BACKWARD and not is_update(op):
            found.update(dict.fromkeys(n for n in reads_of(op) if n in states and n not in written))
            written.update(writes_of(op))
    return tuple(found)


def noted(name: str, place: int) -> str:
    """The name under which a run notes a state, as the operator at that place of the block found it."""
    return f"{name}@NOTED{place}"


def writes_of(op: Operator) -> list[str]:
    """The names that an operator writes, also within its blocks."""
    names = list(op.output_arg_names)
    for block in blocks_of(op):
        names += [name for each in block.ops for name in writes_of(each) if name not in block.vars]
    return names


def _outlives(block: Block, name: str) -> bool:
    described = block._find_var_recursive(name)
    return described is not None and described.persistable


def _is_tensor(block: Block, name: str) -> bool:
    described = block._find_var_recursive(name)
    return described is not None and described.has_shape
