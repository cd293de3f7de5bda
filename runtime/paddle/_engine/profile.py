"""Profile: where the time of runs goes, operator by operator.

While one is switched on executors run each plan with a mark between its operators, which looks at two clocks
and writes down what they say; what it means is worked out later, for many runs at once. It must never know
what an operator computes, nor a file. Time is an argument: ``clock`` and ``cpu`` give nanoseconds, of the
wall and of the calling thread's processor; arithmetic in threads of the BLAS library is in the wall alone.

Guarantee: a run that is profiled computes the same bits; what a run that failed took is not counted. A
profile that has a ``budget`` looks at some runs in a row, and passes over so many that it costs that share of
the processor's time in all of them. However long one is on, it takes no more memory than its last events and
``MOST_NAMES`` lines.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from paddle._engine import registry
from paddle._engine.plan import Plan
from paddle._engine.program import Form, Operator
from paddle._engine.registry import Step

Clock = Callable[[], int]

MOST_EVENTS = 200_000
"""Of operators that ran, a trace has the last ones: about 30 MB of JSON."""

MOST_NAMES = 1000
"""So many names of a program's own have a line each; what it names besides is one line, ``OTHERS``."""

_RUNS_AT_ONCE = 64
_IN_A_ROW = 16
_COLD = 2.0  # in the midst of other work a mark takes this many times as long as by itself
_LEAST = 1 / 8  # of the time of its mark is what an operator takes, at the least
_MOST_RECORDS = 64

BETWEEN, FEED, FETCH = "(between runs)", "(feed)", "(fetch)"
"""What a thread does besides operators: readers and the program's own Python; feeding, checks and the
prefetch of rows; copying out what is fetched."""
OTHERS = "(other names)"


@dataclass(slots=True)
class Line:
    """What all calls of one kind took, in nanoseconds. ``nbytes``: read and written by its operators, each
    array counted whole, but of a table only the rows. ``is_named``: by a program, and not part of a run."""

    name: str
    calls: int = 0
    wall_ns: int = 0
    cpu_ns: int = 0
    least_ns: int = 0
    most_ns: int = 0
    nbytes: int = 0
    is_named: bool = False

    def add(self, wall: np.ndarray, cpu: np.ndarray, nbytes: int) -> None:
        """Count calls, one for each number of nanoseconds."""
        self.count(len(wall), int(wall.sum()), int(cpu.sum()), int(cpu.min()), int(cpu.max()))
        self.nbytes += len(wall) * nbytes

    def count(self, calls: int, wall_ns: int, cpu_ns: int, least_ns: int, most_ns: int) -> None:
        """Count calls that took so long together, and one so long at least and at most."""
        self.least_ns = min(self.least_ns, least_ns) if self.calls else least_ns
        self.most_ns = max(self.most_ns, most_ns)
        self.calls += calls
        self.wall_ns += wall_ns
        self.cpu_ns += cpu_ns

    @property
    def each_ns(self) -> float:
        """Processor time of a call, in the mean."""
        return self.cpu_ns / max(self.calls, 1)


@dataclass(frozen=True, slots=True)
class Part:
    """What lies between two marks: an operator's type, or another name; what it writes; bytes that move."""

    name: str
    writes: str = ""
    nbytes: int = 0


@dataclass(slots=True)
class _Record:
    """What marks wrote down of one plan in one thread: two numbers each, ``len(parts) + 1`` marks a run."""

    parts: tuple[Part, ...]
    thread: int
    stamps: list[int] = field(default_factory=list)

    @property
    def width(self) -> int:
        return 2 * (len(self.parts) + 1)

    def taken(self) -> np.ndarray:
        """(runs, marks, wall and processor) of all whole runs, which are forgotten here."""
        whole = len(self.stamps) // self.width * self.width
        taken = np.array(self.stamps[:whole], np.int64).reshape(-1, len(self.parts) + 1, 2)
        del self.stamps[:whole]
        return taken


