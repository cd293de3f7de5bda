"""Remote shards: one trainer's view of a dense and of a sparse shard: what it sends them and where answers
go.

Both compute from placement.py which values are whose. They must never know of each other.

Guarantee: questions are asked by ``ask_...`` and answered by ``hear_...``, so that a caller can ask all
shards before it waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from paddle._engine.exchange import ParameterSpec, Past
from paddle._engine.rows import SparseRows, TableRows, put
from paddle._pserver.errors import BadMessage, NotCounted
from paddle._pserver.options import Role
from paddle._pserver.protocol.ahead import Due
from paddle._pserver.protocol.encoding import Coded, CodedRows, Slices, slices_by_parameter
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.landing import Landing
from paddle._pserver.protocol.messages import (
    Answer,
    CountChanges,
    Export,
    Part,
    Pull,
    PullChanges,
    PullRows,
    Push,
    Recall,
    Remind,
    Seed,
)
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from paddle._pserver.protocol.portion import rows_at_once
from paddle._pserver.protocol.rounded import Rounded
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.trainer import past_told
from paddle._pserver.trainer.handed import SMALL_BYTES
from paddle._pserver.trainer.line import Line
from paddle._pserver.trainer.question import ReplyBytes, Short
from paddle._pserver.trainer.sieve import Sieve

Arrays = Mapping[str, np.ndarray]
_NONE = np.empty(0, np.int64)
_ROWS = 1 << 28  # of an open table that a trainer can hear of at once
_FIRST_ROWS = (
    1 << 12
)  # of an open table that are asked for first: an answer is as long as many, if they are few


class DenseShard:
    """A shard's blocks of dense parameters. ``arrays``: the trainer's parameters, which answers update."""

    role: Role = "dense"

    def __init__(self, line: Line, index: int, count: int) -> None:
        self.line, self.index, self.count = line, index, count
        self.layout = dense_layout((), index, count)
        self.bytes_per_value = 4  # in the answer to a push
        self._held: list[Slices] = []  # of each of the layout's segments
        self._gradients: Mapping[str, Coded] = {}  # that were pushed last
        self._pushed: tuple[list[memoryview], list[int]] = [], []  # and the parts of them
        self._rounded: Rounded | None = None
        self._into: list[memoryview] = []

    def bind(
        self, parameters: Sequence[ParameterSpec], arrays: Arrays, wire: WireSpec, *, whole: bool
    ) -> None:
        """Say what is trained, and where values live here. ``whole``: see dense_layout."""
        self.layout = dense_layout(parameters, self.index, self.count, whole=whole)
        self._held = slices_by_parameter(self.layout.slices)
        self._into = self._cut({name: bytes_of(array) for name, array in arrays.items()})
        self._rounded = Rounded(self._into) if wire.answers == "bfloat16" else None
        self.bytes_per_value = 4 if self._rounded is None else 2
        size = self.layout.size
        self.line.reply_bytes = ReplyBytes(to_push=self.bytes_per_value * size, to_end=4 * size)

    def remind(self, past: Past) -> Iterator[None]:
        """Say what the job goes on from, and pause before each answer."""
        yield from past_told.steps(self.line, past)
        for held in self._held:
            for slot, value in past.slots.get(held.name, {}).items():
                flat = bytes_of(value)
                body = [flat[4 * start : 4 * stop] for start, stop in held.bounds]
                yield from past_told.told(self.line, Remind(parameter=held.name, slot=slot), body)

    def ask_slot(self, parameter: str, slot: str) -> None:
        """Ask for what the rule remembers of a parameter."""
        self.line.send(Recall(parameter, slot), asking=f"what is remembered of {parameter!r}")

    def hear_slot(self, parameter: str, into: np.ndarray) -> None:
        """The answer: ``into``, in the parameter's shape, has what lives there."""
        flat = bytes_of(into)
        mine = [held for held in self._held if held.name == parameter]
        self.line.answer([flat[4 * start : 4 * stop] for held in mine for start, stop in held.bounds])

    def seed(self, values: Arrays) -> Iterator[None]:
        """Give the initial values, and pause before each answer."""
        body = self._cut({name: bytes_of(value) for name, value in values.items()})
        self.line.send(Seed(), body, asking="to take initial values")
        yield
        self.line.answer()

    def ask_values(self, *, average: bool = False) -> None:
        """Ask for all values, or their averages."""
        self.line.send(Pull(average=average), asking="for all values")

    def hear_averages(self, arrays: Arrays) -> None:
        """The answer to a pull of averages: ``arrays`` have them then."""
        self.line.answer(self._cut({name: bytes_of(array) for name, array in arrays.items()}))

    def tell_part(self, due: Due, way: object, gradients: Mapping[str, Coded]) -> None:
        """Send a part ahead of the push."""
        views = self._parts(gradients, due)[0]
        part = Part(due.number, due.segments)
        self.line.tell(way, part, views, asking="to take a part of a gradient")

    def ask_push(
        self,
        push: Push,
        gradients: Mapping[str, Coded],
        *,
        forms: bool,
        is_in_room: bool = False,
        told: tuple[Due, object] | None = None,
    ) -> None:
        """Push the shard's part of ``gradients``; ``forms``: and their forms; ``is_in_room``: see Line.
        ``told``: what is lacking where some of it was told ahead, and on which connection."""
        body, forms_told = self._pushed if gradients is self._gradients else self._parts(gradients)
        if 4 * self.layout.size <= SMALL_BYTES:
            self._gradients, self._pushed = gradients, (body, forms_told)
        if push.shrink:
            push = replace(push, shrink=0)  # there are no tables
        short = None
        if told is not None and told[0].number:
            rest, way = told
            short = Short(way, replace(push, parts=rest.number), self._parts(gradients, rest)[0])
        whole = replace(push, forms=tuple(forms_told)) if forms else push
        asking = f"to take the gradient of step {push.step}"
        self.line.send(whole, body, asking=asking, short=short, is_in_room=is_in_room)

    def hear_values(self) -> Answer:
        """The answer to a pull or the end of a pass: the arrays are up to date then."""
        return self.line.answer(self._into)

    def landing(self, on_more: Callable[[], None]) -> Landing:
        """Where the answer to the next push lands; the arrays are up to date as far as it has landed."""
        if self._rounded is None:
            return Landing(self._into, on_more)
        return self._rounded.landing(on_more)

    def hear_pushed(self, landing: Landing) -> Answer:
        """The answer to a push: the arrays are up to date then, in the numbers in which answers travel."""
        answer = self.line.answer(landing=landing)
        if self._rounded is not None:
            self._rounded.widen()
        return answer

    def _cut(self, whole: Mapping[str, memoryview]) -> list[memoryview]:
        return [whole[held.name][4 * start : 4 * stop] for held in self._held for start, stop in held.bounds]

    def _parts(
        self, gradients: Mapping[str, Coded], due: Due | None = None
    ) -> tuple[list[memoryview], list[int]]:
        """The bytes that are for the shard, and their forms; of what is ``due`` only, where that is told."""
        held = self._held if due is None else [self._held[index] for index in due.segments]
        body: list[memoryview] = []
        forms: list[int] = []
        for each in held:
            views, form = gradients[each.name].part(each)
            body += views
            forms.append(form)
        return body, forms


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
        counted = msgspec.structs.replace(push, counts=counts, forms=tuple(told) if forms else ())
        body = [bytes_of(part) for part in (*ids, *values)]
        self.line.send(counted, body, asking=f"to take the gradient of step {push.step}")

    def hear_done(self) -> Answer:
        """The answer to a push, the end of a pass, or that."""
        return self.line.answer()
