"""HashTable: rows of a sparse table whose ids are any int64, made when they are first asked for.

An index says which row an id has (hash_index.py); a store keeps each row's values and slots side by side, in
pages that are never copied (pages.py). It must never know who sent a gradient or when a step is due.

1.  A row is made by the first pull or push that names its id, with the values that its initializer gives for
    this id, and is idle (see paddle._engine.rules.rule) only in steps after that. Where idle rows do not
    change, it is as if all rows had been there from the beginning: without an entry policy, the table equals
    a packed one with the same first values, bit for bit.
2.  With an entry policy an id has no row until it has entered (paddle._engine.entry): pulls count and answer
    zeros, pushes are ignored. One that enters with a later sighting than its first is shown from the next
    step on: so all trainers of a step see the same, whoever came first.
3.  ``shrink`` ends a day, and forgets rows that were neither made nor pushed in the last ``threshold`` days,
    of which the one that begins is the first, and candidates not seen in them: with 1 all, with 2 those not
    used in the day that ends. Days of rows are counted in steps: one made before the first step of a day
    belongs to it. (PaddlePaddle's goes by pulls, as this does where idle rows change.)
4.  Steps of rows are counted, up to 2^32, where somebody asks for them: the rule, an entry policy or, after
    the first ``shrink``, days. Else a row's ``last_step`` is the table's, but for those made after it.
5.  Rows of a rule that counts (rules/counted.py) are made by pushes alone, and pulls of others read zeros.
    Pushes of a step add up, and ``shrink`` goes by scores and the rule's own days, not by ``threshold``.

Guarantee: the values and state of a row depend neither on the number of shards nor on the order of ids. What
does not fit in the shard's room is refused, as TableFull, before it is made. ``state``: table_state.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from paddle._engine.exchange import RowsSpec, UpdateSpec
from paddle._engine.kernels import interleaved
from paddle._engine.rates import Rates
from paddle._engine.row_initial import row_key
from paddle._engine.rows import TableRows
from paddle._engine.rules import Counted
from paddle._pserver.errors import BadMessage
from paddle._pserver.memory.pages import Pages
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.asked_rows import AskedRows, Brought
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.frozen_table import FrozenTable
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.hash_index import ABSENT, MAX_MARK, HashIndex
from paddle._pserver.tables.parts import views
from paddle._pserver.tables.readers import Readers
from paddle._pserver.tables.slots import how, slots_of
from paddle._pserver.tables.streamed import Array
from paddle._pserver.tables.table_room import TableRoom
from paddle._pserver.tables.table_state import put, taken_from

_BLOCK_VALUES = 1 << 15  # a block, its gradient and its rows together fit in a core's own cache
_CHUNK = 1 << 16
_WAITING_BYTES = 3 * 8  # of a candidate: its id, how often it was seen, and when
_NONE = np.empty(0, np.int64)


class HashTable:
    """See the module's text. ``room``: what the shard's open tables may have, all together."""

    def __init__(self, held: RowRange, update: UpdateSpec, room: TableRoom) -> None:
        self.held, parameter = held, held.parameter
        spec = parameter.rows or RowsSpec()
        self._rule, self._penalties, self._multiplier = how(parameter, update)
        self._counts = self._rule if isinstance(self._rule, Counted) else None
        self._initial, self._entry, self._room = spec.initial, spec.entry, room
        self._key = row_key(spec.seed, parameter.name)
        self._parts = 1 + len(self._rule.slots)
        counts_steps = self._rule.changes_idle_rows(self._penalties) or self._entry.kind != "always"
        self._index = HashIndex(is_marked=counts_steps)
        self._store = Pages(np.float32, self._parts * held.width, 1)
        block = max(32, _BLOCK_VALUES // held.width)
        self._block = np.empty((self._parts, block, held.width), np.float32)
        self._order = np.arange(block)
        self._rates, self._step = Rates(), 0
        self._settled = 0  # rows that were there when the last step ended
        self._days: list[int] = []  # the step with which each day ended
        self._entered: list[np.ndarray] = []  # ids that entered in this step, and are shown from the next
        self._frozen: Readers[FrozenTable] = Readers()
        self._asked = AskedRows()  # while no marks are kept: with them each cell is visited anyhow

    @property
    def name(self) -> str:
        """The parameter's."""
        return self.held.parameter.name

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._index.rows

    @property
    def slots(self) -> tuple[str, ...]:
        """What the rule remembers of each."""
        return self._rule.slots

    def ids(self) -> np.ndarray:
        """Those of all rows."""
        return self._index.by_row()[0]

    @property
    def candidates(self) -> int:
        """How many ids were seen and have not entered."""
        return self._index.used - self._index.rows

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use for all of them."""
        return self._index.nbytes + self.rows * self._store.row_bytes

    def check(self, ids: np.ndarray) -> None:
        """Whether all ``ids`` may live here; raises BadMessage."""
        if self.held.stride > 1 and not self.held.pick(ids).all():
            raise BadMessage(f"an id of {self.held.parameter.name!r} belongs to another shard")

    def gather(self, ids: np.ndarray) -> np.ndarray:
        """A copy of the values of rows ``ids``, which have been checked, for training: up to date, made where
        there is none (rules 1 and 2)."""
        rows, absent = self._index.find(ids)
        if absent and self._counts is None:
            missing = rows == ABSENT
            self._admit(ids[missing])
            rows[missing] = self._index.find(ids[missing])[0]
        if self._entered:
            rows[np.isin(ids, np.concatenate(self._entered))] = ABSENT
        if self._rule.changes_idle_rows(self._penalties):
            self._catch_up(ids[rows != ABSENT], rows[rows != ABSENT])
        if not self._index.is_marked and not (absent and self._counts):
            self._asked.note(ids, rows)
        return self._taken(rows)

    def take(self, rows: TableRows) -> None:
        """Have these rows, whatever an entry policy says of their ids; slots that are not given are zero in
        rows that are made, and stay as they are in others. Raises TableFull."""
        self._reserve(len(rows.ids))
        first, width = self.rows, self.held.width
        self._index.admit(rows.ids, np.zeros(len(rows.ids), np.int64), mark=self._step)
        self._store.grow(self.rows)
        self._store.array[first : self.rows] = 0
        places = self._index.find(rows.ids)[0]
        there = places < first
        if self._rule.changes_idle_rows(self._penalties):
            self._catch_up(rows.ids[there], places[there])
        self._spare(places[there], rows.ids[there])
        self._store.array[places, :width] = rows.values
        if rows.slots and self._index.is_marked:  # a step has touched them
            self._index.remark(rows.ids, np.full(len(rows.ids), self._step))
        for part, name in enumerate(self._rule.slots, 1):
            if name in rows.slots:
                self._store.array[places, part * width : (part + 1) * width] = rows.slots[name]

    def peek(self, ids: np.ndarray) -> np.ndarray:
        """A copy, up to date, for a test: nothing is made, counted or changed; what has no row is zero."""
        return self._current(ids, self._index.find(ids)[0])

    def _current(self, ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
        out = self._taken(rows)
        if self._rule.changes_idle_rows(self._penalties):
            there = np.flatnonzero(rows != ABSENT)
            last_step = self._index.marks(ids[there])
            for here, values, slots in self._blocks(rows[there], written=False):
                self._make_up(values, slots, last_step[here])
                out[there[here]] = values
        return out

    def _taken(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), self.held.width), np.float32)
        interleaved.take(self._store.array, rows, out)
        return out

    def _admit(self, ids: np.ndarray) -> None:
        """See ``ids``, none of which has a row, and make the rows that this lets in."""
        self._reserve(len(ids))
        first, needed = self.rows, self._entry.needed(self._key, ids)
        born = self._index.admit(ids, needed, day=len(self._days), mark=self._step)
        if self._entry.kind != "always":
            self._enter(born)
        self._store.grow(self.rows)
        for begin in range(0, len(born), _CHUNK):
            part = born[begin : begin + _CHUNK]
            values = np.empty((len(part), self.held.width), np.float32)
            self._initial.fill(self._key, part, values)
            made = self._store.array[first + begin : first + begin + len(part)]
            made[:, : self.held.width] = values
            made[:, self.held.width :] = 0  # a row that was forgotten may have been here
            if self._counts is not None:
                self._counts.begin(made, self.held.width)

    def _enter(self, born: np.ndarray) -> None:
        """Rows of these ids are not shown in this step, but for those that enter at first sight."""
        late = born[self._entry.needed(self._key, born) > 1]
        if late.size:
            self._entered.append(late)

    def _reserve(self, more: int) -> None:
        """Take room for ``more`` rows. Raises TableFull."""
        store = (self.rows + more) * self._store.row_bytes
        self._room.take(self.name, self._index.bytes_for(more) + store)

    def apply(self, parts: Sequence[Rows], scale: np.float32 | None, learning_rate: float, step: int) -> None:
        """Apply the sum of ``parts``, times ``scale``, to the rows they name, which have been checked."""
        if step > MAX_MARK and self._index.is_marked:
            raise BadMessage(f"table {self.name!r}, without a declared height, counts steps up to {MAX_MARK}")
        rate = learning_rate * self._multiplier
        self._push(parts, None if self._counts is not None else scale, rate, step)
        self._step, self._settled = step, self.rows
        self._entered.clear()
        self._rates.add(rate)

    def _push(self, parts: Sequence[Rows], scale: np.float32 | None, rate: float, step: int) -> None:
        brought = self._asked.summed(parts)
        absent = self._touch(brought, scale, rate, step)
        if self._counts is not None:
            absent = absent[brought.gradient[absent].any(axis=1)]  # of what stands for no id
        if len(absent) and self._entry.kind == "always":
            self._admit(brought.ids[absent])
            self._touch(Brought(brought.ids[absent], None, brought.gradient[absent]), scale, rate, step)

    def _touch(self, brought: Brought, scale: np.float32 | None, rate: float, step: int) -> np.ndarray:
        """Apply the rule to those of the ids that have a row, so many at a time that what was asked for while
        they were looked up is still in the cache. Returns which have none."""
        (ids, known, gradient), absent, at_once = brought, [_NONE], self._block.shape[1]
        for begin in range(0, len(ids), at_once):
            here = slice(begin, begin + at_once)
            found = self._visit(ids[here], step) if known is None else (known[here], known[here], 0)
            rows, last_step, missing = found
            part = gradient[here]
            if missing:
                there = rows != ABSENT
                absent.append(begin + np.flatnonzero(~there))
                rows, last_step, part = rows[there], last_step[there], part[there]
            for frozen in self._frozen.now():
                frozen.spare(rows, last_step)
            self._update(rows, part if scale is None else part * scale, last_step, rate, step)
        return np.concatenate(absent)

    def _visit(self, ids: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray, int]:
        """The rows of ``ids``, the steps that last touched them, where they are counted, and how many are
        absent."""
        if self._index.is_marked:
            return self._index.visit(ids, step, self._store.array)
        rows, absent = self._index.find(ids, self._store.array)
        return rows, rows, absent

    def _update(
        self, rows: np.ndarray, gradient: np.ndarray, last_step: np.ndarray, rate: float, step: int
    ) -> None:
        """Apply the rule to a block of rows: where they are, if idle steps do not change them."""
        how = rate, self._penalties, step
        if self._rule.changes_idle_rows(self._penalties):
            for here, values, slots in self._blocks(rows):
                self._make_up(values, slots, last_step[here])
                order = self._order[: len(values)]
                self._rule.touch(values, order, gradient[here], slots, last_step[here], *how)
        else:
            values, *slots = views(self._store.array, self.held.width, self._parts)
            self._rule.touch(values, rows * self._parts, gradient, slots, last_step, *how)

    def _catch_up(self, ids: np.ndarray, rows: np.ndarray) -> None:
        """Bring rows, of ``ids``, up to date; ids may repeat."""
        behind = np.flatnonzero(np.abs(self._index.marks(ids)) < self._step)
        rows, once = np.unique(rows[behind], return_index=True)
        ids = ids[behind[once]]
        self._spare(rows, ids)
        last_step = self._index.marks(ids)
        for here, values, slots in self._blocks(rows):
            self._make_up(values, slots, last_step[here])
        self._index.remark(ids, last_step)

    def _spare(self, rows: np.ndarray, ids: np.ndarray) -> None:
        """Rows, of ``ids``, are about to change."""
        for frozen in self._frozen.now():
            frozen.spare(rows, self._index.marks(ids) if self._index.is_marked else rows)

    def _make_up(self, values: np.ndarray, slots: list[np.ndarray], last_step: np.ndarray) -> None:
        """Make up for the idle steps of rows that stand apart from the store."""
        self._rule.catch_up(values, None, slots, last_step, self._rates, self._penalties, self._step)

    def _blocks(
        self, rows: np.ndarray, *, written: bool = True
    ) -> Iterator[tuple[slice, np.ndarray, list[np.ndarray]]]:
        """``rows`` in blocks that fit in the cache: where a block is in ``rows``, its values and its slots.

        What the caller changes there is written back when the next block is asked for, if ``written``.
        """
        store, room = self._store.array, self._block.shape[1]
        for begin in range(0, len(rows), room):
            n = min(room, len(rows) - begin)
            interleaved.gather(store, rows, begin, self._block)
            values, *slots = (part[:n] for part in self._block)
            yield slice(begin, begin + n), values, slots
            if written:
                interleaved.scatter(store, rows, begin, self._block)

    def shrink(self, threshold: int) -> None:
        """End a day; forget what rule 3 says, and give its memory back."""
        for frozen in self._frozen.now():
            frozen.spare_all()
        self._days.append(self._step)
        self._index.keep_marks(self._settled, min(self._step, MAX_MARK))
        self._asked.clear()
        threshold, low = self._rule.fade(self._store.array[: self.rows], threshold)
        if (last_day := len(self._days) - threshold) >= 0 or low.any():
            mark = min(self._days[last_day], MAX_MARK) if last_day >= 0 else -1
            kept, numbers = self._index.retain(mark, last_day, low)
            interleaved.compact(self._store.array, kept, numbers)
            self._store.resize(self.rows)
            self._room.take(self.name, self.nbytes)

    def listed(self, after: int | None, most: int) -> TableRows:
        """At most ``most`` rows, up to date: the next ones after id ``after``, from the first where that is
        None. Whoever asks on has each row that was there all the while once; the table stays as it is."""
        ids, rows = self._index.scan(after, most)
        parts = self._store.array[rows].reshape(len(ids), self._parts, self.held.width)
        if self._rule.changes_idle_rows(self._penalties):
            last_step = self._index.marks(ids)
            for here, values, slots in self._blocks(rows, written=False):
                self._make_up(values, slots, last_step[here])
                parts[here] = np.stack([values, *slots], axis=1)
        values, *slots = np.ascontiguousarray(parts.transpose(1, 0, 2))
        return TableRows(ids, values, dict(zip(self._rule.slots, slots, strict=True)))

    def begin_after(self, steps: int) -> None:
        """Go on as if so many steps had been taken; to be called on a new table."""
        self._step, self._rates = steps, Rates(steps)

    def state(self) -> dict[str, np.ndarray]:
        """See :meth:`Tables.state` and the module's text; new arrays."""
        ids, last_step = self._index.by_row()
        if not self._index.is_marked:
            last_step[: self._settled], last_step[self._settled :] = self._step, -self._step
        shape = (len(ids), self._parts, self.held.width)
        values, *slots = self._store.array[: len(ids)].reshape(shape).transpose(1, 0, 2).copy()
        return {
            "ids": ids,
            "values": values,
            **slots_of(self._rule, slots),
            "last_step": last_step,
            **self._besides(),
        }

    def cut(self, room: CutRoom, worth_bytes: int) -> dict[str, Array]:
        """See :meth:`Tables.cut`."""
        room.take(_WAITING_BYTES * self.candidates)
        if room.copies and self.nbytes < worth_bytes:
            room.take(self.nbytes)
            return dict(self.state())
        frozen = FrozenTable(self._index, lambda: self._store.array, self._settled, self._step, room)
        self._frozen.add(frozen)
        return {**frozen.arrays(self.held.width, self._rule.slots), **self._besides()}

    def _besides(self) -> dict[str, np.ndarray]:
        """The state but for rows; new arrays."""
        candidates, seen, seen_on = self._index.candidates()
        return {
            "candidates": candidates,
            "seen": seen,
            "seen_on": seen_on,
            "entered": np.concatenate([_NONE, *self._entered]),
            "rates": self._rates.state(),
            "days": np.array(self._days, np.int64),
        }

    def restore(self, state: Mapping[str, Array], step: int) -> None:
        """See :meth:`Tables.restore`; to be called on a new table. Raises TableFull where it has no room."""
        taken, of_rows = taken_from(state, self.state(), self.held, self._rule.slots)
        self._days, self._step = taken["days"].tolist(), step
        self._rates = Rates.restored(taken["rates"])
        ids, candidates = taken["ids"], taken["candidates"]
        self._entered = [taken["entered"]] if len(taken["entered"]) else []
        self._reserve(len(ids) + len(candidates))
        rows = self._made(ids, taken["last_step"])
        self._store.resize(self.rows)
        width = self.held.width
        for part, array in enumerate(of_rows):
            put(array, self._store.array[:, part * width : (part + 1) * width], rows)
        self._index.admit(candidates, np.full(len(candidates), MAX_MARK, np.int64))
        if len(candidates):
            self._index.remark(candidates, taken["seen"])
            self._index.date(candidates, taken["seen_on"])

    def _made(self, ids: np.ndarray, last_step: np.ndarray) -> np.ndarray | None:
        """Make rows for ``ids``, those last that were made after the last step; where they are, None: in
        this order."""
        since, rows = last_step == -self._step, None
        self._settled = len(ids) - int(np.count_nonzero(since))
        if self._days:
            self._index.keep_marks(0, 0)
        if since[: self._settled].any():
            order = np.argsort(since, kind="stable")
            ids, last_step, rows = ids[order], last_step[order], np.argsort(order)
        self._index.admit(ids, np.zeros(len(ids), np.int64))
        if self.rows != len(ids):
            raise ValueError(f"ids of {self.name!r} has some more than once")
        if self._index.is_marked:
            self._index.remark(ids, last_step)
        return rows
