"""Model: a shard's part of what is trained, as a trainer declared it, until it has its initial values.

1.  The first declaration makes it; every other must be equal. One of a snapshot must be, too, but for the
    wire: the first trainer says in which numbers values travel from then on.
2.  It is complete once each of its parts has initial values: the dense ones together, and every table. Rows
    of open tables give these to themselves; what is said of such a table is that no more is to come. Where
    nothing lives here the same is said of no dense values: until then it may hear after how many steps the
    job goes on, which all shards must know alike.

It must never know a connection or a gradient. Guarantee: nothing is allocated for a declaration that cannot
be trained, or not within the shard's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._engine.rows import TableRows
from paddle._engine.rules import needs_whole
from paddle._pserver.errors import RESHARD, BadMessage, DeclarationMismatch
from paddle._pserver.memory.shown import room_for
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import Declare, Remind
from paddle._pserver.protocol.placement import RowRange, dense_layout, row_ranges
from paddle._pserver.shard import declaration
from paddle._pserver.shard.adding import Adding
from paddle._pserver.shard.difference import difference
from paddle._pserver.tables.streamed import Array
from paddle._pserver.tables.tables import Tables

_NOTHING = np.empty(0, np.float32)
AddingOf = Callable[[int, int], Adding | None]


class Model:
    """See the module's text."""

    def __init__(self, declare: Declare, options: ShardOptions) -> None:
        declaration.check(declare)
        held = [p for p in declare.parameters if ("sparse" if p.sparse else "dense") in options.roles]
        whole = needs_whole(declare.update.rule)
        layout = dense_layout(held, declare.shard, declare.shards, whole=whole)
        ranges = row_ranges(held, declare.shard, declare.shards)
        trainers, claims = options.num_gradient_servers, options.claims
        limit_bytes = options.memory_limit_bytes if claims is None else claims.left_bytes(options.name)
        most = options.most_early(4 * layout.size) if declare.update.mode.is_in_step else None
        self.most_early = most  # gradients, before their turn (turns.py); None: they take none
        self.adding: AddingOf = lambda session, step: None  # once it is trained, where they do: see Turns
        need = declaration.check_size(declare, layout, ranges, trainers, limit_bytes, most)
        self.declaration = declare
        self._options, self._is_taken_up = options, True
        shown = room_for(layout.size) if options.is_shown else None
        rest = limit_bytes - need
        if claims is not None:  # what comes later is not to find everything taken by rows to come
            rest //= 2
            claims.take(options.name, need + rest * any(each.parameter.is_open for each in ranges))
        self.tables = Tables(declare.update, layout, ranges, rest, shown, options.cut_bytes)
        self._origin, self._folder = "the others here", ""
        self._unseeded: set[str | None] = {h.parameter.name for h in ranges if h.count or h.parameter.is_open}
        if layout.size or not self._unseeded:
            self._unseeded.add(None)
        self._given = {p.name: options.tables[p.name] for p in declare.parameters if p.name in options.tables}
        self._rows: dict[str, TableRows] = {}
        self._arrays = {
            p.name: options.arrays[p.name] for p in declare.parameters if p.name in options.arrays
        }
        self.steps = max((steps for _, steps in (*self._given.values(), *self._arrays.values())), default=0)
        self._check_arrays(declare.parameters)
        for each in ranges:
            if each.parameter.name in self._given:
                self._check_given(each, self._given[each.parameter.name][0])

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
            most = self.most_early
            declaration.check_size(declare, tables.layout, ranges, trainers, limit_bytes, most)
            self.declaration, self._is_taken_up = declare, True

    def restore(self, arrays: Mapping[str, Array], version: int, folder: str) -> None:
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
        if table is None:
            return self.tables.values
        return _NOTHING if table in self.tables.open else self.tables.table(table).values

    def seeded(self, table: str | None) -> None:
        """A part has its initial values; raises BadMessage where it does not live here."""
        part = self.part(table)
        if table is None:
            self._fill()
        if table is not None and table in self._given and table not in self.tables.open:
            held, given = self.tables.table(table).held, self._given[table][0]
            mine = held.pick(given.ids)
            places = held.local(given.ids[mine])
            part[places] = given.values[mine]
            for name, rows in given.slots.items():
                if (slot := self.tables.slot(table, name)) is not None:
                    slot[places] = rows[mine]
        self._unseeded.discard(table)

    def _fill(self) -> None:
        """Write the dense values that this server was given over those that trainer 0 had."""
        begin = 0
        within: dict[str, int] = {}
        for part in self.tables.layout.slices:
            size = part.stop - part.start
            at, (kinds, _) = within.get(part.name, 0), self._arrays.get(part.name, ({}, 0))
            for kind, array in kinds.items():
                room = self.tables.slot(part.name, kind) if kind else self.tables.values[begin - at :]
                if room is not None:
                    room[at : at + size] = np.ravel(array)[part.start : part.stop]
            begin, within[part.name] = begin + size, at + size

    def _check_arrays(self, parameters: Sequence[ParameterSpec]) -> None:
        for each in parameters:
            for array in self._arrays.get(each.name, ({}, 0))[0].values():
                if np.size(array) != each.size:
                    raise DeclarationMismatch(
                        f"the values of {each.name!r} that this server was given to begin from are "
                        f"{np.shape(array)}, and trainers declare {each.shape}: they are of another model"
                    )

    def slot(self, parameter: str, name: str) -> np.ndarray:
        """Where that slot of a parameter lies, before training; raises BadMessage where none does."""
        found = self.tables.slot(parameter, name)
        if found is None:
            raise BadMessage(f"this shard keeps no {name!r} of {parameter!r}")
        return found

    def remind(self, remind: Remind, arrays: Sequence[np.ndarray]) -> None:
        """The job goes on from an earlier one. ``arrays``: the ids and numbers of rows of an open table."""
        self.steps = max(self.steps, remind.steps)
        if remind.rows:
            table = self.tables.open_table(remind.parameter)
            ids, numbers = arrays
            table.check(ids)
            values, *slots = numbers.reshape(-1, len(ids), table.held.width)
            rows = TableRows(
                ids.copy(), values.copy(), dict(zip(table.slots, map(np.copy, slots), strict=False))
            )
            before = self._rows.get(table.name)
            self._rows[table.name] = rows if before is None else TableRows.concatenate([before, rows])

    def begin(self) -> None:
        """All initial values are there. Raises TableFull where rows have no room."""
        if self._folder:
            return
        self.tables.begin_after(self.steps)
        for name, table in self.tables.open.items():
            if name in self._given:
                given = self._given[name][0]
                mine = table.held.pick(given.ids)
                slots = {slot: rows[mine] for slot, rows in given.slots.items()}
                table.take(TableRows(given.ids[mine], given.values[mine], slots))
            if name in self._rows:
                table.take(self._rows.pop(name))

    @staticmethod
    def _check_given(held: RowRange, given: TableRows) -> None:
        """Raise where rows that this server was given are of another model."""
        (height, width), ids = held.parameter.shape, given.ids
        is_open, fits = held.parameter.is_open, given.values.ndim == 2 and given.values.shape[1] == width
        if not fits or (len(ids) and not is_open and not 0 <= ids.min() <= ids.max() < height):
            raise DeclarationMismatch(
                f"the rows of {held.parameter.name!r} that this server was given to begin from are "
                f"{given.values.shape}, with ids up to {ids.max(initial=-1)}, and trainers declare "
                f"{('any', width) if is_open else (height, width)}: they are of another model"
            )

    @property
    def is_complete(self) -> bool:
        """Whether all parts have their initial values."""
        return not self._unseeded
