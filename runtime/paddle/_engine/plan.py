"""A plan: one program made ready for feeds of known shapes and a known list of fetches.

Making it costs; running it does not: every variable has its array, every operator is bound to arrays, and
a run is feeding, calling the steps in order, and copying out what is fetched. It must never know how
often it runs.

Guarantees: a run works in memory laid out beforehand; arrays that leave the plan (to an exchange) are
the same ones on every run; ids are checked against their tables before anything is computed or prefetched
with them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from paddle._engine.arena import Arena
from paddle._engine.errors import FeedError
from paddle._engine.exchange import Lending, Stepping
from paddle._engine.fixed import fixed_of, is_open, leaving
from paddle._engine.forms import forms_of
from paddle._engine.layout import Layout
from paddle._engine.open_rows import OpenRows
from paddle._engine.overlap import overlap_of
from paddle._engine.passes import Improved, improve
from paddle._engine.passes.setting import Setting
from paddle._engine.program import Form, Operator, Program, Shape
from paddle._engine.registry import Run, Step, Value
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope
from paddle._engine.teams.crew import Crew
from paddle._engine.teams.joint import Joining

Look: TypeAlias = Callable[[Mapping[str, Value]], None]
"""Looks at what an operator has written, by variable."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Plan:
    """What a run does, in this order: ``feeds``, ``checks``, prefetch of ``lookups`` and lookup in ``open``
    tables, ``steps``, ``lasts``, ``fetches``.

    ``generation``: that of ``scope``, whose arrays the steps are bound to, as they are to the arena's
    ``memory``; the plan is void when either is replaced. ``trains``: it ends in an exchange. ``forms``,
    ``layout``, ``setting`` and what passes ``improved`` are how it came about.
    """

    scope: Scope
    generation: int
    memory: np.ndarray
    trains: bool
    run: Run
    feeds: Mapping[str, np.ndarray]
    checks: Sequence[Step]
    lookups: Mapping[str, Sequence[np.ndarray]]
    open: Mapping[str, OpenRows]
    steps: Sequence[tuple[Step, Operator]]
    lasts: Sequence[Step]
    fetches: Sequence[Value]
    forms: Mapping[str, Form]
    layout: Layout
    setting: Setting
    improved: Improved

    def __call__(self, feed: Mapping[str, np.ndarray], look: Look | None = None) -> list[np.ndarray]:
        """Run once. ``self.run`` says with which exchange, seed, step and samples. ``look``: see Executor."""
        self._feed(feed)
        for check in self.checks:
            check()
        if self.lookups and self.run.exchange is not None:
            self.run.exchange.prefetch({table: _joined(ids) for table, ids in self.lookups.items()})
        if self.open:
            self._look_up()
        operator = None
        try:
            for step, operator in self.steps if look is None else self._watched(look):  # noqa: B007 (the except clause reads it)
                step()
        except Exception as error:
            error.add_note(f"in operator {operator}")
            raise
        for last in self.lasts:
            last()
        return [value.to_dense() if isinstance(value, SparseRows) else value.copy() for value in self.fetches]

    def _watched(self, look: Look) -> Iterator[tuple[Step, Operator]]:
        """The steps, and behind those of each operator a look at what it has written."""
        for place, (step, operator) in enumerate(self.steps):
            yield step, operator
            if place + 1 == len(self.steps) or self.steps[place + 1][1] is not operator:
                values = self.layout.values
                yield partial(look, {n: values[n] for n in operator.writes() if n in values}), operator

    def _look_up(self) -> None:
        source = self.run.exchange or self.scope
        ids = {name: table.distinct() for name, table in self.open.items()}
        for name, rows in source.lookup(ids, training=self.trains).items():
            self.open[name].take(rows)

    def _feed(self, feed: Mapping[str, np.ndarray]) -> None:
        for name, buffer in self.feeds.items():
            try:
                np.copyto(buffer, feed[name])
            except TypeError:
                given = np.asarray(feed[name]).dtype
                said = f"data {name!r} is {buffer.dtype}, the feed gives {given}: convert it"
                raise FeedError(said) from None


def make_plan(
    program: Program,
    feed_shapes: Mapping[str, Shape],
    fetch: Sequence[str],
    scope: Scope,
    gradients: dict[str, np.ndarray],
    room: Mapping[str, np.ndarray],
    exchange: Stepping | None = None,
    kept: Collection[str] | None = None,
    arena: Arena | None = None,
    improved: dict[object, Improved] | None = None,
    crew: Crew | None = None,
) -> Plan:
    """Plan a program. ``gradients`` holds the dense gradients that leave: all plans hand over the same. They
    lie in the ``room`` that there is for those of a parameter, or anywhere. ``kept``: see Executor; ``crew``:
    see Run. All else is made in ``arena``, a new one if None: a plan that works there undoes what another has
    left. ``improved``: what passes have made of this program before, which sizes have no part in."""
    for name in (*feed_shapes, *fetch):
        program.variable(name)
    setting, improved = _setting(program, fetch, exchange), {} if improved is None else improved
    state = len(program.main.operators), setting.keep, frozenset(setting.joint)
    better = improved.get(state) or improved.setdefault(state, improve(program.main.operators, setting))
    operators = better.operators
    forms = forms_of(program, operators, feed_shapes, fetch)
    fixed = fixed_of(program, operators, forms, scope) | leaving(operators, forms, gradients, room)
    for name in fixed.keys() & set(fetch):
        if is_open(forms[name]):
            raise FeedError(f"{name!r} is a table without a height, and no array to fetch: export its rows")
    arena = arena or Arena()
    layout = Layout(operators, forms, fixed, fetch, arena)
    run = Run(exchange=exchange, keep=arena.keep, crew=crew)
    overlap = overlap_of(exchange, program, operators, fixed)
    return Plan(
        scope=scope,
        generation=scope.generation,
        memory=arena.memory,
        trains=any(operator.role == "exchange" for operator in operators),
        run=run,
        feeds={name: array for name, array in fixed.items() if program.variable(name).is_data},
        checks=[check for operator in operators for check in layout.checks(operator, fed=True)],
        lookups=layout.lookups(program, operators, kept),
        open=layout.open,
        steps=list(overlap.steps(operators, partial(layout.steps, run=run))),
        lasts=list(overlap.last(fetch)),
        fetches=[layout.values[name] for name in fetch],
        forms=forms,
        layout=layout,
        setting=setting,
        improved=better,
    )


def _setting(program: Program, fetch: Sequence[str], exchange: Stepping | None) -> Setting:
    lent = exchange.lent() if isinstance(exchange, Lending) else {}
    shapes = {each.name: each.shape for each in program.parameters()}
    joint = exchange.joint(shapes) if isinstance(exchange, Joining) else {}
    return Setting(frozenset(fetch), program.main.variables, lent, joint)


def _joined(ids: Sequence[np.ndarray]) -> np.ndarray:
    return ids[0] if len(ids) == 1 else np.concatenate(ids)
