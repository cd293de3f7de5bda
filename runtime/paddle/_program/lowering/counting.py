"""What counts: operators that change what outlives a run, parted from those that compute, for threads.

Threads that run one program compute at the same time, but a count of one thread must not be lost in
another's: what reads a count, changes it or follows from it is done by one thread after another. It must
never know a thread.

Guarantee: what is parted gives what the operators give in the order in which they were written, or they are
not parted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paddle._program.description.block import blocks_of, reads_of
from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.lowering.ahead import rates_ahead
from paddle._program.lowering.updates import in_turn, is_update, moved_at

_BLENDED = frozenset({"batch_norm", "sync_batch_norm", "inplace_abn"})
"""Operators that only blend what they see into averages of many batches: threads move these as they move
parameters, a blend of one may be lost in another's."""


def counted_apart(ops: Sequence[Operator]) -> tuple[list[Operator], list[Operator]] | None:
    """Operators, parted: those that compute, and those that count behind them; None where these cannot go
    behind, as gradients or updates need what they give."""
    counted = {name for op in ops if not _learns(op) for name in _kept(op)}
    if not counted:
        return list(ops), []
    behind: list[int] = []
    follows = set(counted)
    for at, op in enumerate(ops):
        if follows.isdisjoint(reads_of(op)) and counted.isdisjoint(_writes(op)):
            continue
        if _learns(op):
            return None
        behind.append(at)
        follows.update(_writes(op))
    chosen = set(behind)
    rewritten: set[str] = set()  # by what is computed later than the operator at hand
    for at in range(len(ops) - 1, -1, -1):
        if at not in chosen:
            rewritten.update(_writes(ops[at]))
        elif not rewritten.isdisjoint([*reads_of(ops[at]), *_writes(ops[at])]):
            return None
    return [op for at, op in enumerate(ops) if at not in chosen], [ops[at] for at in behind]


def can_count_apart(ops: Sequence[Operator]) -> bool:
    """Whether a block's operators are run by several threads at the same time, and no count is lost."""
    return counted_apart(rates_ahead(in_turn(ops))[1]) is not None


def _learns(op: Operator) -> bool:
    return op.role == BACKWARD or is_update(op)


def _kept(op: Operator) -> Iterator[str]:
    """What an operator changes that outlives a run, so that each change counts."""
    if op.type in _BLENDED:
        return
    for name in _writes(op):
        described = op.block._find_var_recursive(name)
        if described is not None and described.persistable:
            yield name


def _writes(op: Operator) -> list[str]:
    names = op.output_arg_names
    names += [name for update in moved_at(op) for name in update.input("Param")]
    for block in blocks_of(op):
        names += [name for each in block.ops for name in _writes(each) if name not in block.vars]
    return names
