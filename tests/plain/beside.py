"""A plan and the plain one, side by side on the same state.

The plan runs as it would. Before its first operator, when what it reads is there, copies of that are made;
then what leaves it is noted: gradients, as soon as they are final. Afterwards the plain one runs on the
copies, and all that the two have written is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, takewhile
from typing import Any

import numpy as np

from paddle._engine.exchange import Lending
from paddle._engine.plan import Look, Plan
from paddle._engine.program import Operator
from paddle._engine.registry import Step, Value
from paddle._engine.rows import SparseRows
from paddle._engine.teams.joint import Joining

from . import telling
from .plans import Copies, Given, Made, as_in, copied, plain

AGAIN = 3
"""So often the plain plan is run on numbers that are rounded otherwise, where it matters."""

EPSILON = 2.0**-22
"""What is rounded moves by up to so much of itself."""


@np.errstate(all="ignore")
def run(plan: Plan, feed: Mapping[str, np.ndarray], look: Look | None = None) -> list[np.ndarray]:
    """Run a plan as an executor does, whether there is a profile or not."""
    return plan(feed, look)


@dataclass(slots=True)
class Beside:
    """One run of a plan. ``exact``: no bit may differ. ``together``: the part of the plain one of gradients
    that are known of all parts of a batch alone."""

    plan: Plan
    made: Made
    exact: bool
    scope: Copies | None = None
    given: Given | None = None
    rate: float = 0.0
    gradients: dict[str, Value] = field(default_factory=dict)
    together: dict[str, Value] = field(default_factory=dict)

    def noting(self) -> Plan:
        """The plan, with steps that note what the comparison needs."""
        if not self.plan.steps:
            self._begin_all()
        groups = groupby(self.plan.steps, lambda step: id(step[1]))
        steps = [step for _, group in groups for step in self._noting(list(group))]
        return replace(self.plan, steps=steps)

    def _noting(self, steps: list[tuple[Step, Operator]]) -> Iterator[tuple[Step, Operator]]:
        """Those of one operator, before the first of which parameters are settled."""
        operator = steps[0][1]
        asking = list(takewhile(lambda step: _word(step[0]) in ("settle", "begin_step"), steps))
        yield from asking
        yield partial(self._begin, operator), operator
        for step, _ in steps[len(asking) :]:
            if isinstance(step, partial) and _word(step) == "give":
                yield partial(self._note_early, *step.args), operator
            yield step, operator

    def _begin(self, operator: Operator) -> None:
        """An operator begins: what it reads of the scope is there."""
        if self.scope is None:
            self._begin_all()
        assert self.scope is not None
        if operator.type == "exchange":
            self._note(operator)
            return
        for name in operator.reads():
            if self._lasts(name):
                self.scope.note(name)

    def _lasts(self, name: str) -> bool:
        """Whether it is an array of the scope."""
        live = self.plan.scope
        return name in live and live.get(name) is self.plan.layout.values.get(name)

    def _begin_all(self) -> None:
        plan, exchange = self.plan, self.plan.run.exchange
        rows = {name: _rows(table) for name, table in plan.open.items()}
        self.scope = Copies(plan.scope, rows)
        read = {name for _, each in plan.steps if each.type != "exchange" for name in each.reads()}
        for name in plan.layout.values.keys() - read:  # one that is only seen in another shape, with no step
            if self._lasts(name):
                self.scope.note(name)
        self.given = None if exchange is None else Given(rows, self._move)
        if isinstance(exchange, Lending | Joining) and (
            plan.setting.lent or any(plan.setting.joint.values())
        ):
            rate = plan.run.rate
            self.rate = _rate(exchange, plan.run.samples) if rate is None else rate

    def _note(self, exchange: Operator) -> None:
        for parameter, name in zip(exchange.inputs["Param"], exchange.inputs["Grad"], strict=True):
            if parameter not in self.gradients:
                self.gradients[parameter] = copied(self.plan.layout.values[name])

    def _note_early(self, parameter: str, gradient: np.ndarray) -> None:
        self.gradients[parameter] = gradient.copy()

    def _move(self, gradients: Mapping[str, Value]) -> None:
        """What is read behind the exchange is what it has made of parameters."""
        assert self.scope is not None
        for name in gradients:
            if name in self.scope.before:
                self.scope.get(name)[...] = self.plan.scope.get(name)

    def unlike(self, feed: Mapping[str, np.ndarray], fetched: list[np.ndarray]) -> list[str]:
        """Run the plain one; gives a text for all that is not as the plan has found it."""
        assert self.scope is not None
        twin = plain(self.made, self.scope, self.given)
        as_in(twin, self.plan)
        other = self._told(twin, run(twin, feed))
        self.together = {name: self.given.gradients[name] for name in self.joint} if self.given else {}
        found, room = self._found(other, fetched)
        said = telling.unlike(found, other, room, exact=self.exact)
        if said and not self.exact:
            others = [self._again(twin, feed, seed) for seed in range(AGAIN)]
            for name in said.keys() & other.keys():
                moved = telling.noise(other[name], [each[name] for each in others])
                room[name] = room.get(name, 0.0) + telling.TIMES * moved
            said = telling.unlike(found, other, room, exact=False)
        return [f"{name} {text}" for name, text in said.items()]

    def _again(self, twin: Plan, feed: Mapping[str, np.ndarray], seed: int) -> telling.Told:
        """What the plain one finds of numbers that are rounded otherwise."""
        assert self.scope is not None
        draw = np.random.default_rng(seed)
        for name in self.scope.names():
            self.scope.get(name)[...] = _rounded(self.scope.before[name], draw)
        noisy = replace(twin, steps=list(_rounding(twin, draw)))
        return self._told(twin, run(noisy, {name: _rounded(value, draw) for name, value in feed.items()}))

    def _told(self, twin: Plan, fetched: list[np.ndarray]) -> telling.Told:
        """What the plain one has written."""
        assert self.scope is not None
        told: telling.Told = {_gradient(name): value for name, value in self._all_given().items()}
        told |= {f"what is written to {n}": self.scope.get(n).copy() for n in self._lasting(twin)}
        return told | self._named(fetched)

    def _found(self, other: telling.Told, fetched: list[np.ndarray]) -> tuple[telling.Told, telling.Room]:
        """What the plan has written, and by how much it may differ."""
        told, room = self.found_gradients(self._all_given())
        start = "what is written to "
        lasting = [name.removeprefix(start) for name in other if name.startswith(start)]
        told |= {start + name: self.plan.scope.get(name).copy() for name in lasting}
        shown = self._named(fetched)
        return told | shown, room | dict.fromkeys(shown, telling.ONE)

    def found_gradients(self, given: Mapping[str, Value]) -> tuple[telling.Told, telling.Room]:
        """The gradients that the plan has given, or subtracted at once: then a parameter says by how much it
        was moved, as exactly as its own numbers do. ``given``: those of the plain one."""
        assert self.scope is not None
        lent, room = self.plan.setting.lent | self.plan.setting.joint, telling.Room()
        found = {name: gradient for name, gradient in self.gradients.items() if name in given}
        for name in (given.keys() - found.keys()) & lent.keys():
            before, step = self.scope.before[name], self.rate * (lent[name] or 0.0)
            moved = before.astype(np.float64) - self.plan.scope.get(name)
            found[name] = (moved / step).astype(before.dtype) if step else moved
            room[_gradient(name)] = EPSILON * float(np.abs(before).max(initial=0)) / abs(step or 1.0)
        return {_gradient(name): gradient for name, gradient in found.items()}, room

    def _named(self, fetched: list[np.ndarray]) -> telling.Told:
        """What is fetched, but for gradients of which the first of a team fetches the sum."""
        names = zip(self.made.fetch, fetched, strict=True)
        summed = set()
        if isinstance(self.plan.run.exchange, Joining):
            summed = {n for _, o in self.plan.steps if o.type == "exchange" for n in o.inputs["Grad"]}
        return {f"what is fetched of {name}": value for name, value in names if name not in summed}

    def _all_given(self) -> Mapping[str, Value]:
        """Gradients that the plain one has given, but for those that only all threads know."""
        given = {} if self.given is None else self.given.gradients
        return {name: gradient for name, gradient in given.items() if name not in self.joint}

    @property
    def joint(self) -> set[str]:
        """Parameters with which all threads of a team multiply together."""
        return {o.inputs["Y"][0] for _, o in self.plan.steps if o.type == "joint_mul"}

    def _lasting(self, twin: Plan) -> list[str]:
        """What stays in the scope, but for parameters that an exchange keeps."""
        assert self.scope is not None
        kept = {n for _, o in twin.steps if o.type == "exchange" for n in o.inputs["Param"]}
        return [name for name in self.scope.names() if name not in kept]


def unlike_together(parts: Sequence[Beside]) -> list[str]:
    """The same of what only all parts of a batch know: gradients that all threads of a team make together."""
    leader = next(part for part in parts if part.plan.run.part == 0)
    plain: dict[str, Value] = {}
    for name in leader.joint:
        given = [part.together[name] for part in parts]
        plain[name] = np.sum([each for each in given if isinstance(each, np.ndarray)], axis=0)
    found, room = leader.found_gradients(plain)
    told = {_gradient(name): value for name, value in plain.items()}
    return [f"{name} {text}" for name, text in telling.unlike(found, told, room, exact=False).items()]


def _rate(exchange: Lending | Joining, samples: int) -> float:
    return exchange.rate() if isinstance(exchange, Joining) else exchange.rate(samples)


def _gradient(name: str) -> str:
    return f"the gradient of {name}"


def _rounding(twin: Plan, draw: np.random.Generator) -> Iterator[tuple[Step, Operator]]:
    """The steps, and behind those of each operator one that has rounded otherwise what it has written."""

    def round_all(operator: Operator) -> None:
        for name in operator.writes():
            value = twin.layout.values.get(name)
            array = value.values if isinstance(value, SparseRows) else value
            if array is not None:
                array[...] = _rounded(array, draw)

    for _, group in groupby(twin.steps, lambda step: id(step[1])):
        steps = list(group)
        yield from steps
        yield partial(round_all, steps[0][1]), steps[0][1]


def _rounded(value: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Floating numbers as they might be rounded; whole ones are exact, and may be ids."""
    if value.dtype.kind != "f":
        return value
    moved = (value * (1 + EPSILON * draw.uniform(-1, 1, value.shape))).astype(value.dtype)
    return np.where(value == np.rint(value), value, moved)


def _word(step: Step) -> str:
    """What a step asks or tells an exchange."""
    return getattr(step.func if isinstance(step, partial) else step, "__name__", "")


def _rows(table: Any) -> tuple[np.ndarray, np.ndarray]:
    ids = table.distinct().copy()
    return ids, table._values[: len(ids)].copy()
