"""Penalties on parameters, of the 2.x generation: ``paddle.regularizer``.

It must never hold code of its own. Guarantee: each is the class of the programs' room that the fluid
generation calls by its longer name.
"""

from __future__ import annotations

from paddle._program.regularizer import L1DecayRegularizer as L1Decay
from paddle._program.regularizer import L2DecayRegularizer as L2Decay

__all__ = ["L1Decay", "L2Decay"]
