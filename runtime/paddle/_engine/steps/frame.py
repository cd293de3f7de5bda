"""A frame: one moment of a loop, for rows of which each belongs to one of the sequences that were given.

Where sequences are generated, several paths go on from one sequence, and which ones changes from moment to
moment. It must never know what the operators compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np

from paddle._engine import registry
from paddle._engine.program import Form, Operator
from paddle._engine.registry import Call, Run, Step
from paddle._engine.steps.kinds import EACH, SHARED
from paddle._engine.steps.loop import Loop, form_of

Array = np.ndarray


def runs_of(offsets: Array, of: Array) -> Array:
    """The rows of the sequences ``of``, which may repeat, among those that begin at ``offsets``."""
    lengths = np.diff(offsets)[of]
    ends = np.cumsum(lengths)
    starts = np.repeat(offsets[:-1][of] - (ends - lengths), lengths)
    return np.asarray(starts + np.arange(len(starts)))


class Frame:
    """``values`` of all variables, by name; a call computes those that operators write.

    ``of``: the number of the sequence of each row. Those of memories are the caller's to fill.
    """

    def __init__(self, loop: Loop, inputs: Mapping[str, Array], of: Array, floating: str) -> None:
        self.values: dict[str, Array] = {}
        self._loop, self._of, self._floating = loop, of, floating
        self._rows = {SHARED: 0, EACH: len(of)}
        self._places: dict[str, Array] = {}
        for name, array in inputs.items():
            if loop.kinds[name].ends:
                self._lay_runs(name, array)
        for name, array in inputs.items():
            if name not in self.values:
                self.values[name] = self._taken(name, array)
        for name in loop.recalled:
            self.values[name] = self._empty(name)
        self._run = Run()
        self._steps: list[Step] = [*chain.from_iterable(map(self._bound, loop.operators))]

    def __call__(self) -> None:
        for step in self._steps:
            step()

    def _lay_runs(self, name: str, offsets: Array) -> None:
        lengths = np.diff(offsets)[self._of]
        ends = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        self.values[name], self._rows[name] = ends, int(ends[-1])
        self._places[name] = runs_of(offsets, self._of)

    def _taken(self, name: str, array: Array) -> Array:
        of = self._loop.kinds[name].of
        if of == SHARED:
            return array
        return np.take(array, self._of if of == EACH else self._places[of], 0)

    def _empty(self, name: str) -> Array:
        rows = self._rows[self._loop.kinds[name].of]
        form = form_of(self._loop.variables[name], rows, self._floating)
        return np.empty(form.shape, form.dtype)

    def _bound(self, operator: Operator) -> list[Step]:
        for name in operator.writes():
            self.values[name] = self._empty(name)
        slots = {
            slot: tuple(self.values[name] for name in names)
            for slot, names in chain(operator.inputs.items(), operator.outputs.items())
        }
        forms = {n: Form(self.values[n].shape, self.values[n].dtype.name) for n in operator.reads()}
        scratch = {
            key: np.empty(form.shape, form.dtype) for key, form in registry.scratch(operator, forms).items()
        }
        call = Call(operator, slots, self._run, scratch)
        return [*registry.kernel(operator.type).bind(call)]
