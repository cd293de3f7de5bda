"""Running one segment on one scope.

It must never know a whole program. Guarantee: what a segment reads of the scope is what is there now, and
what it writes there is there when it returns.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.executor import Again as EngineAgain
from paddle._engine.executor import Executor as EngineExecutor
from paddle._engine.program import Shape
from paddle._program.errors import BadFeed, NotInitialized, explained
from paddle._program.lowering.segments import Segment
from paddle._program.lowering.value import LOD, Given, Need
from paddle._program.moving.keeping import Keeper, keeper_of
from paddle._program.moving.several import Several
from paddle._program.moving.turns import InTurn, Lock
from paddle._program.running.finite import Finite, check_moved
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.open_table import table_of
from paddle._program.running.scope import Scope
from paddle._program.upstream_flags import checks_finite

Values = MutableMapping[str, Any]


class SegmentRun:
    """A segment and what runs it. ``carrier``: see carrier.py. ``outlives``: names that go into the scope.
    ``lock``: of all threads that run it on this scope, each by a SegmentRun of its own."""

    def __init__(
        self,
        segment: Segment,
        scope: Scope,
        carrier: Any,
        outlives: frozenset[str],
        lock: Lock | None = None,
    ) -> None:
        self._lock = lock
        self._scope, self._carrier, self._groups = scope, carrier, segment.groups
        lowered = segment.lowered
        self._program, self._needs, self._reads = lowered.program, list(lowered.needs.values()), lowered.reads
        self._tables = {each.name for each in lowered.program.parameters() if each.spec.is_open}
        self._outlives, self._lines, self._given = outlives, lowered.lines, lowered.given
        self._moves = [Given(op.type, op.where, op.input("Param")[0]) for op in lowered.updates]
        self._kept = [(name, lowered.fetches[name]) for name in segment.keeps]
        self._fetch = [v.name for _, value in self._kept for v in (value.variable, *value.runs)]
        self._idle = _idle_offsets(lowered.program, self._needs)
        self._ranks = {each.name: len(lowered.program.variable(each.name).shape) for each in self._needs}
        self._several: Several | None = None
        self._stepping: list[Keeper] = []
        self._rates: dict[str, np.ndarray] = {}
        self._runner: EngineExecutor | None = None
        self._generation = -1
        self._is_plain = not any(value.runs for _, value in self._kept)
        self._again: EngineAgain | None = None
        self._shapes: dict[str, Shape] = {}

    def __call__(self, values: Values, seed: int, step: int, samples: int) -> None:
        """Run it on the values of a run, and add what it gives."""
        again = self._again
        if again is not None and self._is_as_before(values) and not again.is_void:
            self._run_again(again, values, seed, step, samples)
        else:
            self._again = None
            self._run(values, seed, step, samples)

    def _is_as_before(self, values: Values) -> bool:
        """Whether arrays of the same shapes are fed as when it was run before, and nothing was replaced."""
        for name, shape in self._shapes.items():
            value = values.get(name)
            if not isinstance(value, np.ndarray) or value.shape != shape:
                return False
        return self._scope.generation == self._generation and not checks_finite()

    def _run_again(self, again: EngineAgain, values: Values, seed: int, step: int, samples: int) -> None:
        """What ``_run`` does, where it is known that this is all."""
        for keeper in self._stepping:
            keeper.look_at_powers()
        rate = self._rate(values, self._groups[0].rate) if self._groups else None
        try:
            found = again(values, samples, rate, seed, step)
        except (FeedError, ShapeError) as error:
            raise explained(error, self._lines) from error
        for (name, _), array in zip(self._kept, found, strict=True):
            if name in self._outlives:
                self._write(name, array)
            else:
                values[name] = array

    def _note(self, runner: EngineExecutor, values: Values, feed: Mapping[str, Any]) -> None:
        """Remember how it was run, if all that takes is to hand over arrays of ``values``."""
        is_all = self._is_plain and self._several is None and len(feed) == len(self._needs)
        if is_all and all(isinstance(each, np.ndarray) and values.get(n) is each for n, each in feed.items()):
            self._shapes = {name: each.shape for name, each in feed.items()}
            self._again = runner.again(self._program)

    def _run(self, values: Values, seed: int, step: int, samples: int) -> None:
        scope = self._scope
        if self._lock is None:
            self._begin()
        else:
            with self._lock:
                self._begin()
        rates = [self._rate(values, group.rate) for group in self._groups]
        if self._several is not None:
            self._several.rates = rates
        feed: dict[str, Any] = {}
        bare: set[str] = set()  # arrays where sequences are declared
        for need in self._needs:
            if _put(feed, need, values, scope, need.name in self._idle):
                bare.add(need.name)
            if need.name in feed and np.ndim(feed[need.name]) != self._ranks[need.name]:
                feed[need.name] = self._of_rank(need.name, feed[need.name])
        assert self._runner is not None
        rate = rates[0] if rates else None
        run, fetch, look = self._runner.run, self._fetch, None
        if checks_finite():
            look = Finite(self._given, self._program, feed)
            fetch = [*fetch, *look.watched]
        try:
            found = run(
                self._program, feed, fetch, samples=samples, rate=rate, seed=seed, step=step, look=look
            )
        except (FeedError, ShapeError) as error:
            raise explained(error, self._lines) from error
        if look is None:
            self._note(self._runner, values, feed)
        elif self._carrier is None:
            check_moved(self._scope, self._moves)
        at = 0
        for name, value in self._kept:
            array: Any = found[at]
            at += 1
            if value.runs:
                lod = [found[at + i].tolist() for i in range(len(value.runs))]
                at += len(value.runs)
                of_bare = any(run.name.partition(LOD)[0] in bare for run in value.runs)
                if not of_bare and lod[-1][-1] == len(array):  # else its rows were put into others
                    array = LoDTensor(array, lod)
            if name in self._outlives:
                self._write(name, array)
            else:
                values[name] = array

    def _of_rank(self, name: str, value: Any) -> Any:
        """A value that differs from its description in sizes of 1 alone, as described."""
        given = np.asarray(value)
        sizes = but_for_ones(given.shape, self._program.variable(name).shape)
        return value if sizes is None else given.reshape(sizes)

    def _begin(self) -> None:
        if self._scope.generation != self._generation:
            self._settle()
        if self._several is not None:
            self._several.settle()
        for keeper in self._stepping:
            keeper.look_at_powers()

    def _rate(self, values: Values, name: str | None) -> float | None:
        """What a learning rate is at this step: what the run has computed, or what the scope holds."""
        if name is None:
            return None
        if not name:
            return 1.0
        value = values.get(name)
        if value is not None:
            return float(np.asarray(value).reshape(-1)[0])
        held = self._rates.get(name)
        if held is None:
            held = self._scope.value(name)
            if held is None:
                raise NotInitialized(
                    f"the learning rate {name!r} has no value: run the startup program first"
                )
            self._rates[name] = held
        return float(held.item(0))

    def _write(self, name: str, value: Any) -> None:
        self._scope.var(name).get_tensor().set(np.asarray(value))

    def _settle(self) -> None:
        """Find who keeps what, and have the engine compute with the arrays of the scope."""
        scope = self._scope
        own = [keeper_of(scope, group, self._carrier) for group in self._groups]
        for keeper in own:
            keeper.take_over()
        self._stepping = [keeper for keeper in own if keeper.has_powers]
        read = set(self._reads)
        there = [k for k in scope.keepers.values() if k not in own and not k.is_aside]
        others = [k for k in there if not read.isdisjoint(k.group.names)]
        for keeper in others:
            keeper.take_rows()
        kept = {name for keeper in (*own, *others) for name in keeper.group.tables}
        for name in self._tables - kept:
            self._keep_rows(name)
        bound = {name: self._array(name) for name in self._reads if name not in self._tables}
        known = scope.engine
        fresh = {n: a for n, a in bound.items() if n not in known or known.get(n) is not a}
        if fresh:
            known.bind(fresh)
        self._runner = self._runner_of(own, others)
        self._rates.clear()
        self._generation = scope.generation

    def _runner_of(self, own: list[Keeper], others: list[Keeper]) -> EngineExecutor:
        keepers, self._several = [*own, *others], None
        if self._lock is not None and keepers:
            return self._runner_in_turn(own, others, self._lock)
        if len(keepers) == 1:
            found: EngineExecutor = keepers[0].runner
            return found
        if not keepers:
            return EngineExecutor(self._scope.engine)
        several = self._several = Several(own, others)
        names = [name for each in keepers for name in each.group.tables]
        return EngineExecutor(self._scope.engine, several, several.room(), names)

    def _runner_in_turn(self, own: list[Keeper], others: list[Keeper], lock: Lock) -> EngineExecutor:
        """One that keeps its gradients to itself until it is its turn."""
        several = self._several = Several(own, others)
        names = [name for each in (*own, *others) for name in each.group.tables]
        return EngineExecutor(self._scope.engine, InTurn(several, lock), None, names)

    def _keep_rows(self, name: str) -> None:
        """Have rows that nobody trains be found."""
        found = table_of(self._scope, name)
        if found is None:
            raise NotInitialized(
                f"table {name!r} is not begun in this scope: run the startup program first, "
                "exe.run(default_startup_program()), in the scope that this program is run in"
            )
        self._scope.engine.keep(name, found.rows().sorted())

    def _array(self, name: str) -> np.ndarray:
        held = self._scope.value(name)
        if held is None:
            raise NotInitialized(
                f"variable {name!r} has no value in this scope: run the startup program first, "
                "exe.run(default_startup_program()), in the scope that this program is run in"
            )
        wanted = self._program.main.variables[name]
        array = np.asarray(held, wanted.dtype, order="C")
        if array.size == 1 and {array.ndim, len(wanted.shape)} == {0, 1}:
            array = array.reshape((1,) * len(wanted.shape))  # a learning rate, as people set it
        if array is not held:
            self._scope.adopt(name, array)
        return array


def but_for_ones(given: Shape, declared: Shape) -> list[int] | None:
    """Sizes with which what is ``given`` fits what is declared, if it differs in sizes of 1 alone."""
    left = [size for size in given if size != 1]
    sizes = [1 if size == 1 or not left else left.pop(0) for size in declared]
    fits = not left and all(a in (-1, b) for a, b in zip(declared, sizes, strict=True))
    return sizes if fits else None


def _idle_offsets(program: Any, needs: list[Need]) -> frozenset[str]:
    """The data made of sequences of which no operator asks where these begin: they may be fed as arrays."""
    used = {n for op in program.main.operators for names in op.inputs.values() for n in names}
    return frozenset(
        each.name
        for each in needs
        if each.levels and used.isdisjoint(f"{each.name}{LOD}{level}" for level in range(each.levels))
    )


def _put(feed: dict[str, Any], need: Need, values: Values, scope: Scope, idle: bool) -> bool:
    """Feed one; whether it is an array where sequences are declared, and ``idle``: nobody asks for them."""
    value = values.get(need.name)
    if value is None:
        value = _held(need, scope)
    if value is None:
        return False  # unless nothing that is wanted depends on it, the engine says that it lacks
    bare = False
    if isinstance(value, LoDTensor) and (value._lod or not (need.levels and idle)):
        _put_runs(feed, need, value)
        value = value.array()
    elif need.levels:
        if not idle:
            raise BadFeed(
                f"data {need.name!r} is made of sequences (lod_level {need.levels}), so it is fed a "
                f"LoDTensor, create_lod_tensor(data, lengths, place), and not {type(value).__name__}"
            )
        bare, value = True, value.array() if isinstance(value, LoDTensor) else value
        for level in range(need.levels):
            feed[f"{need.name}{LOD}{level}"] = np.arange(len(value) + 1)
    feed[need.name] = value
    return bare


def _put_runs(feed: dict[str, Any], need: Need, value: LoDTensor) -> None:
    lod = value._lod
    if len(lod) != need.levels and need.levels:
        raise BadFeed(
            f"data {need.name!r} has sequences in {need.levels} levels (lod_level), and is fed {len(lod)}"
        )
    for level, offsets in enumerate(lod if need.levels else ()):
        feed[f"{need.name}{LOD}{level}"] = np.asarray(offsets, np.int64)


def _held(need: Need, scope: Scope) -> Any:
    found = scope.find_var(need.name)
    if found is not None and found.is_initialized():
        return found.get_tensor() if need.levels else found.get_tensor().array()
    if need.persistable:
        raise NotInitialized(
            f"variable {need.name!r} has no value in this scope: run the startup program first"
        )
    return None
