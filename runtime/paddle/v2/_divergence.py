"""Divergence: a cost that is no number any more, told once.

It must never know what is trained. Guarantee: the first batch of a trainer whose cost is infinite or NaN is
named, with what to try; it costs a comparison per batch. Training goes on: an event handler may know better.
"""

from __future__ import annotations

import math
import warnings


class Divergence:
    """Looks at the costs of one trainer. ``rank``: its trainer_id, None where it trains alone."""

    def __init__(self, rank: int | None) -> None:
        self._who = "" if rank is None else f" of trainer {rank}"
        self._is_told = False

    def look(self, pass_id: int, batch_id: int, cost: float) -> None:
        """At the cost of a batch."""
        if math.isfinite(cost) or self._is_told:
            return
        self._is_told = True
        warnings.warn(
            f"the cost{self._who} is {cost} at batch {batch_id} of pass {pass_id}: parameters may be lost, "
            "and what is trained from here on with them. Look into that batch and the one before for values "
            "that are not finite or very large; then try a smaller learning_rate, or a warm-up, or a "
            "gradient_clipping_threshold in the optimizer, from parameters that were saved before. (Told "
            "once; training goes on, and an event handler can end it.)",
            RuntimeWarning,
            stacklevel=4,
        )
