"""The executor: runs programs on the parameters in a scope.

It must never know where parameters are kept: an exchange, if it has one, is told which rows a batch is
about to use, and given the gradients when a program ends in ``exchange``, or as they become final
(overlap.py).

Guarantees: for equal parameters, feeds, seeds and steps a run gives equal bits; what it returns is the
caller's to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from paddle._engine.ahead import Ahead, ahead_of
from paddle._engine.arena import Arena
from paddle._engine.exchange import Stepping, SteppingAhead, StepReport
from paddle._engine.initial import generator_for
from paddle._engine.passes import Improved
from paddle._engine.plan import Look, Plan, make_plan
from paddle._engine.plans.room import ROOM, Kept
from paddle._engine.profile import current
from paddle._engine.program import Program, Shape, Variable
from paddle._engine.scope import Scope
from paddle._engine.teams.crew import Crew
from paddle._engine.teams.joint import Joining

PLANS_PER_PROGRAM = 16
"""So many are kept of each program in any case, and more while there is room (room.py)."""


_NOTHING: AbstractContextManager[None] = nullcontext()
_watcher: Callable[[Program, Plan], None] | None = None


def watch_plans(watcher: Callable[[Program, Plan], None] | None) -> None:
    """Have ``watcher`` told of every plan that any executor of this process makes, before it is run."""
    global _watcher
    _watcher = watcher


def initialize(program: Program, scope: Scope, seed: int) -> None:
    """Give every parameter that the scope lacks its first value, which follows from the seed and its name.

    Rows of open tables have theirs from whoever makes them.
    """
    for parameter in program.parameters():
        if parameter.name not in scope and not parameter.spec.is_open:
            value = parameter.initializer(parameter.shape, generator_for(seed, parameter.name))
            scope.bind({parameter.name: np.ascontiguousarray(value, np.float32).reshape(parameter.shape)})


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the last run of a program was asked: most are asked the same, and to see that costs less than to
    look their plan up. ``state``: how many operators there were, and in a team how many parts and samples."""

    state: object
    shapes: Mapping[str, Shape]
    names: Sequence[str]
    plan: Plan

    def is_asked(self, state: object, feed: Mapping[str, np.ndarray], names: Sequence[str]) -> bool:
        """Whether this run is asked just that."""
        if state != self.state or names != self.names or len(feed) != len(self.shapes):
            return False
        for name, shape in self.shapes.items():
            value = feed.get(name)
            if not isinstance(value, np.ndarray) or value.shape != shape:
                return False
        return True


@dataclass(slots=True)
class _Known:
    """What an executor remembers of one program. ``grows``: the next run is the first of one plan more."""

    plans: Kept[Plan] = field(default_factory=lambda: Kept(PLANS_PER_PROGRAM))
    improved: dict[object, Improved] = field(default_factory=dict)
    grows: bool = False
    runs: int = 0
    ahead: Ahead | None = None
    operators: int = -1
    asked: _Asked | None = None

    def rest(
        self, program: Program, feed: Mapping[str, np.ndarray]
    ) -> tuple[Program, Mapping[str, np.ndarray]]:
        """What is left to plan when all has been computed that a plan needs, and what that is fed."""
        count = len(program.blocks[0].operators)
        if self.operators != count:
            self.ahead, self.operators = ahead_of(program), count
        return (program, feed) if self.ahead is None else (self.ahead.rest, self.ahead.fed(feed))


