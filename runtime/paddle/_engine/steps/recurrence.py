"""A recurrence: how faces write what happens at each moment of sequences.

    recurrence = Recurrence(builder)
    x = recurrence.each(rows, offsets)              # of each sequence that is not over, the row of this
    moment former = recurrence.memory(size, boot)          # what was remembered one moment earlier now =
    recurrence.step.op("tanh", X=recurrence.step.op("elementwise_add", X=x, Y=former))
    recurrence.remember(former, now) (out,) = recurrence.done([now])                 # all rows of all
    sequences

Only what a memory depends on, and depends on a memory, has to be computed moment by moment: that becomes the
operator ``recurrent``. What is known beforehand is computed before it, and what only follows from it behind
it, on the rows of all moments at once, by ordinary operators of the outer program.

It must never know a value. Guarantee: where an operator is computed changes nothing but the order in which
floats are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paddle._engine.builder import Builder
from paddle._engine.errors import EngineError, ShapeError
from paddle._engine.program import Operator, Parameter, Shape, Variable
from paddle._engine.steps.kinds import EACH, SHARED, Kind
from paddle._engine.steps.loop import Loop, Memory
from paddle._engine.steps.partition import Parts, parted

BOOT = "@BOOT"


class _Step(Builder):
    """Writes a step. Its parameters are those of the outer program."""

    def __init__(self, outer: Builder) -> None:
        super().__init__()
        self._outer = outer

    def parameter(
        self,
        name: str,
        shape: Sequence[int],
        initializer: Callable[[Shape, np.random.Generator], np.ndarray],
        **options: Any,
    ) -> Parameter:
        """See Builder."""
        made = self._outer.parameter(name, shape, initializer, **options)
        if name not in self.program.main.variables:
            self.program.main.add(made)
        return made


class Recurrence:
    """One step and what it walks along. ``step`` is where its operators are appended."""

    def __init__(self, outer: Builder, is_reverse: bool = False) -> None:
        self._outer, self._is_reverse = outer, is_reverse
        self.step: Builder = _Step(outer)
        self._kinds: dict[str, Kind] = {}
        self._outside: dict[str, Variable] = {}
        self._offsets: list[Variable] = []
        self._like: Variable | None = None
        self._memories: dict[str, Memory] = {}
        self._expanded: dict[Variable, Variable] = {}
        self._ends: dict[str, Variable | None] = {}

    def each(self, rows: Variable, offsets: Variable) -> Variable:
        """Of sequences that lie in ``rows`` the one row of a moment: what is walked along."""
        self._walk(offsets)
        self._like = rows
        return self._seen(rows, Kind(EACH, varies=True))

    def inner(self, rows: Variable, offsets: Variable, outer: Variable) -> tuple[Variable, Variable]:
        """Of sequences of sequences the inner one of a moment: its rows and offsets. ``outer``: offsets of
        the sequences among the inner ones."""
        self._walk(outer)
        if self._like is None:
            self._like = self._outer.op("sequence_end", X=rows, Offsets=offsets)
        return self._runs(rows, offsets, varies=True)

    def static(self, rows: Variable) -> Variable:
        """A row for each sequence, the same at all moments."""
        return self._seen(rows, Kind(EACH, varies=False))

    def shared(self, values: Variable) -> Variable:
        """What is the same for all sequences, at all moments."""
        name = f"in{len(self._outside)}"
        self._kinds[name], self._outside[name] = Kind(SHARED, varies=False), values
        return self.step.data(name, values.shape, values.dtype)

    def static_runs(self, rows: Variable, offsets: Variable) -> tuple[Variable, Variable]:
        """A further sequence for each sequence, the same at all moments: its rows and offsets."""
        return self._runs(rows, offsets, varies=False)

    def memory(
        self, width: int, boot: Variable | None = None, *, start: float = 0, dtype: str = "float32"
    ) -> Variable:
        """A row of each sequence that it remembers, and at its beginning that of ``boot``, or ``start``."""
        name = f"memory{len(self._memories)}"
        now = self.step.data(name, (-1, width), dtype)
        self._kinds[name] = Kind(EACH, varies=True)
        if boot is not None:
            self._kinds[name + BOOT] = Kind(EACH, varies=False)
            self._outside[name + BOOT] = boot
            self.step.program.main.add(Variable(name + BOOT, boot.shape, boot.dtype))
        self._memories[name] = Memory(name, "", None if boot is None else name + BOOT, start)
        return now

    def memory_runs(self, boot: Variable, offsets: Variable) -> tuple[Variable, Variable]:
        """A further sequence of each sequence that it remembers, as long as that of ``boot``, which it is at
        its beginning: its rows and offsets."""
        _, ends = self._runs(boot, offsets, varies=False)
        now = self.memory(boot.shape[1], boot)
        self._kinds[now.name] = Kind(ends.name, varies=True)
        self._kinds[now.name + BOOT] = Kind(ends.name, varies=False)
        return now, ends

    def remember(self, memory: Variable, next: Variable) -> None:
        """Say what a memory is one moment later."""
        if memory.shape != next.shape or memory.dtype != next.dtype:
            raise ShapeError(f"a memory of {memory} cannot be of {next}")
        known = self._memories[memory.name]
        self._memories[memory.name] = Memory(known.now, next.name, known.boot, known.start)

    def done(self, outputs: Sequence[Variable]) -> list[Variable]:
        """Append all to the outer program, and return what the outputs are there: rows of all sequences."""
        if self._like is None:
            raise EngineError(
                "a recurrence has no input to walk along: give it a sequence with each or inner"
            )
        names = [each.name for each in outputs]
        parts, outside = self._parted(names)
        self._emit(parts.before, outside, parts.kinds)
        self._run(parts, outside)
        self._emit(parts.behind, outside, parts.kinds)
        self._ends = {name: outside.get(parts.kinds[name].of) for name in names if parts.kinds[name].varies}
        return [self._rows(outside[name], parts.kinds[name], varies=True) for name in names]

    def ends(self, output: Variable) -> Variable | None:
        """Of an output that is a sequence at each moment, once all is ``done``: its offsets outside."""
        return self._ends.get(output.name)

    def generate(
        self, probabilities: Variable, word: Variable, *, end: int, longest: int, beam_size: int, results: int
    ) -> tuple[Variable, Variable, Variable]:
        """Append a search for the most probable sequences: see ops/generate.py. The memory ``word`` is one
        moment later what it is found to be; the step walks along nothing."""
        self.remember(word, word)
        parts, outside = self._parted([probabilities.name])
        self._emit(parts.before, outside, parts.kinds)
        read = [name for each in (*parts.loop, *parts.behind) for name in each.reads()]
        read += [memory.next for memory in parts.memories] + _runs_of(parts)
        names = dict.fromkeys(name for name in read if name in outside)
        inputs = (*names, *(m.boot for m in parts.memories if m.boot and m.boot not in names))
        loop = Loop(
            (*parts.loop, *parts.behind),
            self.step.program.main.variables,
            parts.kinds,
            inputs,
            parts.memories,
            (probabilities.name,),
        )
        attrs = {"loop": loop.for_test, "word": word.name, "end": end, "longest": longest}
        attrs |= {"beam_size": beam_size, "results": results}
        made = self._outer.ops("generate", attrs, In=[outside[name] for name in inputs])
        return made["Ids"], made["Probs"], made["Offsets"]

    def _parted(self, names: list[str]) -> tuple[Parts, dict[str, Variable]]:
        """The parts of the step, and what the outer program knows of it."""
        variables = self.step.program.main.variables
        kinds = {name: Kind(SHARED, varies=False) for name in variables} | self._kinds
        parts = parted(self.step.program.main, list(self._memories.values()), names, kinds)
        known = {name: each for name, each in variables.items() if isinstance(each, Parameter)}
        return parts, self._outside | known

    def _walk(self, offsets: Variable) -> None:
        if offsets not in self._offsets:
            self._offsets.append(offsets)

    def _seen(self, rows: Variable, kind: Kind) -> Variable:
        name = f"in{len(self._outside)}"
        self._kinds[name], self._outside[name] = kind, rows
        return self.step.data(name, (-1, *rows.shape[1:]), rows.dtype)

    def _runs(self, rows: Variable, offsets: Variable, varies: bool) -> tuple[Variable, Variable]:
        known = {outside: name for name, outside in self._outside.items() if self._kinds[name].ends}
        if offsets in known:
            name = known[offsets]
            ends = self.step.program.main.variables[name]
        else:
            ends = self._seen(offsets, Kind(EACH, varies, ends=True))
            name = ends.name
        return self._seen(rows, Kind(name, varies)), ends

    def _emit(
        self, operators: Sequence[Operator], outside: dict[str, Variable], kinds: Mapping[str, Kind]
    ) -> None:
        """Append operators to the outer program, on all rows there are."""
        for each in operators:
            varies = any(kinds[name].varies for name in each.reads())
            inputs = {
                slot: [self._rows(outside[name], kinds[name], varies) for name in names]
                for slot, names in each.inputs.items()
            }
            count = max(map(len, each.outputs.values()))
            made = self._outer.append(each.type, each.attrs, inputs, count)
            for slot, names in each.outputs.items():
                outside.update(zip(names, made[slot], strict=True))

    def _rows(self, rows: Variable, kind: Kind, varies: bool) -> Variable:
        """What does not change, as often as there are moments of each sequence, where others change."""
        if not varies or kind.varies or kind.of != EACH or kind.ends:
            return rows
        if rows not in self._expanded:
            assert self._like is not None
            like, offsets = self._like, self._offsets[0]
            self._expanded[rows] = self._outer.op("sequence_expand", X=rows, Offsets=offsets, Like=like)
        return self._expanded[rows]

    def _run(self, parts: Parts, outside: dict[str, Variable]) -> None:
        """Append the loop, if there is any."""
        if not parts.exports:
            return
        boots = [memory.boot for memory in parts.memories if memory.boot]
        inputs = [*parts.imports, *boots] or [next(iter(self._outside))]
        inputs += [name for name in _runs_of(parts) if name in outside and name not in inputs]
        loop = Loop(
            parts.loop,
            self.step.program.main.variables,
            parts.kinds,
            tuple(inputs),
            parts.memories,
            parts.exports,
        )
        assert self._like is not None
        made = self._outer.several(
            "recurrent",
            len(loop.outputs),
            {"loop": loop, "is_reverse": self._is_reverse},
            In=[outside[name] for name in inputs],
            Offsets=self._offsets[0],
            Like=self._like,
            Others=self._offsets,
        )
        outside.update(zip(loop.outputs, made, strict=True))


def _runs_of(parts: Parts) -> list[str]:
    """Offsets of whatever rows the loop has: it may read rows without them."""
    names = {name for each in parts.loop for name in (*each.reads(), *each.writes())}
    names.update(parts.imports, parts.exports)
    return sorted({parts.kinds[name].of for name in names} - {EACH, SHARED})
