"""Sparse shard: a trainer's view of one that keeps rows of tables: what it is sent, and where answers go.

Both sides compute from placement.py which rows are whose. It must never know of another shard.

Guarantee: questions are asked by ``ask_...`` and answered by ``hear_...``, so that a caller can ask all
shards before it waits for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from paddle._engine.exchange import ParameterSpec, Past
from paddle._engine.rows import SparseRows, TableRows, put
from paddle._pserver.errors import BadMessage, NotCounted
from paddle._pserver.options import Role
from paddle._pserver.protocol.encoding import CodedRows
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.messages import (
    Answer,
    CountChanges,
    Export,
    Pull,
    PullChanges,
    PullRows,
    Push,
    Recall,
    Seed,
)
from paddle._pserver.protocol.placement import row_ranges
from paddle._pserver.protocol.portion import rows_at_once
from paddle._pserver.protocol.rounded import Rounded
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.trainer import past_told
from paddle._pserver.trainer.given import Arrays
from paddle._pserver.trainer.line import Line
from paddle._pserver.trainer.sieve import Sieve

_NONE = np.empty(0, np.int64)
_ROWS = 1 << 28  # of an open table that a trainer can hear of at once
_FIRST_ROWS = 1 << 12
"""Of an open table that are asked for first: an answer has room for all, though there may be few."""


class SparseShard:
    """A shard's rows of sparse tables. ``arrays``: the trainer's tables, of which answers update rows."""

    role: Role = "sparse"

    def __init__(self, line: Line, index: int, count: int) -> None:
        self.line, self.index, self.count = line, index, count
        self._wanted: list[np.ndarray] = []
        self._places: list[np.ndarray | slice] = []
        self._counts: list[int] = []
        self.has_more_changes = False  # than those that were counted last
        self._told = 0
        self._rounds = self._is_rounded = False

    def bind(self, parameters: Sequence[ParameterSpec], arrays: Arrays, wire: WireSpec) -> None:
        """Say what is trained, and where values live here."""
        self._arrays, self._rounds = arrays, wire.answers == "bfloat16"
        self._ranges = row_ranges(parameters, self.index, self.count)

    def remind(self, past: Past) -> Iterator[None]:
        """Say what the job goes on from, and pause before each answer."""
        yield from past_told.steps(self.line, past)
        for held in self._ranges:
            yield from past_told.of_table(self.line, held, past)

    def ask_slot(self, parameter: str, slot: str) -> None:
        """Ask for what the rule remembers of a table's rows."""
        self.line.send(Recall(parameter, slot), asking=f"what is remembered of {parameter!r}")

    def hear_slot(self, parameter: str, into: np.ndarray) -> None:
        """The answer: ``into``, in the table's shape, has the rows that live there."""
        (held,) = (held for held in self._ranges if held.parameter.name == parameter)
        rows = np.empty((held.count, held.width), np.float32)
        self.line.answer([bytes_of(rows)])
        into[held.rows] = rows

    def seed(self, values: Arrays) -> Iterator[None]:
        """Give the initial values, and pause before each answer."""
        if not any(held.count or held.parameter.is_open for held in self._ranges):
            self.line.send(Seed(), asking="to begin with no rows")
            yield
            self.line.answer()
        for held in self._ranges:
            if held.count or held.parameter.is_open:
                name = held.parameter.name
                rows = [] if held.parameter.is_open else [np.ascontiguousarray(values[name][held.rows])]
                self.line.send(
                    Seed(name), list(map(bytes_of, rows)), asking=f"to take initial rows of {name!r}"
                )
                yield
                self.line.answer()

    def ask_values(self) -> None:
        """Tell the shard that the trainer takes all values as they are now; see Mode.refreshed."""
        self.line.send(Pull(), asking="to note that this trainer is up to date")

    def ask_rows(self, asked: Sieve, *, peeks: bool = False) -> None:
        """Ask for those of the rows ``asked`` (per table, each once) that live there. ``peeks``: see
        PullRows."""
        self._wanted, self._places = [], []
        for held in self._ranges:
            ids = asked.ids.get(held.parameter.name, _NONE)
            mine = asked.positions(held) if len(ids) else _NONE
            self._wanted.append(np.array(ids[mine]))  # the caller may go on and change its own
            self._places.append(mine if held.parameter.is_open else self._wanted[-1])
        pull = PullRows(tuple(len(wanted) for wanted in self._wanted), peeks=peeks)
        self._is_rounded = self._rounds and not peeks
        self.line.send(pull, [bytes_of(wanted) for wanted in self._wanted], asking="for rows")

    def hear_rows(self, looked_up: Arrays | None = None) -> None:
        """The answer: the tables have these rows then, and ``looked_up`` those of open tables, in the places
        that their ids had. Where one shard has all of these they land there."""
        tables = {**self._arrays, **(looked_up or {})}
        rows = [
            tables[held.parameter.name]
            if isinstance(places, slice)
            else np.empty((len(wanted), held.width), np.float32)
            for wanted, places, held in zip(self._wanted, self._places, self._ranges, strict=True)
        ]
        into = [bytes_of(part) for part in rows]
        rounded = Rounded(into) if self._is_rounded else None
        self.line.answer(into if rounded is None else [rounded.into])
        if rounded is not None:
            rounded.widen()
        for places, held, part in zip(self._places, self._ranges, rows, strict=True):
            if len(part) and not isinstance(places, slice):
                put(tables[held.parameter.name], places, part)

    def export(self, name: str, slots: Sequence[str] = ()) -> Iterator[TableRows]:
        """All rows of an open table that live there, in pieces; with the ``slots`` of its rule, if told."""
        (width,) = (held.width for held in self._ranges if held.parameter.name == name)
        after: int | None = None
        most = min(_FIRST_ROWS, at_once := rows_at_once(width * (1 + len(slots))))
        while True:
            part = self._export(Export(name, most, after, bool(slots)), width, slots)
            if len(part.ids):
                yield part
            if len(part.ids) < most:
                return
            after, most = int(part.ids[-1]), at_once

    def _export(self, asked: Export, width: int, slots: Sequence[str]) -> TableRows:
        count, ids = np.zeros(1, np.int64), np.empty(asked.most, np.int64)
        parts = np.empty((1 + len(slots), asked.most, width), np.float32)
        self.line.send(asked, asking=f"for the rows of {asked.table!r}")
        self.line.answer([bytes_of(count), bytes_of(ids), bytes_of(parts)])
        found = max(0, min(int(count[0]), asked.most))
        values, *others = (part[:found].copy() for part in parts)
        return TableRows(ids[:found].copy(), values, dict(zip(slots, others, strict=True)))

    def ask_table(self, index: int, *, average: bool = False) -> None:
        """Ask for all rows of table number ``index`` that live there, or their averages."""
        name = self._ranges[index].parameter.name
        self.line.send(Pull(name, average), asking=f"for all rows of {name!r}")

    def hear_table(self, index: int, arrays: Arrays | None = None) -> None:
        """The answer: the table, the one in ``arrays`` where given, has these rows then."""
        held = self._ranges[index]
        table = (self._arrays if arrays is None else arrays)[held.parameter.name]
        rows = table if self.count == 1 else np.empty((held.count, held.width), np.float32)
        self.line.answer([bytes_of(rows)])
        if rows is not table:
            table[held.rows] = rows

    def ask_changes(self) -> None:
        """Ask how many rows were changed since the trainer last heard of them."""
        self.line.send(CountChanges(self._told), asking="how many rows were changed")

    def hear_count(self) -> None:
        """The answer; asks for these rows."""
        counts = np.zeros(len(self._ranges) + 1, np.int64)
        self.line.answer([bytes_of(counts)])
        *self._counts, more = counts.tolist()
        self.has_more_changes = bool(more)
        most = [_ROWS if held.parameter.is_open else held.count for held in self._ranges]
        if any(not 0 <= count <= limit for count, limit in zip(self._counts, most, strict=True)):
            raise BadMessage(f"{self.line.what} tells of {self._counts} changed rows: it has not so many")
        if more and not sum(self._counts):
            raise BadMessage(f"{self.line.what} tells of no changed rows, and of more to come")
        self.line.send(PullChanges(tuple(self._counts)), asking="for the rows that were changed")

    def hear_changes(self) -> dict[str, SparseRows]:
        """The answer: rows that live there and were changed; see ``has_more_changes``."""
        changed = {
            held.parameter.name: SparseRows(
                np.empty(count, np.int64), np.empty((count, held.width), np.float32), held.parameter.shape[0]
            )
            for held, count in zip(self._ranges, self._counts, strict=True)
        }
        parts = changed.values()
        try:
            self.line.answer([bytes_of(p.ids) for p in parts] + [bytes_of(p.values) for p in parts])
        except NotCounted:  # by a shard that went back to a snapshot in between
            self.ask_changes()
            self.hear_count()
            return self.hear_changes()
        self.line.client.let_go()  # they may be most of a table
        self._told += 1
        return changed

    def ask_push(self, push: Push, gradients: Mapping[str, CodedRows], sieve: Sieve, *, forms: bool) -> None:
        """Push those of the rows that live there; ``gradients`` are merged, their ids in ``sieve``.
        ``forms``: see DenseShard."""
        ids, values, told = [], [], []
        for held in self._ranges:
            gradient = gradients[held.parameter.name]
            told.append(gradient.form)
            mine = sieve.positions(held)
            ids.append(gradient.ids[mine])
            values.append(gradient.values[mine])
        counts = tuple(len(part) for part in ids)
        counted = replace(push, counts=counts, forms=tuple(told) if forms else ())
        body = [bytes_of(part) for part in (*ids, *values)]
        self.line.send(counted, body, asking=f"to take the gradient of step {push.step}")

    def hear_done(self) -> Answer:
        """The answer to a push, the end of a pass, or that."""
        return self.line.answer()
