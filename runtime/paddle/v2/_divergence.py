"""Divergence: a cost that is no number any more ends training, as the trap of the original's trainer does.

It must never know what is trained. Guarantee: nothing is trained with parameters that such a batch may have
spoiled, and no job ends well in which one was met; it costs a comparison per batch.
"""

from __future__ import annotations

import math

from paddle.v2._errors import Diverged


class Divergence:
    """Looks at the costs of one trainer. ``rank``: its trainer_id, None where it trains alone."""

    def __init__(self, rank: int | None) -> None:
        self._who = "" if rank is None else f" of trainer {rank}"

    def look(self, pass_id: int, batch_id: int, cost: float) -> None:
        """At the cost of a batch. Raises Diverged where it is infinite or NaN."""
        if math.isfinite(cost):
            return
        raise Diverged(
            f"the cost{self._who} is {cost} at batch {batch_id} of pass {pass_id}, and training ends: "
            "parameters may be lost with it. Look into that batch and the one before for values that are not "
            "finite or very large; then try a smaller learning_rate, or a warm-up, or a "
            "gradient_clipping_threshold in the optimizer, from parameters that were saved before."
        )
