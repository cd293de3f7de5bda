"""A plain plan: what a program says, one operator after another, each in memory of its own.

No pass has seen it, and no array shares memory with another one or is written over. It computes on copies of
what another plan computes on, and hands its gradients to nobody. So the two tell the same, or something that
makes plans better makes them wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import local
from typing import Any
from weakref import ref

import numpy as np

from paddle._engine import layout
from paddle._engine.arena import Arena
from paddle._engine.exchange import StepReport
from paddle._engine.memory import Memory, aligned
from paddle._engine.passes import Improved
from paddle._engine.plan import Plan, make_plan
from paddle._engine.program import Operator, Parameter, Program, Shape
from paddle._engine.registry import Value
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope

Rows = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Of each open table the ids that a batch uses, ascending, and their rows."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a plan was made of. ``program`` may go before the plan. ``key``: equal ones compute the same."""

    program: ref[Program]
    shapes: Mapping[str, Shape]
    fetch: Sequence[str]
    key: str


@dataclass(slots=True)
class Given:
    """What stands for an exchange: remembers what it is given. ``rows``: that it looks up; ``moved``: has the
    parameters be what they are after the step."""

    rows: Rows
    moved: Callable[[Mapping[str, Value]], None]
    gradients: dict[str, Value] = field(default_factory=dict)

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """They were brought before the copy was made."""

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Stepping."""
        return {name: _found(self.rows.get(name), wanted) for name, wanted in ids.items()}

    def step(self, gradients: Mapping[str, Value], samples: int, *, rate: float | None = None) -> StepReport:
        """See Stepping."""
        self.gradients |= {name: copied(value) for name, value in gradients.items()}
        self.moved(self.gradients)
        return StepReport(0)


def _found(known: tuple[np.ndarray, np.ndarray] | None, wanted: np.ndarray) -> np.ndarray:
    if known is None:
        raise KeyError("the plan with passes has looked nothing up in this table")
    ids, rows = known
    out = np.zeros((len(wanted), rows.shape[1]), np.float32)
    places = np.searchsorted(ids, wanted)
    there = np.flatnonzero(places < len(ids))
    there = there[ids[places[there]] == wanted[there]]
    out[there] = rows[places[there]]
    return out


class Copies(Scope):
    """The arrays of another scope, as they are when they are first asked for; ``before`` stay so."""

    def __init__(self, live: Scope, rows: Rows) -> None:
        super().__init__()
        self.live, self.rows, self.before = live, rows, dict[str, np.ndarray]()

    def note(self, name: str) -> None:
        """Have a copy of it, as it is now."""
        if name not in self.before:
            self.before[name] = self.live.get(name).copy()

    def get(self, name: str) -> np.ndarray:
        """A copy."""
        if name not in self._arrays:
            self.note(name)
            self._arrays[name] = self.before[name].copy()
        return self._arrays[name]

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Scope."""
        return {name: _found(self.rows.get(name), wanted) for name, wanted in ids.items()}


def copied(value: Value) -> Value:
    """A copy of a gradient."""
    if isinstance(value, SparseRows):
        return SparseRows(value.ids.copy(), value.values.copy(), value.height)
    return value.copy()


class _Apart(Memory):
    """Every array has a storage of its own, for as long as the plan is there."""

    def view(self, *_: Any) -> bool:
        """Never."""
        return False

    def overwrite(self, *_: Any) -> bool:
        """Never."""
        return False

    def arrange(self) -> int:
        """One behind the other."""
        size = 0
        for storage in self._storages.values():
            if storage.owned:
                storage.offset, size = size, aligned(size + storage.nbytes)
        return size


_making = local()


def _memory(last_read: Mapping[str, int]) -> Memory:
    return (_Apart if getattr(_making, "apart", False) else Memory)(last_read)


layout.Memory = _memory  # type: ignore[assignment, misc]


@contextmanager
def _apart() -> Iterator[None]:
    _making.apart = True
    try:
        yield
    finally:
        _making.apart = False


def plain(made: Made, scope: Copies, given: Given | None) -> Plan:
    """The plan that computes the same without passes; all that can be computed of what is fed is."""
    program = made.program()
    assert program is not None
    operators = list(_computable(program, made.shapes, scope))
    state = len(program.main.operators), frozenset(made.fetch), frozenset[object]()
    with _apart():
        how = {"exchange": given, "kept": (), "arena": Arena(), "improved": {state: Improved(operators)}}
        return make_plan(program, made.shapes, made.fetch, scope, {}, {}, **how)  # type: ignore[arg-type]


def stand_in(made: Made, plan: Plan) -> Plan:
    """A plan with passes, on copies of what another one computes on, whose steps may not be touched."""
    program = made.program()
    assert program is not None
    scope = Copies(plan.scope, {})
    given = None if plan.run.exchange is None else Given({}, lambda gradients: None)
    other = make_plan(program, made.shapes, made.fetch, scope, {}, {}, given, ())
    as_in(other, plan)
    return other


def as_in(plan: Plan, other: Plan) -> None:
    """Let the next run be what another one's is."""
    run, own = plan.run, other.run
    run.seed, run.step, run.samples, run.rate = own.seed, own.step, own.samples, own.rate
    run.part, run.before = own.part, own.before


def _computable(program: Program, fed: Iterable[str], scope: Copies) -> Iterator[Operator]:
    there = set(fed)
    for name, variable in program.main.variables.items():
        if isinstance(variable, Parameter) and (variable.spec.is_open or name in scope.live):
            there.add(name)
    for operator in program.main.operators:
        if there.issuperset(operator.reads()):
            there.update(operator.writes())
            yield operator
