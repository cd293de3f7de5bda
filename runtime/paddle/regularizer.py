"""Penalties on parameters, of the 2.x generation: ``paddle.regularizer``.

It must never append: the room of programs does. Guarantee: each is a class of that room, which fluid
calls by its longer name.
"""

from __future__ import annotations

from typing import NoReturn

from paddle._program.writing.regularizer import L1DecayRegularizer, L2DecayRegularizer
from paddle._public_names import missing

__all__ = ["L1Decay", "L2Decay"]


class L1Decay(L1DecayRegularizer):
    """Adds ``coeff`` times the sign of the parameter to its gradient."""

    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)


class L2Decay(L2DecayRegularizer):
    """Adds ``coeff`` times the parameter to its gradient."""

    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name)
