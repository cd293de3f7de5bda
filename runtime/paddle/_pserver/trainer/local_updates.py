"""Local updates: a trainer applies the rule to parameters of its own, and meets the others every k_steps.

An Exchange between two others: ``own`` applies the rule here; ``center`` is what all share, to which shards
add what trainers moved. With N trainers, w a trainer's own parameters, c the center as it last knew it, and
r = delta_add_rate, one meeting is::

    geo               push (w - c) / N         w += what others have added to c since
    average           push r (w - c) / n       w = c             n: those that meet, who wait for each other
    elastic_average   push r (w - c) / N       w -= r (w - c) / N            (N, where they do not)

Of sparse tables a meeting is about the rows that batches touched since the last one, and about those that the
others have changed (changes.py). Of an open table a trainer has the rows that its batches have named: it
takes up a row as the center has it, and makes nothing of changes in rows that it has never met. The rule, its
state, its schedule and what becomes of idle rows are the trainer's own; what steps made of a row that they
passed by counts before the row is pushed, or becomes another.

Guarantee: what a trainer moved is in exactly one push. At the end of a pass, and when parameters are fetched,
the arrays hold the center's parameters, equal for all that end the pass; a trainer goes on from its own. What
is not pushed yet is pushed before, except for a fetch where trainers wait for each other: then the center is
the one of the last meeting. A trainer that leaves in order pushes it too, where nobody waits for anybody.

With a process that is killed its own part is lost: what it moved since the last meeting, and the state of its
rule. So where trainers wait for each other no process takes its place once it has pushed; elsewhere one does,
and begins with the center. A meeting is a push to the shards: what a trainer that is late, lost or repeats it
sees is what modes/synchronous.py or modes/asynchronous.py says of a push.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import ModeSpec, ParameterSpec, Past, StepReport, UpdateSpec
from paddle._engine.rows import OPEN, SparseRows, TableRows, each_once
from paddle._pserver.trainer.center import Center, Own, added, adding, is_mean

if TYPE_CHECKING:
    from paddle._pserver.tables.known_rows import KnownRows


class LocalUpdates:
    """See the module's text. ``trainers``: how many there are."""

    def __init__(self, center: Center, own: Own, mode: ModeSpec, trainers: int) -> None:
        self._center, self._own, self._mode = center, own, mode
        part = np.float32(1 / trainers)
        rate = np.float32(mode.delta_add_rate)
        self._share = part if mode.name == "geo" else rate if is_mean(mode) else rate * part
        self._pull = rate * part if mode.name == "elastic_average" else np.float32(0)
        self._mine: Mapping[str, np.ndarray] = {}
        self._shared: Mapping[str, np.ndarray] = {}
        self._heights: dict[str, int] = {}  # of sparse tables that have one
        self._rolling: set[str] = set()  # of these, where steps that pass a row by change it
        self._known: dict[str, KnownRows] = {}  # of open tables
        self._pushed: dict[str, np.ndarray] = {}  # rows of both, until what became of them is heard
        self._is_shown = False  # whether others see the center's
        self._touched: dict[str, list[np.ndarray]] = {}  # rows of open tables, since the last meeting
        self._marked: dict[str, np.ndarray] = {}  # the same of tables that have a height: whether each was
        # This trainer's own, while the center's are shown.
        self._aside: dict[str, np.ndarray | SparseRows] = {}
        self._steps = self._samples = 0
        self._report = StepReport(0)

    def start(
        self, parameters: Sequence[ParameterSpec], update: UpdateSpec, values: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        self._heights = {p.name: p.shape[0] for p in parameters if p.sparse and not p.is_open}
        self._known = _known([p for p in parameters if p.is_open])
        self._touched = {name: [] for name in self._known}
        self._marked = {name: np.zeros(height, np.bool_) for name, height in self._heights.items()}
        self._shared = self._center.start([added(p) for p in parameters], adding(update), values)
        self._center.fetch()
        self._mine = self._own.start(parameters, replace(update, average=None), self._shared)
        self._rolling = {name for name in self._heights if self._own.moves_idle_rows(name)}
        return self._mine

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """See Exchange."""
        self._resume()
        self._own.prefetch(rows)
        for name, ids in rows.items():
            self._marked[name][ids] = True

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        if training:
            self._resume()
            self._touch(ids)
            return self._own.lookup(ids, training=True)
        center = self._center.lookup(ids, training=False)
        if self._is_shown:
            return center
        own = self._own.lookup(ids, training=False)
        known = {name: self._known[name].has(wanted)[:, None] for name, wanted in ids.items()}
        return {name: np.where(known[name], own[name], center[name]) for name in ids}

    def _touch(self, ids: Mapping[str, np.ndarray]) -> None:
        """A batch uses these rows of open tables, each id once: take up those not met before."""
        for name, wanted in ids.items():
            self._touched[name].append(wanted.copy())
        fresh = {name: wanted[~self._known[name].has(wanted)] for name, wanted in ids.items()}
        fresh = {name: wanted for name, wanted in fresh.items() if len(wanted)}
        if fresh:
            for name, values in self._center.lookup(fresh, training=True).items():
                self._own.put(name, SparseRows(fresh[name], values, OPEN))
                self._known[name].put(fresh[name], values)

    def room(self) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        return self._own.room()

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        """See Exchange. ``rate``: of the trainer's own rule; shards add at rate 1."""
        self._resume()
        for name, gradient in gradients.items():
            if name in self._known and isinstance(gradient, SparseRows):
                self._touch({name: each_once(gradient.ids)})
        self._own.step(gradients, samples, rate=rate)
        for name, marked in self._marked.items():
            if isinstance(touched := gradients.get(name), SparseRows):
                marked[touched.ids] = True
        self._steps += 1
        self._samples += samples
        if self._steps == self._mode.k_steps:
            self._meet()
            return self._report
        return StepReport(self._report.version)

    # Meetings.

    def _meet(self) -> None:
        if self._mode.is_async and self._pull:
            self._look()
        pushed: dict[str, np.ndarray | SparseRows] = {}
        expected, room = {}, self._center.room()
        for name in self._known:
            pushed[name] = self._push_open_rows(name)
        for name in self._mine:
            if name in self._heights:
                pushed[name] = self._push_rows(name)
            else:
                moved = self._mine[name] - self._shared[name]
                self._mine[name][...] -= self._pull * moved
                moved *= self._share
                expected[name] = self._shared[name] + moved
                pushed[name] = np.negative(moved, out=room.get(name, moved))
        samples, self._samples, self._steps = self._samples, 0, 0
        self._report = self._center.step(pushed, samples)
        pushed.clear()  # what is heard now is as much again
        self._hear(expected)

    def _push_rows(self, name: str) -> SparseRows:
        mine, shared, marked = self._mine[name], self._shared[name], self._marked[name]
        ids = np.flatnonzero(marked)
        marked[ids] = False
        if name in self._rolling:
            self._own.prefetch({name: ids})
            self._pushed[name] = ids
        given = np.empty((len(ids), mine.shape[1]), np.float32)
        _drifts().give_up(mine, shared, ids, self._pull, self._share, given)
        return SparseRows(ids, given, self._heights[name])

    def _push_open_rows(self, name: str) -> SparseRows:
        known, touched = self._known[name], self._touched[name]
        ids = each_once(np.concatenate(touched)) if touched else np.empty(0, np.int64)
        touched.clear()
        mine, before = self._own_rows(name, ids), known.get(ids)
        moved = mine - before
        if self._pull:
            self._own.put(name, SparseRows(ids, mine - self._pull * moved, OPEN))
        moved *= self._share
        known.put(ids, before + moved)
        self._pushed[name] = ids
        return SparseRows(ids, np.negative(moved, out=moved), OPEN)

    def _own_rows(self, name: str, ids: np.ndarray) -> np.ndarray:
        return self._own.lookup({name: ids}, training=True)[name]

    def _look(self) -> None:
        """Hear of the center without a push."""
        expected = self._dense_center()
        self._center.pull()
        self._hear(expected)

    def _dense_center(self) -> dict[str, np.ndarray]:
        return {name: array.copy() for name, array in self._shared.items() if name not in self._heights}

    def _hear(self, expected: Mapping[str, np.ndarray]) -> None:
        """The dense center is up to date; it would be ``expected`` if nobody else had added to it."""
        for name, before in expected.items():
            self._mine[name][...] = self._moved_by(self._mine[name], before, self._shared[name])
        for changed in self._center.changes():
            self._follow(changed)
            del changed  # before as many more are received
        self._pushed.clear()

    def _follow(self, changed: Mapping[str, SparseRows]) -> None:
        """Some rows of the center are as told."""
        for name, rows in changed.items():
            if name in self._known:
                self._hear_open_rows(name, rows)
                continue
            mine, shared, ids, values = self._mine[name], self._shared[name], rows.ids, rows.values
            if len(ids) and not 0 <= ids.min() <= ids.max() < len(mine):
                raise ExchangeError(
                    f"a shard tells of changed rows of {name!r}, which has rows 0 to {len(mine) - 1}"
                )
            if name in self._rolling and self._mode.name != "elastic_average":
                is_news = self._is_news(name, rows, shared[ids])
                ids, values = ids[is_news], values[is_news]
                self._own.prefetch({name: ids})
            if self._mode.name == "geo":
                _drifts().follow(mine, shared, ids, values)
                continue
            if self._mode.name == "average":
                mine[ids] = values
            shared[ids] = values

    def _is_news(self, name: str, rows: SparseRows, before: np.ndarray) -> np.ndarray:
        """A shard that was started again tells of all rows. Those that are as they were are left alone: even
        to look at a row makes up for its idle steps, sooner than if nothing had happened."""
        changed: np.ndarray = (rows.values != before).any(axis=1)
        return changed | np.isin(rows.ids, self._pushed.get(name, rows.ids[:0]))

    def _hear_open_rows(self, name: str, rows: SparseRows) -> None:
        known = self._known[name]
        has = known.has(rows.ids)
        met = SparseRows(rows.ids[has], rows.values[has], OPEN)
        if self._mode.name == "elastic_average":
            known.put(met.ids, met.values)
            return
        is_news = self._is_news(name, met, known.get(met.ids))
        ids, values = met.ids[is_news], met.values[is_news]
        mine = self._moved_by(self._own_rows(name, ids), known.get(ids), values)
        self._own.put(name, SparseRows(ids, mine, OPEN))
        known.put(ids, values)

    def _moved_by(self, mine: np.ndarray, before: np.ndarray, center: np.ndarray) -> np.ndarray:
        """What the trainer's own parameters become by a center that was ``before``."""
        if self._mode.name == "geo":
            moved: np.ndarray = mine + (center - before)
            return moved
        return center if self._mode.name == "average" else mine

    # What others see.

    def begin_pass(self, pass_id: int) -> None:
        """See Exchange."""
        self._resume()
        self._center.begin_pass(pass_id)
        self._own.begin_pass(pass_id)

    def end_pass(self, pass_id: int) -> None:
        """See Exchange."""
        self._resume()
        self._flush()
        expected = self._dense_center()
        self._center.end_pass(pass_id)
        self._own.end_pass(pass_id)
        self._hear(expected)
        self._show()

    def fetch(self) -> None:
        """See Exchange."""
        self._resume()
        if not self._mode.is_in_step:
            self._flush()
            self._look()
        self._show()

    def export(self, name: str) -> SparseRows:
        """See Exchange. The center's; as ``fetch`` shows it, where that was just asked for."""
        if not self._mode.is_in_step and not self._is_shown:
            self._flush()
        return self._center.export(name)

    def go_on_from(self, past: Past) -> None:
        """See Remembering: rows are the center's, what a rule remembers each trainer's own."""
        self._own.go_on_from(replace(past, rows={}))
        self._center.go_on_from(
            Past(steps=past.steps, rows={n: _bare(rows) for n, rows in past.rows.items()})
        )

    @property
    def steps(self) -> int:
        """See Remembering. Those of this trainer's own rule."""
        return self._own.steps

    def remembered(self, parameter: str, slot: str) -> np.ndarray | None:
        """See Remembering. This trainer's own."""
        return self._own.remembered(parameter, slot)

    def rows_of(self, table: str) -> Iterator[TableRows]:
        """See Remembering. The center's, of which no rule remembers anything."""
        if not self._mode.is_in_step and not self._is_shown:
            self._flush()
        return self._center.rows_of(table)

    def shrink(self, threshold: int) -> None:
        """Raises ExchangeError: what the center forgets, trainers would go on to have."""
        raise ExchangeError(
            f"tables forget no rows in mode {self._mode.name}, where each trainer keeps rows of its own"
        )

    def averages(self) -> Mapping[str, np.ndarray]:
        """See Exchange. Those of the center."""
        return self._center.averages()

    def _flush(self) -> None:
        if self._steps:
            self._meet()

    def _show(self) -> None:
        """Let the arrays hold the center's parameters."""
        self._is_shown = True
        for name, mine in self._mine.items():
            shared = self._shared[name]
            if name in self._heights:
                ids, kept = _drifts().show(mine, shared)
                self._aside[name] = SparseRows(ids, kept, self._heights[name])
            else:
                self._aside[name] = mine.copy()
                mine[...] = shared

    def _resume(self) -> None:
        """Go on from this trainer's own."""
        self._is_shown = False
        for name, kept in self._aside.items():
            if isinstance(kept, SparseRows):
                self._mine[name][kept.ids] = kept.values
            else:
                self._mine[name][...] = kept
        self._aside.clear()

    def close(self, failure: str | None = None) -> None:
        """See Exchange."""
        try:
            if failure is None and not self._mode.is_in_step:
                self._flush()
        finally:
            self._own.close(failure)
            self._center.close(failure)


def _bare(rows: TableRows) -> TableRows:
    return TableRows(rows.ids, rows.values)


@cache
def _drifts() -> Any:
    from paddle._engine.kernels import drifts  # numba is loaded only where rows are met

    drifts.prepare()
    return drifts


def _known(tables: Sequence[ParameterSpec]) -> dict[str, KnownRows]:
    if not tables:
        return {}
    from paddle._pserver.tables.known_rows import KnownRows  # loads numba

    return {table.name: KnownRows(table.shape[1]) for table in tables}