class Executor:
    """Runs programs on one scope, with or without an exchange. Not for two threads at once.

    ``room``: where the exchange, which has been started, best takes dense gradients from. ``kept``: the
    parameters that were given to it, all if None; the scope has the others, such as a frozen table. ``crew``:
    threads that take their part of large products. A step of an exchange that overlaps may not be over when
    its run is: the next run goes on while it ends.
    """

    def __init__(
        self,
        scope: Scope,
        exchange: Stepping | None = None,
        room: Mapping[str, np.ndarray] | None = None,
        kept: Collection[str] | None = None,
        crew: Crew | None = None,
    ):
        self._report: StepReport | None = None
        self._scope = scope
        self._exchange = exchange
        self._joining = exchange if isinstance(exchange, Joining) else None
        self._programs: WeakKeyDictionary[Program, _Known] = WeakKeyDictionary()
        self._room, self._kept, self._crew = room or {}, kept, crew
        self._gradients: dict[str, np.ndarray] = {}
        self._arena = Arena()

    def run(
        self,
        program: Program,
        feed: Mapping[str, np.ndarray],
        fetch: Sequence[str | Variable],
        *,
        samples: int | None = None,
        rate: float | None = None,
        seed: int = 0,
        step: int | None = None,
        place: tuple[int, int] = (0, 0),
        look: Look | None = None,
    ) -> list[np.ndarray]:
        """Run the main block once and return copies of the fetched variables, gradients of tables dense.

        ``feed``: data by name; float32 and int64 are expected, what converts without loss of kind is
        converted. ``samples``: how many samples the exchange is told that this step had, the batch size
        if None; ``rate``: see Stepping.step. ``seed``: of all randomness, together with ``step``, if None
        how often this executor ran this program before. ``place``: of this part in its batch, where that is
        run in parts (team.py): its number, and the samples before it.
        ``look``: is shown what each operator has written, as soon as it has, if that is fetched or stays.
        """
        known = self._programs.get(program) or self._programs.setdefault(program, _Known())
        program, feed = known.rest(program, feed)
        plan = self._plan(known, program, feed, fetch)
        run = plan.run
        run.report = None
        run.seed, run.step = seed, known.runs if step is None else step
        run.samples, run.rate = _batch_size(feed) if samples is None else samples, rate
        run.part, run.before = place
        if known.grows:
            known.grows = False
            with ROOM.growing(self._in_arena):  # a plan takes part of its memory when it is first run
                fetched = _run(plan, feed, look)
        else:
            fetched = _run(plan, feed, look)
        known.runs += 1
        self._report = run.report or self._report
        return fetched

    def again(self, program: Program) -> Again | None:
        """What runs ``program`` once more for what it was asked last; None where something is computed before
        a plan is found."""
        known = self._programs.get(program)
        if known is None or known.asked is None or known.ahead is not None or self._joining is not None:
            return None
        return Again(self, known, ref(known.asked.plan))

    def plan_text(
        self, program: Program, feed: Mapping[str, np.ndarray], fetch: Sequence[str | Variable]
    ) -> str:
        """What ``run`` would do, without doing it; see plan_text.py."""
        from paddle._engine.plan_text import plan_text  # for people: no run needs it

        known = self._programs.get(program) or self._programs.setdefault(program, _Known())
        program, feed = known.rest(program, feed)
        return plan_text(program, self._plan(known, program, feed, fetch))

    @property
    def last_report(self) -> StepReport | None:
        """What the exchange says of the last step; it is over then."""
        if self._report is not None and isinstance(self._exchange, SteppingAhead):
            self._report = self._exchange.settle()
        return self._report

    def _plan(
        self, known: _Known, program: Program, feed: Mapping[str, np.ndarray], fetch: Sequence[str | Variable]
    ) -> Plan:
        names = [each if isinstance(each, str) else each.name for each in fetch]
        team, asked = self._joining, known.asked
        state = known.operators if team is None else (known.operators, team.count, team.samples)
        if asked is not None and asked.is_asked(state, feed, names) and self._is_valid(asked.plan):
            return asked.plan
        shapes: dict[str, Shape] = {name: np.shape(value) for name, value in feed.items()}
        key = (state, tuple(shapes.items()), tuple(names))
        plan = known.plans.get(key)
        if plan is None or not self._is_valid(plan):
            is_void, memory = plan is not None, self._arena.memory
            plan = self._made(known, program, shapes, names)
            if is_void or plan.memory is not memory:
                self._forget_void_plans()
            if _watcher is not None:
                _watcher(program, plan)
            count = len(known.plans)
            known.plans.put(key, plan)
            known.grows = count < len(known.plans) > PLANS_PER_PROGRAM
        known.asked = _Asked(state, shapes, names, plan)
        return plan

    def _made(
        self, known: _Known, program: Program, shapes: Mapping[str, Shape], names: Sequence[str]
    ) -> Plan:
        given = (self._gradients, self._room, self._exchange, self._kept, self._arena)
        with ROOM.growing(self._in_arena) if len(known.plans) >= PLANS_PER_PROGRAM else _NOTHING:
            return make_plan(program, shapes, names, self._scope, *given, known.improved, self._crew)

    def _in_arena(self) -> int:
        return len(self._arena.memory)

    def _is_valid(self, plan: Plan) -> bool:
        return plan.generation == self._scope.generation and plan.memory is self._arena.memory

    def _forget_void_plans(self) -> None:
        """Those of an arena or of arrays that were replaced, which they would keep from being given back."""
        for known in self._programs.values():
            known.plans.keep(self._is_valid)
            if known.asked is not None and not self._is_valid(known.asked.plan):
                known.asked = None


@dataclass(frozen=True, slots=True)
class Again:
    """A plan, for who knows that he asks what was asked before: the same of a program that has not changed,
    with arrays of the same shapes. What else is among those is passed over. It keeps no plan, which would
    keep an arena that was replaced."""

    _executor: Executor
    _known: _Known
    _plan: ReferenceType[Plan]

    @property
    def is_void(self) -> bool:
        """Whether it has to be asked for anew: it is gone, or arrays that it computes with were replaced (as
        ``Executor._is_valid`` says, whose call a small step would notice)."""
        plan, own = self._plan(), self._executor
        if plan is None or plan.memory is not own._arena.memory:
            return True
        return plan.generation != own._scope.generation

    def __call__(
        self, feed: Mapping[str, np.ndarray], samples: int, rate: float | None, seed: int, step: int
    ) -> list[np.ndarray]:
        """See Executor.run."""
        plan = self._plan()
        assert plan is not None
        run = plan.run
        run.report = None
        run.seed, run.step, run.samples, run.rate = seed, step, samples, rate
        run.part = run.before = 0
        fetched = _run(plan, feed, None)
        self._known.runs += 1
        self._executor._report = run.report or self._executor._report
        return fetched


@np.errstate(all="ignore")  # a cost that is inf or NaN says it all
def _run(plan: Plan, feed: Mapping[str, np.ndarray], look: Look | None) -> list[np.ndarray]:
    profile = current()
    return plan(feed, look) if profile is None or look else profile.run(plan, feed)


def _batch_size(feed: Mapping[str, np.ndarray]) -> int:
    return next((len(value) for value in feed.values() if np.ndim(value)), 0)
