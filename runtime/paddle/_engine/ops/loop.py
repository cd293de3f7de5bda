"""The operator ``recurrent``: a loop over the moments of sequences, the longest first, without padding.

Slot In holds what the loop reads, in the order of ``Loop.inputs``; Like has a row for each row of the
sequences that begin at Offsets; Others are offsets of further sequences with which the loop walks along, so
they must be the same. Out are the loop's outputs, for all rows. steps/recurrence.py makes such operators.

Its gradient walks back over what its forward left on a tape (steps/tape.py), which is per executor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import GRAD, Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Run, Step, Steps
from paddle._engine.steps.kinds import EACH, SHARED, Kind
from paddle._engine.steps.layout import Layout, same
from paddle._engine.steps.loop import Backwards, Loop, backwards, form_of
from paddle._engine.steps.tape import Tape, Values

Array = np.ndarray


def _shape(forms: Forms) -> Mapping[str, Form | tuple[Form, ...]]:
    loop: Loop = forms.attrs["loop"]
    shapes.integers(forms, "Offsets")
    rows = {loop.kinds[name]: form.shape[0] for name, form in zip(loop.inputs, forms.all("In"), strict=True)}
    rows[Kind(EACH, varies=True)] = forms["Like"].shape[0]
    if unknown := [name for name in loop.outputs if loop.kinds[name] not in rows]:
        raise ShapeError(f"how many rows {unknown} have is known from none of the inputs {loop.inputs}")
    floating = _floating(form.dtype for form in forms.all("In"))
    return {
        "Out": tuple(form_of(loop.variables[name], rows[loop.kinds[name]], floating) for name in loop.outputs)
    }


def _floating(dtypes: Iterator[str]) -> str:
    return next((dtype for dtype in dtypes if dtype.startswith("float")), "float32")


class _Walk:
    """What walks forwards and backwards have in common."""

    def __init__(self, call: Call, tape: str) -> None:
        loop: Loop = call.attrs["loop"]
        self.is_test, self._given_loop = call.attrs["is_test"], loop
        self.loop = loop.for_test if self.is_test else loop
        arrays = [array for array in call.arrays("In") if array is not None]
        self.arrays = dict(zip(loop.inputs, arrays, strict=True))
        self.floating = _floating(array.dtype.name for array in arrays)
        self.run = call.run
        self.tape: Tape = call.run.keep.setdefault(tape, Tape())
        self._key: object = None

    def loop_for_gradients(self) -> Loop:
        """What is walked along where gradients are made, too."""
        return self._given_loop.for_gradients_in_test if self.is_test else self._given_loop

    def is_ready(self, layout: Layout) -> bool:
        """Whether what was bound for the layout before holds for this one, too."""
        return self._key == (layout.key, self.tape.generation)

    def ready(self, layout: Layout) -> None:
        self._key = (layout.key, self.tape.generation)


class _Forward(_Walk):
    def __init__(self, call: Call) -> None:
        super().__init__(call, call.operator.outputs["Out"][0])
        self._offsets, self._others = call["Offsets"], call.arrays("Others")
        self._is_reverse, self._outs = call.attrs["is_reverse"], call.arrays("Out")
        kept = {*self.loop.outputs, *self.loop.inputs, *self.loop.passed_on}
        self._keep = kept if self.is_test else None
        self._steps: list[Step] = []
        self._values: Values | None = None

    def __call__(self) -> None:
        if self._keep is not None and self.tape.is_walked_back:
            self.loop, self._keep, self._values = self.loop_for_gradients(), None, None
        same(self._offsets, (each for each in self._others if each is not None))
        loop = self.loop
        runs = {name: array for name, array in self.arrays.items() if loop.kinds[name].ends}
        layout = Layout(self._offsets, self._is_reverse, runs, loop.kinds)
        moments = self.tape.runs(layout.moments, self.run)
        if self._values is None or not self.is_ready(layout):
            self._values = Values(self.tape, layout, loop.kinds, loop.variables, self.floating, self._keep)
            self._take(self._values, layout)
            self._steps = list(chain.from_iterable(self._bound(self._values, moments)))
            self.ready(layout)
        else:
            self._take(self._values, layout)
        for step in self._steps:
            step()
        for name, out in zip(loop.outputs, self._outs, strict=True):
            if out is not None:
                out[layout.places(loop.kinds[name])] = self._values.whole(name)
        self.tape.layout = layout

    def _take(self, values: Values, layout: Layout) -> None:
        """Inputs, in the order in which they are walked along."""
        for name, array in self.arrays.items():
            kind = self.loop.kinds[name]
            if kind.of == SHARED:
                values.put(name, array)
            elif not kind.ends:
                np.take(array, layout.places(kind), 0, values.whole(name), "clip")

    def _bound(self, values: Values, runs: list[Run]) -> Iterator[list[Step]]:
        each = values.at_each(self.loop.operators, runs)
        for moment, steps in enumerate(each):
            yield [*self._recall(values, moment), *steps]

    def _recall(self, values: Values, moment: int) -> Iterator[Step]:
        for memory in self.loop.memories:
            now = values.views(memory.now)[moment]
            if moment:
                yield partial(np.copyto, now, values.views(memory.next)[moment - 1][: len(now)])
            elif memory.boot is None:
                yield partial(now.fill, memory.start)
            else:
                yield partial(np.copyto, now, values.whole(memory.boot)[: len(now)])


class _Backward(_Walk):
    def __init__(self, call: Call) -> None:
        super().__init__(call, call.operator.inputs["Out" + GRAD][0].split(GRAD)[0])
        self.tape.is_walked_back |= self.is_test
        self.loop = self.loop_for_gradients()
        self._given = call.arrays("Out" + GRAD)
        found = zip(self.loop.inputs, call.arrays("In" + GRAD), strict=True)
        self._grads = {name: array for name, array in found if array is not None}
        self._back: Backwards = backwards(self.loop, frozenset(self._grads) - self.loop.boots)
        self._steps: list[Step] = []
        self._values: Values | None = None

    def __call__(self) -> None:
        layout, back = self.tape.layout, self._back
        if self._values is None or not self.is_ready(layout):
            self._values = self._made(layout)
            self._steps = list(self._bound(self._values, layout))
            self.ready(layout)
        values = self._values
        for name, given in zip(back.seeds, self._given, strict=True):
            if name and given is not None:
                np.take(given, layout.places(back.kinds[name]), 0, values.whole(name), "clip")
        for name in back.sums:
            values.whole(name).fill(0)
        for step in self._steps:
            step()
        self._give(values, layout)

    def _made(self, layout: Layout) -> Values:
        back = self._back
        passed = {name + GRAD for name in self.loop.passed_on}
        keep = {*self.loop.variables, *back.whole, *back.seeds, *back.sums, *passed}
        values = Values(self.tape, layout, back.kinds, back.variables, self.floating, keep, back.sums)
        for name, array in self.arrays.items():
            if self.loop.kinds[name].of == SHARED:
                values.put(name, array)
        for name, grad in self._grads.items():
            if self.loop.kinds[name].of == SHARED:
                values.put(name + GRAD, grad)
        return values

    def _bound(self, values: Values, layout: Layout) -> Iterator[Step]:
        back, runs = self._back, self.tape.runs(layout.moments, self.run)
        each = values.at_each(back.each, runs)
        for moment in reversed(range(layout.moments)):
            yield from self._carry(values, moment, layout.moments)
            yield from each[moment]
            for name in back.sums:
                total = values.sum_of(name)[moment]
                yield partial(np.add, total, values.views(name)[moment], total)
        yield from values.at_once(back.once, self.run)

    def _carry(self, values: Values, moment: int, moments: int) -> Iterator[Step]:
        """What the next moment says of the memories becomes what this one is told of what they remember."""
        for memory, seed in zip(self.loop.memories, self._back.carried, strict=True):
            if not seed:
                continue
            here, known = values.views(seed)[moment], memory.now + GRAD in self._back.variables
            if not known or moment + 1 == moments:
                yield partial(here.fill, 0)
                continue
            behind = values.views(memory.now + GRAD)[moment + 1]
            yield partial(np.copyto, here[: len(behind)], behind)
            if len(behind) < len(here):
                yield partial(here[len(behind) :].fill, 0)

    def _give(self, values: Values, layout: Layout) -> None:
        """Gradients of inputs, in the order of the outer program."""
        starts = {memory.boot: memory.now + GRAD for memory in self.loop.memories if memory.boot}
        for name, grad in self._grads.items():
            kind, own = self.loop.kinds[name], starts.get(name, name + GRAD)
            if own not in self._back.variables:
                grad.fill(0)
            elif name in starts:
                grad.fill(0)
                if layout.moments:
                    first = values.views(own)[0]
                    grad[layout.places(kind)[: len(first)]] = first
            elif kind.of != SHARED:
                grad[layout.places(kind)] = values.whole(own)


def _forward(call: Call) -> Steps:
    yield _Forward(call)


def _gradient(call: Call) -> Steps:
    yield _Backward(call)


ROWS = (
    Row(
        type="recurrent",
        inputs=("In*", "Offsets", "Like", "Others*"),
        outputs=("Out*",),
        attrs={"loop": REQUIRED, "is_reverse": False, "is_test": False},
        shape=_shape,
        forward=Kernel(_forward),
        gradient=Gradient(_gradient, of=("In",), needs=("In",)),
    ),
)
