"""What of a program is run where only what is fetched is asked for (``use_prune``).

It must never know a scope. Guarantees: of a program that does not change, one part is made for each list of
feeds and fetches; of updates those are run that are fetched, as ``minimize`` returns them; if none is, all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.description.program import Program
from paddle._program.errors import BadFeed


def asks_for_updates(fetch_list: Any) -> bool:
    """Whether it holds what ``minimize`` returns, or operators of it."""
    if not isinstance(fetch_list, list | tuple):
        return isinstance(fetch_list, Operator)
    return any(asks_for_updates(each) for each in fetch_list if not isinstance(each, str))


def pruned(
    program: Program, fed: Collection[str], fetch_list: Any, is_update: Callable[[Operator], bool]
) -> tuple[Program, list[Any]]:
    """The part of ``program`` on which the fetches and updates depend, and those of them that are values."""
    several = fetch_list if isinstance(fetch_list, list | tuple) else [fetch_list]
    values, updates = _parted([each for each in several if each is not None])
    names = [each if isinstance(each, str) else each.name for each in values]
    what = ("pruned", frozenset(fed), tuple(names), tuple(map(id, updates)))

    def part() -> Program:
        wanted = updates or [op for op in program.global_block().ops if is_update(op)]
        made = program._prune_with_input(list(fed), [*names, *wanted])
        _check_learns(made, fed)
        return made

    return program._twin(what, part), values


def _check_learns(program: Program, fed: Collection[str]) -> None:
    """Raise where gradients would go back to data that are not fed, as what follows them is fed instead."""
    ops = program.global_block().ops
    made = {name for op in ops for name in op.output_arg_names}.union(fed)
    for op in (op for op in ops if op.role & BACKWARD):
        described = (program.global_block()._find_var_recursive(name) for name in op.input_arg_names)
        lacks = sorted({each.name for each in described if each is not None and each.is_data} - made)
        if lacks:
            raise BadFeed(
                f"parameters learn by {', '.join(map(repr, lacks))} (operator {op.type!r}, written at "
                f"{op.where}), which is not fed: what is computed of it is fed instead. Feed it, or run a "
                "program without updates, as of clone(for_test=True)"
            )


def _parted(several: Sequence[Any]) -> tuple[list[Any], list[Operator]]:
    """Variables and names, in lists of them, too, and operators: these alone, or in what ``minimize``
    returns."""
    values: list[Any] = []
    updates: list[Operator] = []
    for each in several:
        if isinstance(each, list | tuple):
            nested = each[0] if asks_for_updates(each) and isinstance(each[0], list | tuple) else each
            inner, operators = _parted(nested)
            values, updates = [*values, *inner], [*updates, *operators]
        elif isinstance(each, Operator):
            updates.append(each)
        else:
            values.append(each)
    return values, updates
