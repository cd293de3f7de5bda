"""HashTable: rows of a sparse table whose ids are any int64, made when they are first asked for.

An index says which row an id has (hash_index.py); a store keeps each row's values and slots side by side, in
pages that are never copied (pages.py). It must never know who sent a gradient or when a step is due.

1.  A row is made by the first pull or push that names its id, with the values that its initializer gives for
    this id, and is idle (see paddle._engine.rules.rule) only in steps after that. Where idle rows do not
    change, it is as if all rows had been there from the beginning: without an entry policy, the table equals
    a packed one with the same first values, bit for bit.
2.  With an entry policy an id has no row until it has entered (paddle._engine.entry): pulls count and answer
    zeros, pushes are ignored.
3.  ``shrink`` ends a day, and forgets rows that were neither made nor pushed in the last ``threshold`` days,
    and candidates not seen in them. Days of rows are counted in steps: one made before the first step of a
    day belongs to it. (PaddlePaddle's shrink, which goes by pulls, as this does where idle rows change; decay
    by shows and clicks is not here.) A forgotten row that is asked for again begins anew.

Guarantee: values, state and what is exported do not depend on the number of shards, nor on the order of ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paddle._engine.entry import Entry
from paddle._engine.exchange import UpdateSpec
from paddle._engine.kernels import interleaved
from paddle._engine.penalties import penalties
from paddle._engine.rates import Rates
from paddle._engine.row_initial import RowInitial, row_key
from paddle._engine.rules import rule
from paddle._pserver.errors import BadMessage
from paddle._pserver.gradient import Rows
from paddle._pserver.hash_index import ABSENT, MAX_MARK, HashIndex
from paddle._pserver.pages import Pages
from paddle._pserver.placement import RowRange

_BLOCK_VALUES = 1 << 15  # a block, its gradient and its rows together fit in a core's own cache
_GROWTH = 1.25
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class RowBlock:
    """All about some rows: ``ids`` int64 (n,); ``parts`` float32 (1 + slots, n, width), values first.

    ``last_step``: int64 (n,), the step that last touched each row, or minus the one with which a row was made
    or caught up that none has touched.
    """

    ids: np.ndarray
    parts: np.ndarray
    last_step: np.ndarray


class HashTable:
    """See the module's text. ``initial`` and ``entry`` are the same on all shards, and so is ``seed``."""

    def __init__(
        self,
        held: RowRange,
        update: UpdateSpec,
        *,
        initial: RowInitial | None = None,
        entry: Entry | None = None,
        seed: int = 0,
    ) -> None:
        parameter = held.parameter
        self.held = held
        self._rule, self._penalties = rule(update.rule, parameter.momentum), penalties(parameter, update)
        self._multiplier = parameter.learning_rate
        self._initial, self._entry = initial or RowInitial(), entry or Entry()
        self._key = row_key(seed, parameter.name)
        self._parts = 1 + len(self._rule.slots)
        self._index = HashIndex()
        self._store = Pages(np.float32, self._parts * held.width, 1)
        room = max(32, _BLOCK_VALUES // held.width)
        self._block = np.empty((self._parts, room, held.width), np.float32)
        self._order = np.arange(room)
        self._rates, self._step = Rates(), 0
        self._days: list[int] = []  # the step with which each day ended

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._index.rows

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
        if not self.held.pick(ids).all():
            raise BadMessage(f"an id of {self.held.parameter.name!r} belongs to another shard")

    def gather(self, ids: np.ndarray) -> np.ndarray:
        """A copy of the values of rows ``ids``, which have been checked, for training: up to date, made where
        there is none (rules 1 and 2)."""
        rows, absent = self._index.find(ids)
        if absent:
            missing = rows == ABSENT
            self._admit(ids[missing])
            rows[missing] = self._index.find(ids[missing])[0]
        if self._rule.changes_idle_rows(self._penalties):
            self._catch_up(ids[rows != ABSENT], rows[rows != ABSENT])
        return self._taken(rows)

    def peek(self, ids: np.ndarray) -> np.ndarray:
        """A copy as it is, for inference: nothing is made or counted, and what has no row is zero."""
        return self._taken(self._index.find(ids)[0])

    def _taken(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), self.held.width), np.float32)
        interleaved.take(self._store.array, rows, out)
        return out

    def _admit(self, ids: np.ndarray) -> None:
        """See ``ids``, none of which has a row, and make the rows that this lets in."""
        self._make(self._entry.needed(self._key, ids), ids)

    def _make(self, needed: np.ndarray, ids: np.ndarray) -> None:
        first = self.rows
        born = self._index.admit(ids, needed, day=len(self._days), mark=self._step)
        if self.rows > len(self._store.array):
            self._store.resize(max(self.rows, int(len(self._store.array) * _GROWTH)))
        for begin in range(0, len(born), _CHUNK):
            part = born[begin : begin + _CHUNK]
            values = np.empty((len(part), self.held.width), np.float32)
            self._initial.fill(self._key, part, values)
            made = self._store.array[first + begin : first + begin + len(part)]
            made[:, : self.held.width] = values
            made[:, self.held.width :] = 0  # a row that was forgotten may have been here

    def apply(self, parts: Sequence[Rows], scale: np.float32 | None, learning_rate: float, step: int) -> None:
        """Apply the sum of ``parts``, times ``scale``, to the rows they name, which have been checked."""
        if step > MAX_MARK:
            raise BadMessage(f"a table without a declared height counts steps up to {MAX_MARK}")
        rate = learning_rate * self._multiplier
        self._push(parts, scale, rate, step)
        self._step = step
        self._rates.add(rate)

    def _push(self, parts: Sequence[Rows], scale: np.float32 | None, rate: float, step: int) -> None:
        ids, gradient = _sum(parts)
        rows, last_step, absent = self._index.visit(ids, step)
        if absent:
            missing = rows == ABSENT
            if self._entry.kind == "always":
                self._admit(ids[missing])
                rows[missing], last_step[missing], _ = self._index.visit(ids[missing], step)
            else:
                rows, last_step, gradient = rows[~missing], last_step[~missing], gradient[~missing]
        if scale is not None:
            gradient = gradient * scale
        for here, values, slots in self._blocks(rows):
            last = last_step[here]
            self._make_up(values, slots, last)
            order = self._order[: len(values)]
            self._rule.rows(values, order, gradient[here], slots, last, rate, self._penalties, step)

    def _catch_up(self, ids: np.ndarray, rows: np.ndarray) -> None:
        """Bring rows, of ``ids``, up to date; ids may repeat."""
        behind = np.flatnonzero(np.abs(self._index.marks(ids)) < self._step)
        rows, once = np.unique(rows[behind], return_index=True)
        ids = ids[behind[once]]
        last_step = self._index.marks(ids)
        for here, values, slots in self._blocks(rows):
            self._make_up(values, slots, last_step[here])
        self._index.remark(ids, last_step)

    def _make_up(self, values: np.ndarray, slots: list[np.ndarray], last_step: np.ndarray) -> None:
        """Make up for the idle steps of rows that stand apart from the store."""
        self._rule.catch_up(values, None, slots, last_step, self._rates, self._penalties, self._step)

    def _blocks(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray, list[np.ndarray]]]:
        """``rows`` in blocks that fit in the cache: where a block is in ``rows``, its values and its slots.

        What the caller changes there is written back when the next block is asked for.
        """
        store, room = self._store.array, self._block.shape[1]
        for begin in range(0, len(rows), room):
            n = min(room, len(rows) - begin)
            interleaved.gather(store, rows, begin, self._block)
            values, *slots = (part[:n] for part in self._block)
            yield slice(begin, begin + n), values, slots
            interleaved.scatter(store, rows, begin, self._block)

    def shrink(self, threshold: int) -> int:
        """End a day; forget what rule 3 says, and give its memory back. Returns how many rows are left."""
        if threshold < 1:
            raise ValueError(f"rows can be forgotten after one day or more, and not after {threshold}")
        self._days.append(self._step)
        if len(self._days) >= threshold:
            last_day = len(self._days) - threshold
            kept, numbers = self._index.retain(min(self._days[last_day], MAX_MARK), last_day)
            interleaved.compact(self._store.array, kept, numbers)
            self._store.resize(self.rows)
        return self.rows

    def export(self, chunk: int = _CHUNK, *, up_to_date: bool = False) -> Iterator[RowBlock]:
        """All rows by ascending id, ``chunk`` at a time; nothing may change the table in between.

        As they are, from which a table goes on bit for bit; ``up_to_date``: as a pull would bring them, for
        people. The table itself stays as it is.
        """
        ids = self._index.ids()
        for begin in range(0, len(ids), chunk):
            some = ids[begin : begin + chunk]
            parts = np.empty((self._parts, len(some), self.held.width), np.float32)
            interleaved.gather(self._store.array, self._index.find(some)[0], 0, parts)
            last_step = self._index.marks(some)
            if up_to_date:
                self._make_up(parts[0], list(parts[1:]), last_step)
            yield RowBlock(some, parts, last_step)

    def load(self, block: RowBlock) -> None:
        """Put rows in as they were exported, each id once; those that are there already are replaced."""
        missing = self._index.find(block.ids)[0] == ABSENT
        self._make(np.zeros(np.count_nonzero(missing), np.int64), block.ids[missing])
        interleaved.scatter(self._store.array, self._index.find(block.ids)[0], 0, block.parts)
        self._index.remark(block.ids, block.last_step)

    @property
    def rates(self) -> np.ndarray:
        """What ``resume`` needs to know of the learning rates so far."""
        return self._rates.state()

    def resume(self, step: int, rates: np.ndarray) -> None:
        """Go on after update number ``step``; to be called before anything is loaded."""
        self._step, self._rates = step, Rates.restored(rates)

    def export_candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """The ids that have not entered, ascending, and how often each was seen; both int64."""
        ids = self._index.ids(candidates=True)
        return ids, self._index.marks(ids)

    def load_candidates(self, ids: np.ndarray, seen: np.ndarray) -> None:
        """Put candidates in as they were exported, each id once, into a table that has none of the ids."""
        never = np.full(len(ids), MAX_MARK, np.int64)
        self._index.admit(ids, never, day=len(self._days))
        self._index.remark(ids, seen)


def _sum(parts: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, and the sum of its rows in order of occurrence."""
    ids = parts[0].ids if len(parts) == 1 else np.concatenate([part.ids for part in parts])
    values = parts[0].values if len(parts) == 1 else np.concatenate([part.values for part in parts])
    if (ids[1:] > ids[:-1]).all():
        return ids, values
    place, found = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    scratch = np.empty(2 << (len(ids) - 1).bit_length(), np.int32)
    count = interleaved.distinct(ids, scratch, place, found)
    if count == len(ids):
        return ids, values
    total = np.empty((count, values.shape[1]), np.float32)
    interleaved.sums(place, values, total)
    return found[:count], total
