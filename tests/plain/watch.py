"""Every plan that a test makes is run beside the plain one: whichever test has passes, or arrays that share
memory, change what a program computes fails, and says what differs.

There is no list of models: what any test makes an executor plan is compared. Plans that are alike (key.py)
are compared once in a process, in their first ``RUNS`` runs in which no other thread is in their scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
import pytest

from paddle._engine import executor
from paddle._engine.plan import Look, Plan
from paddle._engine.profile import current
from paddle._engine.teams.joint import Joining
from paddle._engine.teams.team import Team
from tests import called

from . import children
from .beside import Beside, run, unlike_together
from .key import key_of
from .plans import Made, stand_in

RUNS = 2
_run, _team_run = executor._run, Team.run


@dataclass(slots=True, eq=False)
class _Turn:
    """One that is under way. ``is_alone``: no other has been in its scope meanwhile."""

    is_alone: bool = True


class Watch:
    """``unlike``: what was found of plans that differ from the plain ones. ``runs``: how often each kind of
    plan was compared."""

    def __init__(self) -> None:
        self.unlike: list[str] = []
        self.runs: Counter[str] = Counter()
        self._made: WeakKeyDictionary[Plan, Made] = WeakKeyDictionary()
        self._parts: dict[int, list[Beside]] = {}
        self._under_way: dict[int, list[_Turn]] = {}
        self._lock = Lock()

    def note(self, plan: Plan, made: Made) -> None:
        """A plan was made."""
        with self._lock:
            self._made[plan] = made

    def run(self, plan: Plan, feed: Mapping[str, np.ndarray], look: Look | None) -> list[np.ndarray]:
        """Run a plan, beside the plain one where that is due."""
        with self.alone(_place(plan)) as own:
            with self._lock:
                made = self._made.get(plan)
                is_due = made is not None and own.is_alone and self.runs[made.key] < RUNS
            if made is None or not is_due:
                return _run(plan, feed, look)
            if current() is None:
                return self._compared(plan, made, own, feed, look)
            with called.aside():  # a profile is on, which looks at steps: another plan stands in for this one
                self._compared(stand_in(made, plan), made, own, feed, None)
            return _run(plan, feed, look)

    @contextmanager
    def alone(self, place: int) -> Iterator[_Turn]:
        """A run in a place. Threads that run in one at a time move each other's parameters."""
        own = _Turn()
        with self._lock:
            all_there = self._under_way.setdefault(place, [])
            all_there.append(own)
            if len(all_there) > 1:
                for each in all_there:
                    each.is_alone = False
        try:
            yield own
        finally:
            with self._lock:
                all_there.remove(own)
                if not all_there:
                    del self._under_way[place]

    def _compared(
        self, plan: Plan, made: Made, own: _Turn, feed: Mapping[str, np.ndarray], look: Look | None
    ) -> list[np.ndarray]:
        beside = Beside(plan, made, _keeps_bits(plan, made))
        found = run(beside.noting(), feed, look)
        with called.aside():
            said = _said(beside, feed, found)
        with self._lock:
            if not own.is_alone:
                return found
            self.runs[made.key] += 1
            self.unlike += said
            if beside.joint:
                self._parts.setdefault(id(plan.run.exchange._common), []).append(beside)  # type: ignore[union-attr]
        return found

    def end(self, team: Team) -> None:
        """All parts of a batch are run."""
        with self._lock:
            parts = self._parts.pop(id(team._common), [])
            if parts and len(parts) == team._common.meeting.count:  # none has failed
                self.unlike += unlike_together(parts)

    def take(self) -> list[str]:
        """What was found since it was asked last."""
        with self._lock:
            said, self.unlike = self.unlike, []
        return said

    def tell(self) -> None:
        """Fail where something was found, once."""
        said = self.take()
        more = f"; and {len(said) - 4} more" if len(said) > 4 else ""
        assert not said, f"with passes and without: {'; '.join(said[:4])}{more}"


def _place(plan: Plan) -> int:
    """What a run moves: its scope; the parts of a team move nothing before all are run."""
    return id(plan.run if isinstance(plan.run.exchange, Joining) else plan.scope)


def _said(beside: Beside, feed: Mapping[str, np.ndarray], found: list[np.ndarray]) -> list[str]:
    try:
        return beside.unlike(feed, found)
    except Exception as error:  # which is not the program's, that might await one
        return [f"the plain plan fails: {error!r} {getattr(error, '__notes__', '')}"]


def _keeps_bits(plan: Plan, made: Made) -> bool:
    program = made.program()
    assert program is not None
    own = {id(operator) for operator in program.main.operators}
    return plan.run.crew is None and all(id(operator) in own for _, operator in plan.steps)


OF_ALL = Watch()
watching = OF_ALL
"""The one that is told of plans: another one where a test has put it."""


def watch() -> None:
    """Have plans be compared from here on."""
    make = executor.make_plan

    def noting(program: Any, shapes: Any, fetch: Any, *given: Any) -> Plan:
        plan = make(program, shapes, fetch, *given)
        exchange = plan.run.exchange
        part = (exchange.number, exchange.count, exchange.samples) if isinstance(exchange, Joining) else ()
        key = key_of(program, shapes, fetch, plan, part if plan.setting.joint else ())
        watching.note(plan, Made(ref(program), dict(shapes), list(fetch), key))
        return plan

    def ending(team: Team, *given: Any, **named: Any) -> Any:
        try:
            return _team_run(team, *given, **named)
        finally:
            watching.end(team)

    executor.make_plan = noting  # type: ignore[assignment]
    executor._run = lambda *given: watching.run(*given)
    Team.run = ending  # type: ignore[method-assign]


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        for text in (*OF_ALL.take(), *children.take()):
            error.add_note(text)
        raise
    OF_ALL.unlike += children.take()
    OF_ALL.tell()


def pytest_configure() -> None:
    """Processes that tests start can say what they find from here on."""
    children.begin()


def pytest_unconfigure() -> None:
    """They can no more."""
    children.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    """Of each test, and of what it has in common with others."""
    with _telling():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Of each test."""
    with _telling():
        return (yield)


watch()
