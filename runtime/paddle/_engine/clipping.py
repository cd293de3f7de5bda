"""Clipping of gradients by the trainer that computed them, between the backward operators and the exchange.

What a parameter server clips, element by element in the sum over trainers, is a penalty (penalties.py). A
norm it cannot clip: each shard has a part of it only. So here, as in PaddlePaddle fluid, each trainer clips
the gradient of its own batch before it gives it away: n trainers may together give n times the bound where
gradients are summed, and no more than the bound where they are averaged.

Guarantee: a gradient within its bounds is handed over as it is, except that repeated rows may have been
added up; one that holds a NaN or an infinity still shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from paddle._engine import registry
from paddle._engine.program import Operator, Parameter, Program, Variable

CLIPPED = "@CLIPPED"
SQUARES = "@SQUARES"

Pairs: TypeAlias = Sequence[tuple[Parameter, Variable]]


@dataclass(frozen=True, slots=True)
class ClipByValue:
    """Each element to ``min`` at least and ``max`` at most."""

    min: float
    max: float


@dataclass(frozen=True, slots=True)
class ClipByNorm:
    """Each gradient longer than ``max_norm`` shrunk to that length."""

    max_norm: float


@dataclass(frozen=True, slots=True)
class ClipByGlobalNorm:
    """All gradients, where they are together longer than ``max_norm``, shrunk to that by one factor."""

    max_norm: float


Clip: TypeAlias = ClipByValue | ClipByNorm | ClipByGlobalNorm


def append_clipping(program: Program, pairs: Pairs, clip: Clip) -> list[tuple[Parameter, Variable]]:
    """Append what clips the gradients in ``pairs``; returns the pairs with the clipped in their place."""
    append = Appending(program)
    match clip:
        case ClipByValue(low, high):
            attrs = {"min": low, "max": high}
            return [(p, append("clip_by_value", g.name + CLIPPED, attrs, X=[g])) for p, g in pairs]
        case ClipByNorm(norm):
            return [(p, append.shrunk(g, append.squares(g), norm)) for p, g in pairs]
        case ClipByGlobalNorm(norm) if pairs:
            squares = [append.squares(gradient) for _, gradient in pairs]
            total = append("sum", SQUARES.join(("", squares[0].name)), {}, X=squares)
            return [(p, append.shrunk(g, total, norm)) for p, g in pairs]
    return list(pairs)


class Appending:
    """Appends backward operators to a program, each with one output of a given name."""

    def __init__(self, program: Program) -> None:
        self._block = program.main

    def __call__(self, type: str, name: str, attrs: dict[str, Any], **inputs: Sequence[Variable]) -> Variable:
        row = registry.row(type)
        slots = row.slots({slot: [each.name for each in variables] for slot, variables in inputs.items()})
        operator = Operator(type, slots, {"Out": (name,)}, row.attributes(attrs), "backward")
        forms = {each.name: each.form for variables in inputs.values() for each in variables}
        made = self._block.add(Variable.of(name, registry.infer(operator, forms)[name]))
        self._block.append(operator)
        return made

    def squares(self, gradient: Variable) -> Variable:
        return self("squared_l2_norm", gradient.name + SQUARES, {}, X=[gradient])

    def shrunk(self, gradient: Variable, squares: Variable, norm: float) -> Variable:
        attrs = {"max_norm": norm}
        return self("clip_by_norm", gradient.name + CLIPPED, attrs, X=[gradient], Squares=[squares])
