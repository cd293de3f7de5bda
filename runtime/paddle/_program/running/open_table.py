"""OpenTable: a table without a height, as a scope has it.

There is no array of it. Until somebody trains it, it is how its rows begin, and those that were loaded; from
then on whoever keeps it is asked. It must never know a file or a program.

Guarantee: rows that were given are there until the table begins anew, wherever they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import TableRows

if TYPE_CHECKING:
    from paddle._program.running.scope import Scope


class OpenTable:
    """See the module's text. ``initial`` and ``seed``: of rows that are made. ``source``: gives all rows in
    pieces, where somebody keeps them."""

    def __init__(self, width: int, initial: RowInitial | None = None, seed: int = 0) -> None:
        self.width, self.initial, self.seed = width, initial or RowInitial(), seed
        self.given: TableRows | None = None
        self.source: Callable[[], Iterator[TableRows]] | None = None

    def pieces(self) -> Iterator[TableRows]:
        """All rows that there are, in pieces."""
        if self.source is not None:
            yield from self.source()
        elif self.given is not None:
            yield self.given

    def rows(self) -> TableRows:
        """All rows that there are."""
        found = [*self.pieces()]
        return TableRows.concatenate(found) if found else TableRows.none(self.width)


def table_of(scope: Scope, name: str) -> OpenTable | None:
    """The open table of that name in a scope. An array that was set in its place is its first rows."""
    held = scope.find_var(name)
    if held is None:
        return None
    array = held.get_tensor()._array
    if array is not None and array.ndim == 2:
        known = held.value if isinstance(held.value, OpenTable) else OpenTable(array.shape[1])
        known.given = TableRows(np.arange(len(array)), np.ascontiguousarray(array, np.float32))
        held.value, held.get_tensor()._array = known, None
    return held.value if isinstance(held.value, OpenTable) else None


def begin(scope: Scope, name: str, made: OpenTable) -> None:
    """Have an open table begin anew, unless servers keep it, who have begun it once for all trainers."""
    for key, keeper in list(scope.keepers.items()):
        if name not in keeper.group.tables:
            continue
        if keeper.is_remote:
            return
        for other in keeper.group.tables:
            if other != name and (kept := table_of(scope, other)) is not None and kept.source is not None:
                kept.given, kept.source = kept.rows(), None
        del scope.keepers[key]
    held = scope.var(name)
    held.value, held.get_tensor()._array = made, None
    scope._change()
