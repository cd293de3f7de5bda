"""Open tables: parameters without a height, of which a row is made for every id that asks for one.

A table is open where operators that look it up say so: they are sparse, distributed, fetch rows ahead, and
name an ``entry``, which says of which ids rows are made. That is how ``sparse_embedding`` writes them. It
must never know where rows are.

Guarantee: what a program says of a table it says in all its copies, written to a file or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle._program.errors import BadProgram

if TYPE_CHECKING:
    from paddle._program.description.operator import Operator

LOOKUPS = frozenset({"lookup_table", "lookup_table_v2"})
_SAYING = ("is_sparse", "is_distributed", "remote_prefetch", "entry")


def open_tables(program: Any) -> dict[str, str]:
    """The open tables of a program, each with what its operators say of entries."""
    found: dict[str, str] = {}
    for op in (op for block in program.blocks for op in block.ops):
        if not is_open_lookup(op):
            continue
        (name,), entry = op.inputs["W"], str(op.attrs["entry"])
        if found.setdefault(name, entry) != entry:
            raise BadProgram(
                f"table {name!r} is looked up with the entry {found[name]!r}, and with {entry!r} by the "
                f"operator written at {op.where}: a table has one"
            )
    return found


def is_open_lookup(op: Operator) -> bool:
    """Whether an operator looks up rows of an open table."""
    return op.type in LOOKUPS and all(op.attrs.get(name) for name in _SAYING) and bool(op.inputs.get("W"))
