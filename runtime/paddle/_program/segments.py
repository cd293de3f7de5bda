"""Segments: a block made ready to run: engine programs, and the host operators between them.

A block of lowered operators alone is one segment. It must never know who runs it or how often.

Guarantees: operators have their effects in the order in which they were written; a segment that takes
gradients begins with all that was lowered before it, so that these go all the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from paddle._engine.program import Parameter as EngineParameter
from paddle._program.ahead import ids_ahead, rates_ahead
from paddle._program.block import Block, reads_of
from paddle._program.errors import BadFeed
from paddle._program.lowering import Lowered, Lowering, sparse_tables
from paddle._program.op_rows import is_lowered, row
from paddle._program.operator import BACKWARD, Operator
from paddle._program.updates import UPDATES, Group, groups, is_update, moved_at

_IGNORED = frozenset(
    {"feed", "fetch", "read", "average_accumulates"}
)  # whose values a run has before it begins
_ONCE = frozenset({"auc"})
"""Operators that change what they count in, and that no gradient goes through: none is computed twice."""
_SHOWING = frozenset({"print"})
"""Operators that are lowered to nothing, and show a value on the host when its segment has run."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Engine work. ``keeps``: names whose values the run, or the scope, needs afterwards. ``watched``:
    operators that show values of it to people, when they are there."""

    lowered: Lowered
    groups: tuple[Group, ...]
    keeps: tuple[str, ...]
    watched: tuple[Operator, ...] = ()


Stage = Segment | Operator


def stages(block: Block, fed: Collection[str], fetched: Sequence[str]) -> list[Stage]:
    """The stages of a block that is fed and asked for these names."""
    _check_fetches(block, fed, fetched)
    first, rest = rates_ahead([op for op in block.ops if op.type not in _IGNORED])
    rates = _pieces(first)
    pieces: list[list[Operator] | Operator] = [*rates]
    alone = set(range(len(rates)))  # pieces that no gradient goes back through
    tables = sparse_tables(block.program)
    for each in _pieces(rest):
        ids, others = ids_ahead(each, tables) if isinstance(each, list) else ([], each)
        if ids:
            alone.add(len(pieces))
            pieces.append(ids)
        pieces.append(others)
    found: list[Stage] = []
    before: list[Operator] = []
    for at, piece in enumerate(pieces):
        if isinstance(piece, Operator):
            found.append(piece)
            continue
        later = {name for each in pieces[at + 1 :] for op in _listed(each) for name in reads_of(op)}
        takes_gradients = any(op.role == BACKWARD for op in piece)
        segment = _segment(block, before if takes_gradients else [], piece, fed, {*later, *fetched})
        found.append(segment)
        if at not in alone:
            before += [
                op for op in piece if op.role != BACKWARD and not is_update(op) and op.type not in _ONCE
            ]
    return found


def _segment(
    block: Block, before: Sequence[Operator], ops: list[Operator], fed: Collection[str], wanted: set[str]
) -> Segment:
    made = {name for op in before for name in op.output_arg_names}
    low = Lowering(block, [name for name in fed if name not in made], wanted)
    low.lower([*before, *ops])
    watched = tuple(op for op in ops if op.type in _SHOWING)
    wanted = wanted | {name for op in watched for name in op.input_arg_names}
    written = dict.fromkeys(n for op in ops if not is_update(op) for n in op.output_arg_names)
    keeps = tuple(
        name
        for name in written
        if name in low.env and (name in wanted or (_outlives(block, name) and not _is_changed(low, name)))
    )
    moved = groups(block, low.updates, sparse_tables(block.program))
    lowered = low.finish(keeps)
    if moved:
        _append_exchange(low, moved)
    return Segment(lowered, tuple(moved), keeps, watched)


def _is_changed(low: Lowering, name: str) -> bool:
    """Whether operators have changed it where it lies, so that nobody has to write it back."""
    return isinstance(low.env[name].variable, EngineParameter)


def _append_exchange(low: Lowering, moved: Sequence[Group]) -> None:
    from paddle._engine.autodiff import append_exchange
    from paddle._engine.program import Parameter

    names = {name for group in moved for name in group.names}
    pairs = []
    for op in low.updates:
        name = op.input("Param")[0]
        parameter = low.value(name).variable
        if name in names and isinstance(parameter, Parameter):
            pairs.append((parameter, low.input(op, "Grad").variable))
    append_exchange(low.builder.program, pairs)


def _pieces(ops: Sequence[Operator]) -> list[list[Operator] | Operator]:
    """Runs of lowered operators, and host operators; a run ends where a moved parameter is read."""
    pieces: list[list[Operator] | Operator] = []
    moved: set[str] = set()
    on_host = _is_of_host(ops)
    for op in ops:
        if on_host(op):
            pieces.append(op)
            moved = set()
            continue
        reads_moved = not is_update(op) and not moved.isdisjoint(reads_of(op))
        if not pieces or isinstance(pieces[-1], Operator) or reads_moved:
            pieces.append([])
            moved = set()
        piece = pieces[-1]
        assert isinstance(piece, list)
        piece.append(op)
        moved.update(name for each in moved_at(op) for name in each.input("Param"))
    return pieces


def _is_of_host(ops: Sequence[Operator]) -> Callable[[Operator], bool]:
    """Which operators are computed on the host: those that are not lowered, and of those that may be both the
    ones that give first values, which follow from a seed and a name, and all of a program of such alone."""
    trains = any(op.role == BACKWARD or op.type in UPDATES for op in ops)
    lowered_only = any(
        is_lowered(op) and not row(op.type).host
        for op in ops
        if op.type not in UPDATES and op.role != BACKWARD
    )

    def is_it(op: Operator) -> bool:
        if op.role == BACKWARD or op.type in UPDATES or row(op.type).host is None:
            return False
        if not is_lowered(op):
            return True
        return not trains and (not lowered_only or any(_outlives(op.block, n) for n in op.output_arg_names))

    return is_it


def _listed(piece: list[Operator] | Operator) -> list[Operator]:
    return [piece] if isinstance(piece, Operator) else piece


def _outlives(block: Block, name: str) -> bool:
    described = block._find_var_recursive(name)
    return described is not None and described.persistable


def _check_fetches(block: Block, fed: Collection[str], fetched: Sequence[str]) -> None:
    made = {name for op in block.ops for name in op.output_arg_names}
    for name in fetched:
        described = block._find_var_recursive(name)
        if described is None:
            near = ", ".join(list(block.vars)[:20])
            raise BadFeed(
                f"fetch_list names {name!r}, which is no variable of this program; it has {near}..."
            )
        if name not in made and name not in fed and not described.persistable:
            raise BadFeed(
                f"fetch_list names {name!r}, which no operator of this program makes, nor is it fed: was "
                "the program cloned or pruned before that was appended?"
            )
