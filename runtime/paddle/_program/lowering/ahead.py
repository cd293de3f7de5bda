"""What goes ahead of all else in a block: learning rates, and ids of tables, as segments of their own.

An exchange is told the learning rate of a step before the step runs, and whoever keeps a table of rows must
know which ones a step reads before it begins: ids are fed, or they are computed ahead. It must never know a
schedule, nor a table's rows.

Guarantee: operators keep their order among those that go ahead, and among those that stay; a rate whose
inputs a gradient or an update gives stays, as does one of what a gradient goes back through, and so do ids
that depend on what outlives a run, at which a block without gradients is cut. What is written to a rate
behind the updates is for the next step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.lowering.updates import is_update, moved_at

_IDS = ("Ids", "Label", "PathTable")
"""Input slots of operators that look up rows by them."""


def rates_ahead(ops: Sequence[Operator]) -> tuple[list[Operator], list[Operator]]:
    """The operators that the learning rates of a block's updates depend on, and all others."""
    wanted: set[str] = set()
    first: set[int] = set()
    for at in range(len(ops) - 1, -1, -1):
        op = ops[at]
        if is_update(op):
            wanted |= {name for update in moved_at(op) for name in update.input("LearningRate")}
        elif op.role != BACKWARD and not wanted.isdisjoint(op.output_arg_names):
            first.add(at)
            wanted.update(op.input_arg_names)
    if all(ops[at].attrs.get("own_learning_rate") for at in first):
        return [], list(ops)  # they only say by what a parameter multiplies the rate, which its keeper does
    read = {name for at in first for name in ops[at].input_arg_names}
    given = {name for at in first for name in ops[at].output_arg_names}
    for op in ops:
        if op.role != BACKWARD:
            continue
        if not (given.isdisjoint(op.input_arg_names) and read.isdisjoint(op.output_arg_names)):
            return [], list(ops)  # of the loss, through which a gradient goes back, or of gradients
    return [ops[at] for at in sorted(first)], [op for at, op in enumerate(ops) if at not in first]


def ids_ahead(ops: Sequence[Operator], tables: Collection[str]) -> tuple[list[Operator], list[Operator]]:
    """Operators in order, parted: those that compute ids of ``tables``, and the others."""
    computed = {name for op in ops for name in op.output_arg_names}
    wanted = {name for op in ops for name in _ids(op, tables)} & computed
    if not wanted:
        return [], list(ops)
    chosen: set[int] = set()
    for op in reversed(ops):
        if op.role == BACKWARD or is_update(op) or wanted.isdisjoint(op.output_arg_names):
            continue
        if any(_outlives(op, name) for name in op.input_arg_names):
            return [], list(ops)  # the engine says what is wrong with such ids
        chosen.add(id(op))
        wanted.update(op.input_arg_names)
    return [op for op in ops if id(op) in chosen], [op for op in ops if id(op) not in chosen]


def cut_at_ids(ops: Sequence[Operator], tables: Collection[str]) -> list[list[Operator]]:
    """The operators of a block that takes no gradient, in runs: one ends in front of a look-up whose ids it
    computes of what outlives a run, such as the words that a decoder goes on with."""
    found: list[list[Operator]] = [[]]
    follows: set[str] = set()  # what depends on that, in the run
    for op in ops:
        if not follows.isdisjoint(_ids(op, tables)):
            found.append([])
            follows.clear()
        found[-1].append(op)
        if any(name in follows or _outlives(op, name) for name in op.input_arg_names):
            follows.update(op.output_arg_names)
    return found


def _ids(op: Operator, tables: Collection[str]) -> list[str]:
    if op.role == BACKWARD or not set(op.inputs.get("W", ())) & set(tables):
        return []
    return [name for slot in _IDS for name in op.inputs.get(slot, ())]


def _outlives(op: Operator, name: str) -> bool:
    described = op.block._find_var_recursive(name)
    return described is not None and described.persistable
