"""LocalExchange: training in one process. One shard keeps everything, and no byte travels.

It calls the same Shard that a pserver calls, with arrays that both sides share: the parameters that ``start``
returns are the shard's own values, and it reads gradients where the caller computed them.

Guarantee: a job with one trainer and any number of pservers gives the same bits.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from paddle._engine.arena import zeros
from paddle._engine.exchange import ModeSpec, ParameterSpec, Past, StepReport, UpdateSpec
from paddle._engine.memory import ALIGNMENT
from paddle._engine.rates import moved
from paddle._engine.rows import SparseRows, TableRows
from paddle._engine.rules import rule_of
from paddle._pserver.errors import error_named
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Answer,
    Declare,
    EndPass,
    Failure,
    Goodbye,
    Hello,
    Push,
    Remind,
    Request,
    Seed,
)
from paddle._pserver.protocol.portion import rows_at_once
from paddle._pserver.shard.effects import Note, Send
from paddle._pserver.shard.shard import Shard
from paddle._pserver.tables.gradient import MOVED, NOTHING, Gradient, Rows
from paddle._pserver.tables.tables import Tables
from paddle._pserver.trainer import given

_SESSION = 1
_log = logging.getLogger("paddle.trainer")


class LocalExchange:
    """The :class:`paddle._engine.exchange.Exchange` of a job without pservers."""

    def __init__(self) -> None:
        self._shard = Shard(ShardOptions())
        self._declared: Tables | None = None
        self._parameters: Sequence[ParameterSpec] = ()
        self._names: Set[str] = frozenset()
        self._update: UpdateSpec | None = None
        self._room = np.empty(0, np.float32)
        self._rooms: Mapping[str, np.ndarray] = {}
        self._lent: Mapping[str, float] = {}
        self._seen: Mapping[str, object] | None = None
        self._given = NOTHING
        self._steps = self._pass_id = self._shrink = 0
        self._past = Past()
        self._closed = False

    def go_on_from(self, past: Past) -> None:
        """See Remembering."""
        self._past = past

    def _remind(self, past: Past) -> None:
        """Before the shard has its initial values, unless open tables are all that it has."""
        for name, slots in past.slots.items():
            for slot, value in slots.items():
                if (part := self._tables.slot(name, slot)) is not None:
                    part[...] = value.reshape(part.shape)
        if past.steps and not self._shard.ready:
            self._ask(Remind(past.steps))
        elif past.steps:
            self.count_from(past.steps)
        for name, rows in past.rows.items():
            self._tables.open_table(name).take(rows)
        self._past = Past()

    def start(
        self, parameters: Sequence[ParameterSpec], update: UpdateSpec, values: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        given.check_values(values, parameters)
        self._parameters, self._update = tuple(sorted(parameters, key=_breaks_lines)), update
        self._names = {parameter.name for parameter in parameters}
        self._ask(Hello(PROTOCOL, 0, 1, "dense"))
        # One trainer: there is nobody to wait for, and none whose commits make a gradient old.
        self._ask(Declare(self._parameters, replace(update, mode=ModeSpec()), 0, 1))
        self._declared = self._shard.tables
        arrays = self._arrays()
        for name, array in arrays.items():
            array[...] = values[name]
        self._remind(self._past)
        for part in (None, *self._tables.rows):
            if not self._shard.ready:
                self._ask(Seed(part))
        self._room = zeros(self._tables.values.shape)
        self._rooms = self._cut(self._room)
        self._lent = self._tables.plain()
        return arrays

    @property
    def _tables(self) -> Tables:
        assert self._declared is not None  # Declare was answered
        return self._declared

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {name: table.values for name, table in self._tables.packed.items()}
        return arrays | self._cut(self._tables.values)

    def _cut(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """The dense parameters in the shard's flat ``values``."""
        segments = self._tables.layout.segments
        return {s.parameter.name: values[s.span].reshape(s.parameter.shape) for s in segments}

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """See Exchange."""
        for name, ids in rows.items():
            self._tables.table(name).refresh(given.ids(name, ids).reshape(-1))

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        given.open_tables(ids, self._parameters)
        tables = {name: self._tables.open_table(name) for name in ids}
        return {name: t.gather(ids[name]) if training else t.peek(ids[name]) for name, t in tables.items()}

    def room(self) -> Mapping[str, np.ndarray]:
        """See Exchange. The shard reads gradients wherever they are; those that lie as its values do it
        applies all at once."""
        return self._rooms

    def live(self) -> Mapping[str, np.ndarray]:
        """What the rule remembers of each parameter that is an array, live: ``slot NAME/PARAMETER``; of a
        table's rows it is up to date after ``fetch``."""
        assert self._update is not None
        found = {
            f"slot {slot}/{each.name}": self._tables.slot(each.name, slot)
            for each in self._parameters
            for slot in rule_of(each, self._update).slots
        }
        return {name: array for name, array in found.items() if array is not None}

    @property
    def steps(self) -> int:
        """How many steps were applied, counted from where it went on."""
        return self._shard.clocks.version

    def count_from(self, steps: int) -> None:
        """Count as if so many steps had been applied: what the rule remembers is of these."""
        self.fetch()
        state = {name: array.copy() for name, array in self._tables.state().items()}
        for name, array in state.items():
            if name.startswith("rates/"):
                state[name] = moved(array, steps - self.steps)
            elif name.startswith("last_step/"):
                array[...] = steps
        self._tables.restore(state, steps)
        self._shard.clocks.version = steps

    def lent(self) -> Mapping[str, float]:
        """See Lending."""
        return self._lent

    def rate(self, samples: int) -> float:
        """See Lending."""
        clocks = self._shard.clocks
        passes = max(clocks.passes_over, self._pass_id)
        return self._tables.rate(samples=clocks.samples + samples, passes=passes, step=clocks.version + 1)

    def step(self, gradients: given.Gradients, samples: int, *, rate: float | None = None) -> StepReport:
        """See Exchange."""
        rate = None if rate is None else given.rate(rate)
        gradient = self._given if self._has_seen(gradients) else self._look_at(gradients)
        count, tables = given.count(samples, "samples"), self._declared
        assert tables is not None  # Declare was answered
        if tables.open or self._closed:
            push = Push(self._steps + 1, self._pass_id, count, shrink=self._shrink, rate=rate)
            self._ask(push, gradient)
            self._shrink = 0
        else:
            self._apply(tables, gradient, count, rate)
        self._steps += 1
        return StepReport(self._shard.clocks.version)

    def _apply(self, tables: Tables, gradient: Gradient, samples: int, rate: float | None) -> None:
        """What the shard does with the push of a trainer that nobody waits for, and that waits for nobody:
        of a small model all the rest would be most of a step."""
        clocks = self._shard.clocks
        if tables.rows:
            for table, rows in zip(tables.rows.values(), gradient.rows, strict=True):
                table.check(rows.ids)
        clocks.admit(0, self._steps + 1)
        clocks.apply(samples, self._pass_id)
        tables.apply(
            (gradient,), samples=clocks.samples, passes=clocks.passes_over, step=clocks.version, rate=rate
        )
        clocks.decide(0, dropped=False)

    def _look_at(self, gradients: given.Gradients) -> Gradient:
        """Gradients as a shard takes them. They are looked at once: a plan hands over the same arrays at
        every step."""
        given.check_names(gradients, self._names)
        dense = [self._dense(gradients, each) for each in self._parameters if not each.sparse]
        found = [given.rows(gradients, each) for each in self._parameters if each.sparse]
        rows = [Rows(each.ids, each.values) for each in found]
        is_whole = all(gradients.get(name) is room for name, room in self._rooms.items())
        self._seen = dict(gradients)
        self._given = Gradient(dense, rows, self._room if is_whole else None)
        return self._given

    def _has_seen(self, gradients: given.Gradients) -> bool:
        if self._seen is None:
            return False
        for name, array in self._seen.items():
            if gradients.get(name) is not array:
                return False
        return len(gradients) == len(self._seen)

    def _dense(self, gradients: given.Gradients, parameter: ParameterSpec) -> np.ndarray:
        if parameter.name in self._lent and parameter.name not in gradients:
            return MOVED
        return given.flat(gradients, parameter)

    def begin_pass(self, pass_id: int) -> None:
        """See Exchange."""
        self._pass_id = given.count(pass_id, "passes")

    def end_pass(self, pass_id: int) -> None:
        """See Exchange."""
        self._ask(EndPass(given.count(pass_id, "passes"), shrink=self._shrink))
        self._shrink = 0

    def fetch(self) -> None:
        """See Exchange. What is dense always is up to date here."""
        for table in self._tables.packed.values():
            table.refresh()

    def put(self, name: str, rows: SparseRows) -> None:
        """Give rows of an open table, each id once, other values; what their rule remembers stays."""
        self.take(name, TableRows(rows.ids, rows.values))

    def take(self, name: str, rows: TableRows) -> None:
        """Have these rows of an open table; see HashTable."""
        self._tables.open_table(name).take(rows)

    def moves_idle_rows(self, table: str) -> bool:
        """See Own."""
        return self._tables.table(table).moves_idle_rows

    def remembered(self, parameter: str, slot: str) -> np.ndarray | None:
        """See Remembering."""
        shape = next((p.shape for p in self._parameters if p.name == parameter and not p.is_open), None)
        found = self._tables.slot(parameter, slot, current=True)
        return None if found is None or shape is None else found.reshape(shape)

    def rows_of(self, table: str) -> Iterator[TableRows]:
        """See Remembering."""
        after, most = None, rows_at_once(self._tables.open_table(table).held.width)
        while len((part := self._tables.open_table(table).listed(after, most)).ids):
            yield part
            after = int(part.ids[-1])

    def export(self, name: str) -> SparseRows:
        """See Exchange."""
        return self._tables.open_table(name).listed(None, 1 << 62).sorted()

    def shrink(self, threshold: int) -> None:
        """See Exchange."""
        given.check_threshold(threshold)
        self._shrink = threshold

    def averages(self) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        given.check_averaged(self._update)
        averages = {name: table.average() for name, table in self._tables.packed.items()}
        return averages | self._cut(self._tables.averages())

    def close(self, failure: str | None = None) -> None:
        """See Exchange. One that was never started has nobody to say goodbye to; a failure is no news."""
        if not self._closed and self._update is not None:
            self._shard.handle(_SESSION, Goodbye(failure), now=0.0)
        self._closed = True

    def _ask(self, message: Request, gradient: Gradient = NOTHING) -> Answer:
        answer = Answer(0)
        for effect in self._shard.handle(_SESSION, message, gradient, now=0.0):
            if isinstance(effect, Send):
                if isinstance(effect.message, Failure):
                    raise error_named(effect.message.code, effect.message.text)
                if isinstance(effect.message, Answer):
                    answer = effect.message
            elif isinstance(effect, Note) and effect.level > logging.INFO:
                _log.log(effect.level, effect.text)
        return answer


def _breaks_lines(parameter: ParameterSpec) -> bool:
    """Behind another one the next in the shard's flat array begins within a cache line: these come last."""
    return parameter.size * np.dtype(np.float32).itemsize % ALIGNMENT != 0
