"""What pulls one parameter back towards zero, and how far one gradient may push it.

This file resolves a parameter's own rates against the job's; the arithmetic itself is folded into the
update kernels. It must never know where a parameter lives.

Semantics (PaddlePaddle v2), for a gradient g, a value w and the rate r at which a rule moves that
element:

* clipping comes first, per element, on the gradient summed over trainers: g = min(max(g, -clip), clip);
* L2 alone is part of the step: the rule moves w along g + l2 * w instead of g; statistics are of g alone;
* with an L1 rate both follow the step: w = sign(w) * max(|w| - r * l1, 0), then w = w / (1 + r * l2);
* in Adam, Adamax, Ftrl and Lamb both always follow the step, with r = lr;
* a row of a table that steps pass by is penalised by them like any other, at each step's learning rate; this
  is made up for when the row is next needed (see rules/rule.py). v2 applies k steps at once, with k times the
  rates of the step that ends them: the same where these are small.

Guarantee: a rate of zero changes no bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from paddle._engine.exchange import ParameterSpec, UpdateSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalties:
    """One parameter's rates: ``l1``, ``l2`` per unit of learning rate; ``clip`` in the gradient's unit."""

    l1: float = 0.0
    l2: float = 0.0
    clip: float = math.inf

    @property
    def numbers(self) -> tuple[np.float32, np.float32, np.float32]:
        """As the kernels of rules take them: ``clip``, ``l1``, ``l2``."""
        return np.float32(self.clip), np.float32(self.l1), np.float32(self.l2)


def penalties(parameter: ParameterSpec, update: UpdateSpec) -> Penalties:
    """The parameter's own rates where it has them (zero included), else the job's.

    A clipping threshold of zero means none, so a parameter's zero leaves the job's in force, as in v2.
    """
    clip = parameter.gradient_clipping_threshold or update.gradient_clipping_threshold
    return Penalties(
        l1=update.l1_rate if parameter.l1_rate is None else parameter.l1_rate,
        l2=update.l2_rate if parameter.l2_rate is None else parameter.l2_rate,
        clip=clip if clip > 0 else math.inf,
    )
