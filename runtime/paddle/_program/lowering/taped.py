"""The way back along what a run has done: of a segment, an engine program for the gradients of what it read.

Where host operators stand between a loss and what is learned, no program of the engine goes all the way back.
Each segment that was run has one that takes the gradients of what it gave and gives those of what it read;
between them host operators have rules of their own (running/tape.py). It must never know a run.

Guarantee: a segment's way back computes with what the segment has read, operator by operator the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from paddle._engine.autodiff import Backward
from paddle._engine.program import GRAD, Shape
from paddle._engine.program import Operator as EngineOperator
from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.block import Block
from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.passes import Pass
from paddle._program.lowering.value import Lowered, Need, Value

GIVEN = "@GIVEN"
"""Appended to a name for the gradient that a way back is fed."""


READ, WRITTEN = "@READ", "@WRITTEN"
"""Appended to a name for the gradients that a way back gives: of what was read, and of what was written."""


@dataclass(frozen=True, slots=True)
class Taped:
    """A pass that goes back along what was run. ``seeds``: of each target the gradient, a number or the name
    of a variable. ``wanted``: of the gradients that somebody reads, what they are of. ``stopped``: what none
    goes through."""

    seeds: tuple[tuple[str, float | str], ...]
    wanted: Mapping[str, str]
    stopped: frozenset[str]

    @classmethod
    def of(cls, given: Pass, read: Collection[str]) -> Taped:
        """``read``: the names that somebody reads afterwards."""
        seeds = (
            (name, op.input("X")[0] if op.input("X") else op.attrs["value"])
            for name, op in given.seeds.items()
        )
        wanted = {name: base for name, base in given.gradients.items() if name in read}
        return cls(tuple(seeds), wanted, frozenset(given.stopped))


@dataclass(frozen=True, slots=True)
class WayBack:
    """The gradients of what operators of a block read, by its names with READ, and of what they write and
    somebody wants, with WRITTEN, from those of what is ``seeded``, by its names with GIVEN. ``ops``: places
    in the block. ``fed``: names that a feed gave. ``tells``: what it is told as sizes."""

    ops: tuple[int, ...]
    fed: frozenset[str]
    seeded: tuple[str, ...]
    taped: Taped
    tells: tuple[str, ...] = ()

    def of(self, block: Block) -> list[Operator]:
        """Its operators."""
        return [block.ops[place] for place in self.ops]

    def lower(
        self,
        block: Block,
        sizes: Mapping[str, Shape] | None = None,
        told: Mapping[str, tuple[int, ...]] | None = None,
    ) -> tuple[Lowered, tuple[str, ...]]:
        """The program, and the names of what it gives; ``sizes`` and ``told``: see Lowering."""
        ops, bases = self.of(block), set(self.taped.wanted.values())
        low = Lowering(block, self.fed, sizes=sizes, told=told)
        low._sparse = frozenset()  # what comes back is added up
        low.again = True
        low.lower(ops)
        read = _read(low, bases, self.taped)
        written = sorted({name for op in ops for name in op.output_arg_names} & bases)
        inner = {name: low.env[name].variable for name in written if name in low.env}
        targets = {name: low.env[name].variable.name for name in self.seeded}
        sources = {each.name for each in (*read.values(), *inner.values())}
        stopped = low.stopped_in(()) | {
            low.env[name].variable.name for name in self.taped.stopped if name in low.env
        }
        given = {name: _given(low, name) for name in self.seeded}
        backward = Backward(low.builder.program.main, list(targets.values()), sources, stopped)
        for name, target in targets.items():
            if target in backward.seeded:
                backward.emit(_seed(given[name], backward.seed(target)))
        backward.append()
        fetches = (*_gradients(low, read, READ), *_gradients(low, inner, WRITTEN))
        return low.finish(fetches), fetches


def _read(low: Lowering, bases: Collection[str], taped: Taped) -> dict[str, EngineVariable]:
    """What gradients may be wanted of: what comes from outside, and parameters that are learned."""
    main, found = low.builder.program.main, {}
    for name in low.needs:
        if name not in low.stopped and name not in taped.stopped and main.variables[name].dtype == "float32":
            found[name] = main.variables[name]
    parameters = low.builder.program.parameters()
    return {**found, **{each.name: each for each in parameters if each.name in bases}}


def _given(low: Lowering, name: str) -> tuple[str, str]:
    """What is fed as the gradient of a target, and zeros like the target: who reads these has it computed."""
    target = low.env[name].variable
    made = low.builder.data(name + GIVEN, target.shape)
    low.needs[made.name] = Need(made.name, 0, False)
    return made.name, low.builder.op("fill_any_like", {"value": 0.0}, X=target).name


def _seed(parts: tuple[str, str], seed: str) -> EngineOperator:
    return EngineOperator("sum", {"X": parts}, {"Out": (seed,)}, {}, "backward")


def _gradients(low: Lowering, of: Mapping[str, EngineVariable], suffix: str) -> list[str]:
    """Whose gradients there are, under which names."""
    main, found = low.builder.program.main, []
    for name, source in of.items():
        gradient = main.variables.get(source.name + GRAD)
        if gradient is None:
            continue
        if gradient.kind == "rows":
            zeros = low.builder.op("fill_any_like", {"value": 0.0}, X=source)
            gradient = low.builder.op("sum", X=[zeros, gradient])
        low.env[name + suffix] = Value(gradient)
        found.append(name + suffix)
    return found
