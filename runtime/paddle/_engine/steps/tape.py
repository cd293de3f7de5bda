"""A tape: the values of a loop's variables at all moments, and operators bound to them.

Only offsets say how much there is of what a step sees of other sequences, so no plan can give it memory. A
tape has its own, which grows as needed and serves one run after another; gradients find there what they
need. It must never know what an operator computes. Guarantee: a variable's rows of all moments lie one
after another, where they are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import prod

import numpy as np

from paddle._engine import registry
from paddle._engine.program import Form, Operator, Variable
from paddle._engine.registry import Call, Run, Step
from paddle._engine.steps.kinds import SHARED, Kind
from paddle._engine.steps.layout import Layout
from paddle._engine.steps.loop import form_of

Array = np.ndarray
Views = Sequence[Array]


class Tape:
    """Memory by name. ``generation`` counts how often a piece of it was moved. ``runs``: what the operators
    of each moment are told, and tell each other. ``layout``: of the last walk forwards. ``is_walked_back``:
    somebody makes gradients of a test, for which all moments are kept there, too."""

    layout: Layout

    def __init__(self) -> None:
        self._pieces: dict[str, Array] = {}
        self.generation = 0
        self.is_walked_back = False
        self._runs: list[Run] = []

    def array(self, name: str, shape: tuple[int, ...], dtype: str) -> Array:
        """An array that holds anything, the same memory whenever the name is the same."""
        nbytes = prod(shape) * np.dtype(dtype).itemsize
        piece = self._pieces.get(name)
        if piece is None or len(piece) < nbytes:
            self._pieces[name] = piece = np.empty(nbytes + nbytes // 4, np.uint8)
            self.generation += 1
        return piece[:nbytes].view(dtype).reshape(shape)

    def runs(self, moments: int, outer: Run) -> list[Run]:
        """One for each moment; random numbers of each are its own."""
        self._runs += [Run() for _ in range(moments - len(self._runs))]
        for number, run in enumerate(self._runs[:moments]):
            run.seed, run.step = outer.seed + (number + 1 << 40), outer.step
            run.part = outer.part
        return self._runs


class Values:
    """The arrays of variables in one layout. Of those to ``keep`` all moments are there; of others the last.
    ``sums`` are added up over moments: all there is of them is the sum.
    """

    def __init__(
        self,
        tape: Tape,
        layout: Layout,
        kinds: Mapping[str, Kind],
        variables: Mapping[str, Variable],
        floating: str,
        keep: Collection[str] | None = None,
        sums: Collection[str] = (),
    ) -> None:
        self._tape, self._layout, self._kinds, self._variables = tape, layout, kinds, variables
        self._floating, self._keep, self._sums = floating, keep, sums
        self._wholes: dict[str, Array] = {}
        self._views: dict[str, Views] = {}

    def whole(self, name: str) -> Array:
        """All rows of a variable."""
        if name not in self._wholes:
            self._wholes[name] = self._array(name, name, is_kept=self._is_kept(name))
        return self._wholes[name]

    def put(self, name: str, array: Array) -> None:
        """Let a variable be an array that somebody else has."""
        self._wholes[name] = array

    def views(self, name: str) -> Views:
        """The rows of each moment."""
        if name not in self._views:
            self._views[name] = self._seen(name)
        return self._views[name]

    def sum_of(self, name: str) -> Views:
        """Of a sum, what each moment adds to."""
        return self._cut(name, self.whole(name), is_kept=True)

    def _is_kept(self, name: str) -> bool:
        return self._keep is None or name in self._keep

    def _array(self, key: str, name: str, is_kept: bool) -> Array:
        first, last, total = self._layout.pieces(self._kinds[name])
        if not is_kept:
            total = max((b - a for a, b in zip(first, last, strict=True)), default=0)
        form = form_of(self._variables[name], total, self._floating)
        return self._tape.array(key, form.shape, form.dtype)

    def _seen(self, name: str) -> Views:
        if self._kinds[name].ends:
            return self._layout.ends(name)
        if name in self._sums:
            return self._cut(name, self._array(f"{name}#each", name, is_kept=False), is_kept=False)
        return self._cut(name, self.whole(name), self._is_kept(name))

    def _cut(self, name: str, whole: Array, is_kept: bool) -> Views:
        kind = self._kinds[name]
        if kind.of == SHARED:
            return [whole] * self._layout.moments
        first, last, _ = self._layout.pieces(kind)
        return [whole[a:b] if is_kept else whole[: b - a] for a, b in zip(first, last, strict=True)]

    def _call(self, operator: Operator, arrays: Mapping[str, Array], run: Run) -> Call:
        slots = {
            slot: tuple(arrays[name] if name else None for name in names)
            for slot, names in chain(operator.inputs.items(), operator.outputs.items())
        }
        return Call(operator, slots, run, self._scratch(operator, arrays))

    def _scratch(self, operator: Operator, arrays: Mapping[str, Array]) -> Mapping[str, Array]:
        if not registry.kernel(operator.type).has_scratch:
            return {}
        forms = {name: Form(arrays[name].shape, arrays[name].dtype.name) for name in operator.reads()}
        own = next(operator.writes())
        return {
            key: self._tape.array(f"{own}#{key}", form.shape, form.dtype)
            for key, form in registry.scratch(operator, forms).items()
        }

    def at_each(self, operators: Sequence[Operator], runs: Sequence[Run]) -> list[list[Step]]:
        """What operators do at each moment."""
        names = {name for each in operators for name in (*each.reads(), *each.writes()) if name}
        views = {name: self.views(name) for name in names}
        bound: list[list[Step]] = []
        for moment in range(self._layout.moments):
            arrays = {name: seen[moment] for name, seen in views.items()}
            bound.append([*self._bound(operators, arrays, runs[moment])])
        return bound

    def at_once(self, operators: Sequence[Operator], run: Run) -> list[Step]:
        """What operators do on all moments."""
        names = {name for each in operators for name in (*each.reads(), *each.writes()) if name}
        return [*self._bound(operators, {name: self.whole(name) for name in names}, run)]

    def _bound(self, operators: Sequence[Operator], arrays: Mapping[str, Array], run: Run) -> Iterator[Step]:
        for operator in operators:
            yield from registry.kernel(operator.type).bind(self._call(operator, arrays, run))
