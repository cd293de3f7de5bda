"""Executor: runs programs, as people wrote them, on a scope.

It must never know an operator. Guarantee: a run leaves in the scope what its operators write there, and what
it returns is the caller's to keep; a program that was run before costs little besides what it computes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from paddle import _complaint
from paddle._program.carrier import close_all
from paddle._program.description.dtypes import VarType, numpy_dtype
from paddle._program.description.guards import default_main_program
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument, BadFeed
from paddle._program.lowering.updates import is_update
from paddle._program.moving.turns import Lock
from paddle._program.reading.end import EOFException
from paddle._program.reading.training import FetchHandler, Watch, train
from paddle._program.reading.turns import Read, count_unread, reads_of, turn
from paddle._program.running import blas
from paddle._program.running.course import Course
from paddle._program.running.fetched import Fetched
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.parts import joined
from paddle._program.running.places import checked
from paddle._program.running.pruning import asks_for_updates, pruned
from paddle._program.running.ranges import as_whole, check_range
from paddle._program.running.ready import Ready, ready_of
from paddle._program.running.scope import Scope, global_scope


@dataclass(slots=True)
class _Known:
    """What an executor remembers of a program, and what would not keep it alive."""

    version: int
    reads: tuple[Read, ...]
    runs: int = 0


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
        if getattr(program, "_is_inference", False):
            found: list[Any] = program._predictor.run(feed)
            return found
        if not (return_merged or program is None or isinstance(program, Program)):
            rest: dict[str, Any] = {"scope": scope, "return_numpy": return_numpy, "use_prune": use_prune}
            return [[each] for each in self.run(program, feed, fetch_list, **rest)]
        program = _program_of(default_main_program() if program is None else program)
        scope = global_scope() if scope is None else scope
        values = _fed(feed, program)
        if use_prune or asks_for_updates(fetch_list):
            program, fetch_list = pruned(program, values, fetch_list, is_update)
        names = _names(fetch_list)
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

        def make() -> Ready:
            checked(self.place)
            _tell_unknown(program, values)
            _take_axes(program, values)
            return _prepare(program, list(values), names, scope, self._lock)

        ready = ready_of(scope, self, program, (tuple(values), tuple(names)), make)
        values |= {name: as_whole(values[name], dtype) for name, dtype in ready.whole}
        for name, dtype in ready.whole:
            check_range(name, np.asarray(values[name]), dtype)
        if ready.lasting:
            values = _put_lasting(values, ready.lasting, scope)
        _tell_rates(program, scope)
        samples = _samples(values)
        block, seed = program.global_block(), _seed_of(program._seed or self._seed, self._number)
        if program._carrier is None:
            ready.course(block, values, seed, known.runs, samples)
        else:
            with _told(program._carrier):
                ready.course(block, values, seed, known.runs, samples)
        known.runs += 1
        with self._lock or nullcontext():
            found = [_fetched(values, scope, *each) for each in ready.fetches]
        return [_shown(each, name, return_numpy) for each, name in zip(found, names, strict=True)]

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
    """The seed of a thread: each draws its own, whatever the program has said of all."""
    if not number:
        return seed
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


def _prepare(
    program: Program, fed: Sequence[str], names: Sequence[str], scope: Scope, lock: Lock | None
) -> Ready:
    block = program.global_block()
    outlives = {each.name for each in program.list_vars() if each.persistable}
    course = Course(block, scope, [name for name in fed if name not in outlives], names, lock)
    fetches = [(name, name in outlives, _converted(block, name)) for name in names]
    whole = [(name, dtype) for name in fed if (dtype := _whole(block, name))]
    return Ready(course, fetches, whole, [name for name in fed if name in outlives])


def _put_lasting(values: Mapping[str, Any], lasting: Sequence[str], scope: Scope) -> dict[str, Any]:
    """Have the scope hold what is fed to variables that outlive a run; gives all else."""
    for name in lasting:
        given, tensor = values[name], scope.var(name).get_tensor()
        tensor.set(np.asarray(given))
        tensor.set_lod(given.lod() if isinstance(given, LoDTensor) else [])
    return {name: value for name, value in values.items() if name not in lasting}


def _tell_unknown(program: Program, values: Mapping[str, Any]) -> None:
    """A value that nobody reads is more often a name mistyped than one pruned."""
    known = {name for block in program.blocks for name in block.vars}
    if unknown := ", ".join(repr(name) for name in values if name not in known):
        warnings.warn(
            f"feed gives {unknown}, which nobody reads: the program has no such variable, or it was pruned",
            stacklevel=6,  # where run() is called
        )


def _take_axes(program: Program, values: Mapping[str, Any]) -> None:
    """A tensor that was declared without a shape has as many axes as what it is fed."""
    described = program.global_block().vars
    for name, value in values.items():
        found = described.get(name)
        if found is not None and not found.has_shape and found.type == VarType.LOD_TENSOR:
            found.shape = (-1,) * np.ndim(value)


def _tell_rates(program: Program, scope: Scope) -> None:
    """Put the learning rates that the caller drives where operators read them."""
    for name, rate in program._rates.items():
        held = scope.find_var(name)
        if held is not None and held.is_initialized():
            held.get_tensor().array().reshape(-1)[0] = rate()


def _converted(block: Any, name: str) -> np.dtype[Any] | None:
    dtype = numpy_dtype(block._var_recursive(name).dtype)
    return None if dtype in (np.float32, np.int64) else dtype


def _whole(block: Any, name: str) -> np.dtype[Any] | None:
    """The dtype of a variable of whole numbers."""
    described = block._find_var_recursive(name)
    if described is None or not described.has_dtype:
        return None
    dtype = numpy_dtype(described.dtype)
    return dtype if dtype.kind in "iu" else None


def _fetched(values: dict[str, Any], scope: Scope, name: str, outlives: bool, dtype: Any) -> Any:
    if name in values:
        value = values[name]
    else:
        held = scope.find_var(name)
        if held is None or not held.is_initialized():
            raise BadFeed(f"fetch_list names {name!r}, which has no value: run the startup program first")
        tensor = held.get_tensor()
        value = LoDTensor(tensor.array().copy(), tensor.lod()) if tensor._lod else tensor.array().copy()
    if dtype is None or not isinstance(value, np.ndarray | LoDTensor):
        return value
    if isinstance(value, LoDTensor):
        return LoDTensor(value.array().astype(dtype, copy=False), value.lod())
    return value.astype(dtype, copy=False)


def _shown(value: Any, name: str, return_numpy: bool) -> Any:
    if not return_numpy:
        return value if isinstance(value, LoDTensor | list) else LoDTensor(value)
    if isinstance(value, LoDTensor) and value._lod:
        raise BadArgument(
            f"fetch_list names {name!r}, whose rows are sequences (LoD), which an array cannot say: pass "
            "return_numpy=False, and take the rows with numpy.array(...) and the sequences with .lod()"
        )
    array = value.array() if isinstance(value, LoDTensor) else value
    return Fetched.of(array) if isinstance(array, np.ndarray) else array


def _fed(feed: Any, program: Program) -> dict[str, Any]:
    if feed is None:
        return {}
    feed = getattr(feed, "named", feed)  # of a DataLoader's batch
    if isinstance(feed, list | tuple) and feed:
        feed = feed[0] if len(feed) == 1 else joined(feed, program.global_block()._find_var_recursive)
    if not isinstance(feed, Mapping):
        raise BadArgument(f"feed is a dict of names to values, not {type(feed).__name__}")
    found: dict[str, Any] = {}
    known = program.global_block()
    for name, value in feed.items():
        key = name if type(name) is str else name.name if isinstance(name, Variable) else str(name)
        is_one = type(value) is np.ndarray or isinstance(value, np.ndarray | LoDTensor)
        made = value if is_one else _array(key, value, known._find_var_recursive(key))
        if type(made) is np.ndarray and made.dtype.kind in "OSU":
            shown = " ".join(repr(value).split())
            raise BadArgument(
                f"feed gives {key!r} no numbers (dtype {made.dtype}) but {shown:.60}: feed an array of "
                "numbers, and lists of unequal length as fluid.create_lod_tensor(data, lengths, place)"
            )
        found[key] = made
    return found


def _array(name: str, value: Any, described: Variable | None) -> Any:
    """What is no array becomes one, of its variable's dtype; a number one of one element."""
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise BadArgument(
            f"feed gives {name!r} what is not an array, lists of unequal length, say ({error}): pad them, or "
            "feed sequences as fluid.create_lod_tensor(data, lengths, place)"
        ) from error
    if described is None or found.dtype.kind not in "biuf":
        return found
    if np.isscalar(value) and not (described.has_shape and described.shape == ()):
        found = found.reshape(1)
    if not described.has_dtype:
        return found
    dtype = numpy_dtype(described.dtype)
    is_narrower = dtype.kind in "iu" and found.dtype.kind in "iu"  # a number that it does not hold is refused
    return found if is_narrower else found.astype(dtype)


def _names(fetch_list: Any) -> list[str]:
    return [] if fetch_list is None else _listed(fetch_list)


def _listed(given: Any) -> list[str]:
    """The names in a list of Variables and names, which may hold such lists, as of gradients."""
    if isinstance(given, list | tuple):
        return [name for each in given for name in _listed(each)]
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if not isinstance(name, str):
        raise BadArgument(f"fetch_list holds Variables and names of variables, not {given!r:.60}")
    return [name]


def _samples(values: Mapping[str, Any]) -> int:
    for value in values.values():
        if type(value) is np.ndarray and value.ndim:
            return len(value)
        if isinstance(value, LoDTensor):
            return len(value._lod[0]) - 1 if value._lod else len(value)
        if isinstance(value, np.ndarray) and value.ndim:
            return len(value)
    return 0


def _program_of(program: Any) -> Program:
    if isinstance(program, Program):
        return program
    found = getattr(program, "_program", None)
    if isinstance(found, Program):
        return found
    raise BadArgument(f"an Executor runs Programs, not {program!r}")
