"""What of a program is run where only what is fetched is asked for (``use_prune``).

It must never know a scope. Guarantee: of a program that does not change, one part is made for each list of
feeds and fetches; updates are run where they are fetched, as ``minimize`` returns them, and else not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from paddle._program.description.operator import Operator
from paddle._program.description.program import Program


def pruned(program: Program, fed: Collection[str], fetch_list: Any) -> tuple[Program, list[Any]]:
    """The part of ``program`` on which the fetches depend, and those of them that are values."""
    several = fetch_list if isinstance(fetch_list, list | tuple) else [fetch_list]
    values, updates = _parted([each for each in several if each is not None])
    names = [each if isinstance(each, str) else each.name for each in values]
    what = ("pruned", frozenset(fed), tuple(names), tuple(map(id, updates)))
    return program._twin(what, lambda: program._prune_with_input(list(fed), [*names, *updates])), values


def _parted(several: Sequence[Any]) -> tuple[list[Any], list[Operator]]:
    """Variables and names, and operators: these alone, or in what ``minimize`` returns."""
    values: list[Any] = []
    updates: list[Operator] = []
    for each in several:
        if isinstance(each, list | tuple):
            operators = each[0] if each and isinstance(each[0], list | tuple) else each
            updates += [op for op in operators if isinstance(op, Operator)]
        elif isinstance(each, Operator):
            updates.append(each)
        else:
            values.append(each)
    return values, updates
