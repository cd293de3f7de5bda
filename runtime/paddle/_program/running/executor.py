"""Executor: runs programs, as people wrote them, on a scope.

It must never know an operator. Guarantee: a run leaves in the scope what its operators write there, and what
it returns is the caller's to keep; a program that was run before costs little besides what it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from paddle import _complaint
from paddle._program.carrier import close_all
from paddle._program.description.guards import default_main_program
from paddle._program.description.program import Program
from paddle._program.errors import BadArgument
from paddle._program.lowering.updates import is_update
from paddle._program.moving.turns import Lock
from paddle._program.reading.end import EOFException
from paddle._program.reading.training import FetchHandler, Watch, train
from paddle._program.reading.turns import Read, count_unread, reads_of, turn
from paddle._program.running import blas
from paddle._program.running.asked import Fetch, converted, names_of, plain_names, shown
from paddle._program.running.course import Course
from paddle._program.running.fed import fed, fit, put_lasting, samples_of, take_axes, tell_unknown, whole_of
from paddle._program.running.places import checked
from paddle._program.running.pruning import asks_for_updates, pruned
from paddle._program.running.ready import Ready, Shelf, shelf_of
from paddle._program.running.scope import Scope, global_scope


@dataclass(slots=True)
class _Known:
    """What an executor remembers of a program, and what would not keep it alive. ``shelf``: of the scope that
    it was run in last, which keeps it."""

    version: int
    reads: tuple[Read, ...]
    runs: int = 0
    shelf: Callable[[], Shelf | None] = lambda: None


class Executor:
    """Runs programs. ``place`` names a device; there is one."""

    def __init__(self, place: Any = None) -> None:
        _complaint.tell_uncaught()
        blas.settle()
        self.place = place
        self._programs: WeakKeyDictionary[Program, _Known] = WeakKeyDictionary()
        self._seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
        self._closed = False
        self._threads: list[Executor] = []
        self._number = 0  # of the thread that it is for, from 1 on
        self._lock: Lock | None = None  # of those of all threads

    def run(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        return_merged: bool = True,
        use_prune: bool = False,
    ) -> list[Any]:
        """Run the global block once; returns the values of ``fetch_list``, Variables or names.

        ``return_numpy``: as arrays, else as LoDTensors, which keep where sequences begin. ``use_prune``: run
        what these and updates depend on, and nothing else. If what ``minimize`` returns is among them, that
        is done, and of updates those alone are run. ``return_merged``: False lists, of a CompiledProgram,
        what each place found; there is one. What is named after a feed, a fetch or a cache changes nothing.
        """
        if self._closed:
            raise BadArgument("this Executor was closed: make another one")
        if not isinstance(program, Program):
            if getattr(program, "_is_inference", False):
                found: list[Any] = program._predictor.run(feed)
                return found
            if program is not None and not return_merged:
                rest: dict[str, Any] = {"scope": scope, "return_numpy": return_numpy, "use_prune": use_prune}
                return [[each] for each in self.run(program, feed, fetch_list, **rest)]
            program = _program_of(default_main_program() if program is None else program)
        scope = global_scope() if scope is None else scope
        values = fed(feed, program)
        names = None if use_prune else plain_names(fetch_list)
        if names is None:
            if use_prune or asks_for_updates(fetch_list):
                program, fetch_list = pruned(program, values, fetch_list, is_update)
            names = names_of(fetch_list)
        known = self._programs.get(program)
        if known is None or known.version != program._version:
            runs = 0 if known is None else known.runs
            known = self._programs[program] = _Known(program._version, reads_of(program), runs)
        if not known.reads:
            return self._computed(program, known, values, names, scope, return_numpy)
        try:
            with turn(known.reads, values):
                return self._computed(program, known, values, names, scope, return_numpy)
        except EOFException:
            if program._carrier is None:  # servers count steps that were taken
                count_unread(program, scope)
            raise

    def _computed(
        self,
        program: Program,
        known: _Known,
        values: dict[str, Any],
        names: list[str],
        scope: Scope,
        return_numpy: bool,
    ) -> list[Any]:
        """One run, with all that it is fed."""
        shelf = known.shelf()
        if shelf is None or shelf.scope is not scope:
            shelf = shelf_of(scope, self, program)
            known.shelf = ref(shelf)
        key = tuple(values), tuple(names)
        ready = shelf.get(key) or shelf.put(key, self._made(program, values, names, scope))
        if ready.whole:
            fit(values, ready.whole)
        if ready.lasting:
            values = put_lasting(values, ready.lasting, scope)
        if program._rates:
            _tell_rates(program, scope)
        samples = samples_of(values)
        block, seed = program.global_block(), program._seed or self._seed
        if self._number:
            seed = _seed_of(seed, self._number)
        if program._carrier is None:
            ready.course(block, values, seed, known.runs, samples)
        else:
            with _told(program._carrier):
                ready.course(block, values, seed, known.runs, samples)
        known.runs += 1
        if self._lock is None:
            return [shown(each, values, scope, return_numpy) for each in ready.fetches]
        with self._lock:
            return [shown(each, values, scope, return_numpy) for each in ready.fetches]

    def _made(self, program: Program, values: dict[str, Any], names: list[str], scope: Scope) -> Ready:
        checked(self.place)
        tell_unknown(program, values)
        take_axes(program, values)
        block = program.global_block()
        outlives = {each.name for each in program.list_vars() if each.persistable}
        passing = [name for name in values if name not in outlives]
        course = Course(block, scope, passing, names, self._lock)
        shared = names if course.asks_host else [*passing, *(n for n in names if names.count(n) > 1)]
        return Ready(
            course,
            [Fetch(name, converted(block, name), name in shared) for name in names],
            whole=[(name, dtype) for name in values if (dtype := whole_of(block, name))],
            lasting=[name for name in values if name in outlives],
        )

    def _of_threads(self, many: int) -> list[Executor]:
        """One for each of so many threads, which train what this one trains; each knows what it has run."""
        lock = self._threads[0]._lock if self._threads else RLock()
        for number in range(len(self._threads) + 1, many + 1):
            made = type(self)(self.place)
            made._lock, made._seed, made._number = lock, self._seed, number
            self._threads.append(made)
        return self._threads[:many]

    def train_from_dataset(
        self,
        program: Any = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Any = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: FetchHandler | None = None,
    ) -> None:
        """Run the program on all batches of a QueueDataset or InMemoryDataset, by ``thread`` threads (0: as
        many as the dataset was told). Of every ``print_period``-th batch ``fetch_list`` is printed."""
        watch = Watch(
            fetch_list=fetch_list or (),
            fetch_info=fetch_info or (),
            print_period=print_period,
            handler=fetch_handler,
        )
        program = default_main_program() if program is None else program
        train(self, _program_of(program), dataset, scope or global_scope(), thread, debug, watch)

    def infer_from_dataset(self, program: Any = None, *arguments: Any, **named: Any) -> None:
        """The same without learning: of a program that learns, what comes before is run."""
        program = _program_of(default_main_program() if program is None else program)
        if any(map(is_update, program.global_block().ops)):
            learning = program
            program = learning._twin("test", lambda: learning.clone(for_test=True))
            program._fleet_opt = getattr(learning, "_fleet_opt", None)
        self.train_from_dataset(program, *arguments, **named)

    def close(self) -> None:
        """Say goodbye; a distributed program's parameter servers are told. Those of fleet are not, whose
        worker may go on with another executor: ``fleet.stop_worker()`` tells them."""
        known = [program for each in (self, *self._threads) for program in each._programs]
        carriers = [program._carrier for program in known if program._carrier is not None]
        for carrier in carriers:
            if not carrier.outlives_executors:
                carrier.close()
        if not carriers:  # another one, such as a ParallelExecutor, has run what is trained
            close_all()
        self._closed = True


@lru_cache
def _seed_of(seed: int, number: int) -> int:
    """The seed of a thread, from 1 on: each draws its own, whatever the program has said of all."""
    return int(np.random.SeedSequence((seed, number)).generate_state(1, np.uint64)[0] >> 1)


@contextmanager
def _told(carrier: Any) -> Iterator[None]:
    """Have the others of a job hear of an error with which this trainer ends."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, EOFException):  # that is how a reader says that a pass is over
            carrier.failed(error)
        raise
    carrier.succeeded()


def _tell_rates(program: Program, scope: Scope) -> None:
    """Put the learning rates that the caller drives where operators read them."""
    for name, rate in program._rates.items():
        held = scope.find_var(name)
        if held is not None and held.is_initialized():
            held.get_tensor().array().reshape(-1)[0] = rate()


def _program_of(program: Any) -> Program:
    if isinstance(program, Program):
        return program
    found = getattr(program, "_program", None)
    if isinstance(found, Program):
        return found
    raise BadArgument(f"an Executor runs Programs, not {program!r}")
