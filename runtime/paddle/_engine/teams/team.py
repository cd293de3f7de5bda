"""A team: threads that run one program on the parts of a batch, for one step of the exchange.

Rules:
1. Part 0 is run by the thread that asks; the others each by a thread of their own, on arrays of their own.
2. Parameters are those of one scope. Those that operators change by themselves (Row.changes) are each part's
   own during a run, which began with equal ones; afterwards they are the mean, weighed by samples.
3. A batch that is one part is run by the thread that asks; others take their part of large products
   (shared.py). That is for programs with little else (brief.py).
4. When a part fails, all end. What is raised is the error of the first part that did not fail for another's
   sake, once no thread is at work any more; only a second interrupt does not wait for that.

It must never know how a batch is cut. Guarantee: equal parts, seed and step give equal bits, and what the
exchange hears is that of the whole batch (share.py); gradients that are changed between the backward pass and
the exchange must be so linearly, as by a mask.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from weakref import WeakKeyDictionary

import numpy as np

from paddle._engine import registry
from paddle._engine.exchange import Stepping
from paddle._engine.executor import Executor
from paddle._engine.program import Program, Variable
from paddle._engine.scope import Scope
from paddle._engine.teams import brief
from paddle._engine.teams.crew import Crew
from paddle._engine.teams.meeting import Abandoned
from paddle._engine.teams.share import Common, Share

Fetched = list[np.ndarray]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a batch: what an executor is fed, and how many samples that is."""

    feed: Mapping[str, np.ndarray]
    samples: int


@dataclass(frozen=True, slots=True)
class _Known:
    """What there is to know of a program of ``length`` operators: the parameters that they change by
    themselves, and the ``work`` of a row."""

    length: int
    changed: Sequence[str]
    work: brief.Work | None


class Team:
    """Runs programs on one scope in up to ``count`` parts; the rest as an Executor's. Not for two threads at
    once."""

    def __init__(
        self,
        scope: Scope,
        count: int,
        exchange: Stepping | None = None,
        room: Mapping[str, np.ndarray] | None = None,
        kept: Collection[str] | None = None,
    ) -> None:
        self.count = count
        self._scope = scope
        self._views = [_View(scope) for _ in range(count - 1)]
        self._common = Common(exchange)
        shares = [None if exchange is None else Share(number, self._common) for number in range(count)]
        leader = Executor(scope, shares[0], room, kept)
        others = zip(self._views, shares[1:], strict=True)
        self._executors = [leader, *(Executor(view, share, None, kept) for view, share in others)]
        self._crew = Crew(count - 1)
        self._alone = Executor(scope, exchange, room, kept, self._crew)  # of gradients of its own
        self._known: WeakKeyDictionary[Program, _Known] = WeakKeyDictionary()

    def run(
        self,
        program: Program,
        parts: Sequence[Part],
        fetch: Sequence[str | Variable],
        *,
        seed: int,
        step: int,
        rate: float | None = None,
    ) -> list[Fetched]:
        """Run the main block once on each part; gives what was fetched of each. See Executor.run.

        Of a dense gradient that an exchange is given the first part fetches that of the whole batch.
        """
        self._crew.finish()
        if len(parts) == 1:
            (feed, count), alone = (parts[0].feed, parts[0].samples), self._alone
            return [alone.run(program, feed, fetch, samples=count, seed=seed, step=step, rate=rate)]
        changed = self._known_of(program).changed
        for view in self._views[: len(parts) - 1]:
            view.copy(changed)
        *befores, samples = accumulate((part.samples for part in parts), initial=0)
        self._common.begin(len(parts), samples)

        def compute(number: int) -> Fetched:
            part = parts[number]
            place = number, befores[number]
            run = partial(self._executors[number].run, program, part.feed, fetch, samples=part.samples)
            try:
                return run(seed=seed, step=step, rate=rate, place=place)
            except BaseException:
                self._common.meeting.abandon()
                raise

        error: BaseException | None = None
        tasks = [partial(compute, number) for number in range(1, len(parts))]
        try:
            for number, task in enumerate(tasks):
                self._crew.start(number, task)
            first = compute(0)
        except BaseException as raised:
            self._common.meeting.abandon()  # also for those whose start was interrupted
            error = raised
        done = self._crew.finish()
        errors = [done[task][1] for task in tasks if task in done]  # none of one that never began
        if (cause := _cause(error, *errors)) is not None:
            raise cause
        for name in changed:
            self._take_mean(name, parts)
        return [first, *(done[task][0] for task in tasks)]

    def parts_for(self, program: Program, feed: Mapping[str, np.ndarray], samples: int) -> int:
        """Into how many parts such a batch is best cut: as many as there are threads, or one. The same for
        equal sizes, always."""
        work = self._known_of(program).work
        rows = max((len(value) for value in feed.values() if np.ndim(value)), default=samples)
        return 1 if work is not None and work.is_brief(rows) else self.count

    def _known_of(self, program: Program) -> _Known:
        length = len(program.main.operators)
        known = self._known.get(program)
        if known is None or known.length != length:
            changed = list(dict.fromkeys(_changes(program)))
            known = self._known[program] = _Known(length, changed, brief.work(program))
        return known

    def _take_mean(self, name: str, parts: Sequence[Part]) -> None:
        total, mean = sum(part.samples for part in parts), self._scope.get(name)
        mean *= parts[0].samples / total
        for view, part in zip(self._views, parts[1:], strict=False):
            mean += view.get(name) * np.float32(part.samples / total)


class _View(Scope):
    """The arrays of another scope, but for own copies of some."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope

    @property
    def generation(self) -> int:
        """That of the other scope: a copy stays where it is."""
        return self._scope.generation

    @generation.setter
    def generation(self, value: int) -> None: ...

    def __contains__(self, name: str) -> bool:
        return name in self._scope

    def get(self, name: str) -> np.ndarray:
        """The copy, or the live array."""
        return self._arrays[name] if name in self._arrays else self._scope.get(name)

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Scope."""
        return self._scope.lookup(ids, training=training)

    def copy(self, names: Iterable[str]) -> None:
        """Have copies of these, as they are now."""
        for name in names:
            self.set(name, self._scope.get(name))


def _changes(program: Program) -> Iterator[str]:
    for operator in program.main.operators:
        if operator.role == "forward":
            for slot in registry.row(operator.type).changes(operator.attrs):
                yield from operator.inputs[slot]


def _cause(*raised: BaseException | None) -> BaseException | None:
    """Of all errors the first that another part's is not the reason for."""
    errors = [each for each in raised if each is not None]
    return next((each for each in errors if not isinstance(each, Abandoned)), next(iter(errors), None))
