"""Rates ahead: an exchange is told the learning rate of a step before the step runs, so what computes it runs
first, as a segment of its own.

It must never know a schedule. Guarantee: operators keep their order among those that go ahead, and among
those that stay; one whose inputs a gradient or an update gives stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._program.operator import BACKWARD, Operator
from paddle._program.updates import is_update, moved_at


def ahead(ops: Sequence[Operator]) -> tuple[list[Operator], list[Operator]]:
    """The operators that the learning rates of a block's updates depend on, and all others."""
    updates = [update for op in ops if is_update(op) for update in moved_at(op)]
    wanted = {name for update in updates for name in update.input("LearningRate")}
    if not wanted:
        return [], list(ops)
    first: set[int] = set()
    for at in range(len(ops) - 1, -1, -1):
        op = ops[at]
        given = not wanted.isdisjoint(op.output_arg_names)
        if given and op.role != BACKWARD and not is_update(op):
            first.add(at)
            wanted.update(op.input_arg_names)
    if all(ops[at].attrs.get("own_learning_rate") for at in first):
        return [], list(ops)  # they only say by what a parameter multiplies the rate, which its keeper does
    return [ops[at] for at in sorted(first)], [op for at, op in enumerate(ops) if at not in first]
