"""Model: a shard's part of what is trained, as a trainer declared it, until it has its initial values.

1.  The first declaration makes it; every other must be equal. One of a snapshot must be, too, but for the
    wire: the first trainer says in which numbers values travel from then on.
2.  It is complete once each of its parts has initial values: the dense ones together, and every table of a
    declared height. Rows of open tables give these to themselves.

It must never know a connection or a gradient. Guarantee: nothing is allocated for a declaration that cannot
be trained, or not within the shard's memory.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddle._engine.rules import needs_whole
from paddle._pserver.errors import RESHARD, DeclarationMismatch
from paddle._pserver.memory.shown import room_for
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.protocol.placement import RowRange, dense_layout, row_ranges
from paddle._pserver.shard import declaration
from paddle._pserver.shard.difference import difference
from paddle._pserver.tables.tables import Tables


class Model:
    """See the module's text."""

    def __init__(self, declare: Declare, options: ShardOptions) -> None:
        declaration.check(declare)
        held = [p for p in declare.parameters if ("sparse" if p.sparse else "dense") in options.roles]
        whole = needs_whole(declare.update.rule)
        layout = dense_layout(held, declare.shard, declare.shards, whole=whole)
        ranges = row_ranges(held, declare.shard, declare.shards)
        trainers, limit_bytes = options.num_gradient_servers, options.memory_limit_bytes
        need = declaration.check_size(declare, layout, ranges, trainers, limit_bytes)
        self.declaration = declare
        self._options, self._is_taken_up = options, True
        shown = room_for(layout.size) if options.is_shown else None
        rest = limit_bytes - need
        self.tables = Tables(declare.update, layout, ranges, rest, shown, options.cut_limit_bytes)
        self._origin, self._folder = "the others here", ""
        self._unseeded: set[str | None] = {held.parameter.name for held in ranges if held.count}
        if layout.size:
            self._unseeded.add(None)

    def __str__(self) -> str:
        rows = sum(table.rows for table in self.tables.rows.values())
        share = f"shard {self.declaration.shard} of {self.declaration.shards}"
        text = f"{share}: {self.tables.layout.size} dense values, {rows} sparse rows"
        return f"{text}, and those to come of {', '.join(self.tables.open)}" if self.tables.open else text

    def agree(self, trainer: int, declare: Declare) -> None:
        """Raise where a trainer declares another one."""
        mine, theirs = self.declaration, declare
        if self._folder and (mine.shard, mine.shards) != (theirs.shard, theirs.shards):
            raise DeclarationMismatch(
                f"for trainer {trainer} this is shard {theirs.shard} of {theirs.shards}, and the snapshot in "
                f"{self._folder} is of shard {mine.shard} of {mine.shards}: {RESHARD}"
            )
        if not self._is_taken_up:
            self._take_up(declare)
        if declare != self.declaration:
            raise DeclarationMismatch(
                f"trainer {trainer} does not train the same model as {self._origin}: they differ in "
                f"{difference(self.declaration, declare)}"
            )

    def _take_up(self, declare: Declare) -> None:
        """The first trainer says how values travel in the job that goes on from a snapshot."""
        mine = self.declaration
        ours = Declare(mine.parameters, mine.update, mine.shard, mine.shards, declare.wire)
        if ours == declare:
            declaration.check(declare)
            tables, options = self.tables, self._options
            ranges = tuple(table.held for table in tables.rows.values())
            trainers, limit_bytes = options.num_gradient_servers, options.memory_limit_bytes
            declaration.check_size(declare, tables.layout, ranges, trainers, limit_bytes)
            self.declaration, self._is_taken_up = declare, True

    def restore(self, arrays: Mapping[str, np.ndarray], version: int, folder: str) -> None:
        """Take the values of a snapshot in ``folder``. Raises ValueError where they do not fit."""
        try:
            self.tables.restore(arrays, version)
        except (ArithmeticError, LookupError, TypeError) as error:  # of one that somebody else has made
            raise ValueError(f"it lacks {error}, or has it in another form") from error
        self._unseeded.clear()
        self._folder, self._is_taken_up = folder, False
        self._origin = f"the snapshot in {folder} (to begin anew, move that away or name another folder)"

    def part(self, table: str | None) -> np.ndarray:
        """The values of a table; None: the dense ones."""
        return self.tables.values if table is None else self.tables.table(table).values

    def seeded(self, table: str | None) -> None:
        """A part has its initial values; raises BadMessage where it does not live here."""
        part = self.part(table)
        if table is not None and (given := self._options.tables.get(table)) is not None:
            self._put(part, self.tables.table(table).held, *given)
        self._unseeded.discard(table)

    def _put(self, part: np.ndarray, held: RowRange, ids: np.ndarray, rows: np.ndarray) -> None:
        """Write the rows that this server was given over those that trainer 0 had."""
        height, width = held.parameter.shape
        if (
            rows.ndim != 2
            or rows.shape[1] != width
            or (len(ids) and not 0 <= ids.min() <= ids.max() < height)
        ):
            raise DeclarationMismatch(
                f"the rows of {held.parameter.name!r} that this server was given to begin "
                f"from are {rows.shape}, with ids up to {ids.max(initial=-1)}, and trainers "
                f"declare {(height, width)}: they are of another model"
            )
        mine = held.pick(ids)
        part[held.local(ids[mine])] = rows[mine]

    @property
    def is_complete(self) -> bool:
        """Whether all parts have their initial values."""
        return not self._unseeded
