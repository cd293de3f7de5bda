"""Synchronous: a step is due when every trainer in the pass has pushed it; all its gradients count as one.

Guarantee: a step has exactly one push of every trainer in the pass, in the order of trainers, whatever order
they came in; so its outcome does not depend on timing. All are answered with the values after it. Trainers
that have ended their pass are not waited for.

late        all others wait, with every step.
lost        the same.
repeated    it gets the values that it missed: without its next push there is no later step.
replaced    only between two passes: within one, the new process would train the same data twice. Never where
            trainers update by themselves (averaging): state of the old one's own would be missing.
"""

from __future__ import annotations

from collections.abc import Set

from paddle._pserver.shard.modes.mode import Due, Mode, Offer


class Sync(Mode):
    """See the module's text."""

    is_in_step = True

    def __init__(self) -> None:
        self.offers: dict[int, Offer] = {}  # by trainer: what came for the step to come

    def offer(self, offer: Offer) -> None:
        """See :class:`Mode`."""
        self.offers[offer.trainer] = offer

    def due(self, present: Set[int]) -> Due | None:
        """See :class:`Mode`."""
        offers = self.offers
        if not offers or len(offers) < len(present):  # most pushes of many trainers end here
            return None
        if not present <= offers.keys():
            return None
        self.offers = {}
        if len(offers) == 1:
            return Due(tuple(offers.values()))
        return Due(tuple([offers[trainer] for trainer in sorted(offers)]))