class _Watch:
    """A plan with marks between its operators."""

    def __init__(self, plan: Plan, clock: Clock, cpu: Clock, last: threading.local) -> None:
        """``cpu``: of this thread; ``last``: where it keeps when the last run ended, by both clocks."""
        groups = [list(group) for _, group in groupby(plan.steps, key=lambda pair: id(pair[1]))]
        operators = [group[0][1] for group in groups]
        parts = [Part(each.type, next(each.writes(), ""), traffic(each, plan.forms)) for each in operators]
        self.record = _Record((Part(BETWEEN), Part(FEED), *parts, Part(FETCH)), threading.get_native_id())
        self._clock, self._own, self._last, self._crew = clock, cpu, last, plan.run.crew
        self.took_ns = 0
        self._plan = replace(plan, steps=list(_marked(groups, self._mark())))

    def _spent(self) -> int:
        """What other threads have taken for it, until now."""
        return 0 if self._crew is None else self._crew.spent_ns

    def _cpu(self) -> int:
        return self._own() + self._spent()

    def _mark(self) -> Step:
        append, clock = self.record.stamps.append, self._clock
        cpu = self._own if self._crew is None else self._cpu

        def mark() -> None:
            append(clock())
            append(cpu())

        return mark

    def run(self, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        stamps, last = self.record.stamps, self._last
        begin, spent = (self._clock(), self._cpu()), self._spent()
        clock, own = getattr(last, "end", None) or (begin[0], begin[1] - spent)
        stamps.extend((clock, own + spent))  # between runs only this thread counts
        stamps.extend(begin)
        try:
            fetched = self._plan(feed)
        except BaseException:
            width = self.record.width
            del stamps[len(stamps) // width * width :]
            raise
        end = self._clock(), self._cpu()
        stamps.extend(end)
        last.end = end[0], end[1] - self._spent()
        self.took_ns = end[1] - begin[1]
        return fetched


def _marked(groups: Iterable[list[tuple[Step, Operator]]], mark: Step) -> Iterator[tuple[Step, Operator]]:
    first = True
    for group in groups:
        if first:
            yield mark, group[0][1]
        first = False
        yield from group
        yield mark, group[0][1]


class Profile:
    """Counts what is run under it, in any number of threads; see the module's text."""

    def __init__(
        self,
        clock: Clock = time.perf_counter_ns,
        cpu: Clock = time.thread_time_ns,
        most_events: int = MOST_EVENTS,
        budget: float | None = None,
        mark_ns: float | None = None,
    ) -> None:
        self._clock, self._cpu, self._most_events = clock, cpu, most_events
        self._budget = budget
        self._mark_ns = _cost(clock, cpu) if mark_ns is None and budget else (mark_ns or 0.0)
        self._lock = threading.Lock()
        self._watches: WeakKeyDictionary[Plan, _Watch] = WeakKeyDictionary()
        self._records: list[_Record] = []
        self._last = threading.local()
        self.reset()

    def reset(self) -> None:
        """Forget all that was counted."""
        with self._lock:
            for record in self._records:
                record.taken()
            self._lines: dict[str, Line] = {}
            self._events: deque[tuple[_Record, np.ndarray]] = deque()
            self._held = 0  # numbers in them
            self._named: deque[tuple[str, int, int, int]] = deque(maxlen=self._most_events)
            self._began_ns, self._runs, self._passed = self._clock(), 0, 0
            self._row, self._row_ns, self._to_pass = 0, 0.0, 0

    def run(self, plan: Plan, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Run a plan, and write down what that took, if it is to be looked at."""
        if self._to_pass > 0:
            self._last.end = None
            self._to_pass -= 1
            self._passed += 1
            return plan(feed)
        watch = self._watches.get(plan) or self._watched(plan)
        fetched = watch.run(feed)
        record = watch.record
        if self._budget is not None:
            self._looked(watch, self._budget)
        if len(record.stamps) >= _RUNS_AT_ONCE * record.width:
            with self._lock:
                self._count(record)
        return fetched

    def note(self, name: str, start_ns: int, end_ns: int, cpu_ns: int) -> None:
        """Count something that a program has named and timed itself, of this profile's clocks."""
        with self._lock:
            if name not in self._lines:
                name = name if len(self._lines) < MOST_NAMES else OTHERS
            line = self._lines.get(name) or self._lines.setdefault(name, Line(name, is_named=True))
            line.count(1, end_ns - start_ns, cpu_ns, cpu_ns, cpu_ns)
            self._named.append((name, threading.get_native_id(), start_ns, end_ns - start_ns))

    def now(self) -> tuple[int, int]:
        """What the clocks say, in this thread."""
        return self._clock(), self._cpu()

    def begin(self) -> None:
        """It is switched on: what the calling thread did before is not between two runs."""
        self._last.end = None

    def _looked(self, watch: _Watch, budget: float) -> None:
        """At the end of a row: how many runs like these it pays for."""
        self._row += 1
        self._row_ns += watch.took_ns
        if self._row >= _IN_A_ROW:
            marks_ns = self._mark_ns * self._row * watch.record.width / 2
            own_ns = max(self._row_ns - marks_ns, marks_ns * _LEAST, 1.0)
            self._to_pass = max(0, round(self._row * (marks_ns / (budget * own_ns) - 1)))
            self._row, self._row_ns = 0, 0.0

    @property
    def runs(self) -> int:
        """How many runs of plans were looked at."""
        self._count_all()
        return self._runs

    @property
    def passed(self) -> int:
        """How many were not, for they would have cost too much."""
        return self._passed

    def lines(self) -> list[Line]:
        """What was counted; what took most of the processor first."""
        self._count_all()
        return sorted(self._lines.values(), key=lambda line: -line.cpu_ns)

    def trace(self, process: int) -> dict[str, Any]:
        """The last operators that ran, as chrome://tracing and Perfetto read them; times in microseconds."""
        self._count_all()
        events: list[dict[str, Any]] = []
        for record, walls in self._events:
            for walls_of_run in walls.tolist():
                events += self._of_run(record, walls_of_run, process)
        for name, thread, start, took in self._named:
            events.append(self._event(name, "program", start, took, process, thread))
        return {"displayTimeUnit": "ms", "traceEvents": events}

    def _of_run(self, record: _Record, walls: Sequence[int], process: int) -> Iterator[dict[str, Any]]:
        yield self._event("run", "run", walls[1], walls[-1] - walls[1], process, record.thread)
        for part, (start, end) in zip(record.parts[1:], pairwise(walls[1:]), strict=True):
            category = "backward" if part.name.endswith("_grad") else "forward"
            event = self._event(part.name, category, start, end - start, process, record.thread)
            yield event | {"args": {"writes": part.writes, "bytes": part.nbytes}}

    def _event(
        self, name: str, category: str, start: int, took: int, process: int, thread: int
    ) -> dict[str, Any]:
        times = {"ts": (start - self._began_ns) / 1e3, "dur": took / 1e3}
        return {"name": name, "cat": category, "ph": "X", **times, "pid": process, "tid": thread}

    def _watched(self, plan: Plan) -> _Watch:
        watch = _Watch(plan, self._clock, self._cpu, self._last)
        with self._lock:
            if len(self._records) >= _MOST_RECORDS:
                self._let_go()
            self._watches[plan] = watch
            self._records.append(watch.record)
        return watch

    def _let_go(self) -> None:
        """Count what plans left that are no more, and forget them: of sequences most batches differ."""
        alive = {id(watch.record) for watch in self._watches.values()}
        for record in self._records:
            self._count(record)
        self._records = [record for record in self._records if id(record) in alive]

    def _count_all(self) -> None:
        with self._lock:
            for record in self._records:
                self._count(record)

    def _count(self, record: _Record) -> None:
        taken = record.taken()
        if not len(taken):
            return
        self._runs += len(taken)
        took = np.diff(taken, axis=1)
        is_known = took[:, 0, 0] > 0  # what came before a row of runs was not looked at
        for k, part in enumerate(record.parts):
            wall, cpu = took[:, k].T if k else took[is_known, k].T
            if len(wall):
                line = self._lines.setdefault(part.name, Line(part.name, is_named=not k))
                line.add(wall, cpu, part.nbytes)
        self._events.append((record, taken[:, :, 0]))
        self._held += len(taken) * taken.shape[1]
        while len(self._events) > 1 and self._held > self._most_events:
            self._held -= self._events.popleft()[1].size


def _cost(clock: Clock, cpu: Clock) -> float:
    """Nanoseconds of a mark."""
    stamps: list[int] = []
    start = clock()
    for _ in range(_RUNS_AT_ONCE):
        stamps.append(clock())
        stamps.append(cpu())
    return _COLD * (clock() - start) / _RUNS_AT_ONCE


def traffic(operator: Operator, forms: Mapping[str, Form]) -> int:
    """How many bytes an operator reads and writes: all its arrays, but of a table only what is looked up."""
    written = sum(_nbytes(forms[name]) for name in operator.writes())
    if "Grad" in operator.inputs:
        gradients = [_nbytes(forms[name]) for name in operator.inputs["Grad"]]
        return 2 * sum(gradients)  # they are read, and as many bytes of the parameters are written
    tables = {index.into for index in registry.row(operator.type).indexes if index.axis == 0}
    return written + sum(
        written if slot in tables else _nbytes(forms[name])
        for slot, names in operator.inputs.items()
        for name in filter(None, names)
    )


def _nbytes(form: Form) -> int:
    itemsize = np.dtype(form.dtype).itemsize
    if form.rows is None:
        return prod(form.shape) * itemsize
    return form.rows * (prod(form.shape[1:]) * itemsize + np.dtype(np.int64).itemsize)


_current: Profile | None = None


def current() -> Profile | None:
    """The profile that is switched on in this process."""
    return _current


def switch(to: Profile | None) -> None:
    """From the next run on all executors of this process run under this profile, or under none."""
    global _current
    if to is not None:
        to.begin()
    _current = to
