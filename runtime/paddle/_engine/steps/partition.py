"""A partition: which operators of a step have to be run moment by moment.

Those do which a memory depends on and which depend on a memory. What depends on none can be computed before
them, and what no memory depends on behind them, if the operator computes rows, or sequences, each by
itself: then it does not matter whether those of one moment are computed at once, or those of all.

It must never know an operator but by its kind. Guarantee: what nobody needs is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddle._engine import registry
from paddle._engine.errors import EngineError, ShapeError
from paddle._engine.passes.prune import prune
from paddle._engine.program import Block, Operator
from paddle._engine.steps.kinds import EACH, RUNWISE, SHARED, Kind, is_rowwise, outcome
from paddle._engine.steps.loop import Memory


@dataclass(frozen=True, slots=True)
class Parts:
    """Operators ``before`` the ``loop``, in it, and ``behind`` it. ``imports``: what it reads of what is
    known before; ``exports``: what is read of it behind, or is asked for."""

    before: tuple[Operator, ...]
    loop: tuple[Operator, ...]
    behind: tuple[Operator, ...]
    memories: tuple[Memory, ...]
    imports: tuple[str, ...]
    exports: tuple[str, ...]
    kinds: Mapping[str, Kind]


def parted(
    block: Block, memories: Sequence[Memory], outputs: Sequence[str], kinds: Mapping[str, Kind]
) -> Parts:
    """Part the operators of a step. ``kinds``: of what it is given."""
    if forgotten := [memory.now for memory in memories if not memory.next]:
        raise EngineError(f"nothing says what {forgotten} remember: call remember for each memory")
    operators, used = _needed(block.operators, outputs, memories)
    known = dict(kinds)
    for operator in operators:
        _check(operator)
        known |= outcome(operator, known, block.variables)
    before = _before(operators, used, known)
    early = set(map(id, before))
    rest = [operator for operator in operators if id(operator) not in early]
    loop, behind = _split(rest, used, known)
    made = {name for operator in loop for name in operator.writes()} | {memory.now for memory in used}
    read = [name for operator in loop for name in operator.reads()] + [memory.next for memory in used]
    wanted = [name for operator in behind for name in operator.reads()] + list(outputs)
    return Parts(
        tuple(before),
        tuple(loop),
        tuple(behind),
        tuple(used),
        tuple(dict.fromkeys(name for name in read if name not in made)),
        tuple(dict.fromkeys(name for name in wanted if name in made)),
        known,
    )


def _check(operator: Operator) -> None:
    """Refuse what one run does once, and not a moment."""
    row = registry.row(operator.type)
    if row.ahead is not None or row.changes(operator.attrs):
        raise ShapeError(
            f"{operator} cannot stand in a step: it is computed once for a run, so put it before or behind"
        )


def _needed(
    operators: Sequence[Operator], outputs: Sequence[str], memories: Sequence[Memory]
) -> tuple[list[Operator], list[Memory]]:
    """The operators on which the outputs depend, also over time, and the memories that this takes."""
    wanted = set(outputs)
    while True:
        kept = prune(operators, frozenset(wanted))
        reads = {name for operator in kept for name in operator.reads()} | wanted
        used = [memory for memory in memories if memory.now in reads]
        nexts = {memory.next for memory in used}
        if nexts <= wanted:
            return kept, used
        wanted |= nexts


def _before(
    operators: Sequence[Operator], memories: Sequence[Memory], kinds: Mapping[str, Kind]
) -> list[Operator]:
    late = {memory.now for memory in memories}
    before: list[Operator] = []
    for operator in operators:
        if late.isdisjoint(operator.reads()) and _is_free(operator, kinds):
            before.append(operator)
        else:
            late.update(operator.writes())
    return before


def _split(
    rest: Sequence[Operator], memories: Sequence[Memory], kinds: Mapping[str, Kind]
) -> tuple[list[Operator], list[Operator]]:
    """Those of the loop, and those that can be computed behind it."""
    needed = {memory.next for memory in memories}
    loop, behind = list[Operator](), list[Operator]()
    for operator in reversed(rest):
        if needed.isdisjoint(operator.writes()) and _is_free(operator, kinds):
            behind.append(operator)
        else:
            loop.append(operator)
            needed.update(operator.reads())
    return loop[::-1], behind[::-1]


def _is_free(operator: Operator, kinds: Mapping[str, Kind]) -> bool:
    """Whether an operator may be run on the rows of all moments at once."""
    reads = [kinds[name] for name in operator.reads()]
    rows = [kind for kind in reads if kind.of != SHARED]
    varies = any(kind.varies for kind in rows)
    if not rows:
        return True
    if operator.type == "dropout":  # what is the same at all moments is to be dropped anew at each
        return varies
    # rows of runs that lie still are there once for all moments: not where something changes with these
    lying = any(not kind.varies and (kind.ends or kind.of != EACH) for kind in rows)
    return (is_rowwise(operator) or operator.type in RUNWISE) and not (varies and lying)
