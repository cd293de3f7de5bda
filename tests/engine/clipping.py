"""Clipping by a trainer, as programs of fluid ask for it: between the backward operators and the exchange it
clips the gradient of its own batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from paddle._engine.appending import Appending
from paddle._engine.program import Parameter, Program, Variable

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
            return [(p, _shrunk(append, g, _squares(append, g), norm)) for p, g in pairs]
        case ClipByGlobalNorm(norm) if pairs:
            squares = [_squares(append, gradient) for _, gradient in pairs]
            total = append("sum", SQUARES.join(("", squares[0].name)), {}, X=squares)
            return [(p, _shrunk(append, g, total, norm)) for p, g in pairs]
    return list(pairs)


def _squares(append: Appending, gradient: Variable) -> Variable:
    return append("squared_l2_norm", gradient.name + SQUARES, {}, X=[gradient])


def _shrunk(append: Appending, gradient: Variable, squares: Variable, norm: float) -> Variable:
    attrs = {"max_norm": norm}
    return append("clip_by_norm", gradient.name + CLIPPED, attrs, X=[gradient], Squares=[squares])
