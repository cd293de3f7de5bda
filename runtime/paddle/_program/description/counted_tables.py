"""Counted tables: open ones that have a rule of their own, by which servers move rows and count how often
each is shown and clicked.

What pushes rows says so, the operator of the lookup's gradient: so programs that only read rows know nothing
of it, whatever they were made from. It must never know a rule or a strategy.

Guarantee: all that is pushed to a table is pushed by one rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from paddle._program.description.open_tables import LOOKUPS, open_tables
from paddle._program.errors import BadArgument

if TYPE_CHECKING:
    from paddle._program.description.operator import Operator

_RULE, _COUNTS = "table_rule", ("Shows", "Clicks")
_PUSHES = frozenset(f"{each}_grad" for each in LOOKUPS)
_ENTRY = "show_click_entry"


def counted_tables(program: Any) -> dict[str, dict[str, float]]:
    """The counted tables of a program, and the numbers of their rules."""
    told = (op for op in _pushes(program) if _RULE in op.attrs)
    return {op.inputs["W"][0]: json.loads(op.attrs[_RULE]) for op in told}


def counts_of(program: Any, table: str) -> tuple[str, str] | None:
    """The variables that hold shows and clicks of a batch's samples; None where each lookup is a show."""
    pushes = (op for op in _pushes(program) if op.inputs["W"] == [table])
    named = [tuple(op.inputs[slot][0] for slot in _COUNTS) for op in pushes if "Shows" in op.inputs]
    return (named[0][0], named[0][1]) if named else None


def count(program: Any, table: str, rule: Mapping[str, float]) -> bool:
    """Have a table be moved by a rule of its own. Whether the program trains a table of that name. Raises
    BadArgument where that is none of ``sparse_embedding``."""
    pushes = [op for op in _pushes(program) if op.inputs["W"] == [table]]
    if not pushes:
        return False
    entry = open_tables(program).get(table)
    if entry is None:
        raise BadArgument(
            f"table {table!r} has a declared height, and a rule of its own is for rows that are made when "
            "they are asked for: look it up by paddle.static.nn.sparse_embedding"
        )
    kind, *named = entry.split(":")
    if kind not in ("none", _ENTRY):
        raise BadArgument(
            f"table {table!r} has the entry {entry!r} and a rule of its own, which lets all ids in that are "
            "pushed: take one of them away"
        )
    for op in pushes:
        op._set_attr(_RULE, json.dumps(dict(rule), sort_keys=True))
        if named:
            op.inputs.update({slot: [name] for slot, name in zip(_COUNTS, named, strict=True)})
    return True


def _pushes(program: Any) -> Iterator[Operator]:
    return (op for block in program.blocks for op in block.ops if op.type in _PUSHES and op.inputs.get("W"))
