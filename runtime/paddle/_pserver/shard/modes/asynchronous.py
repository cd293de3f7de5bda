"""Asynchronous: a push is due at once, alone. It is discarded when too many others came between it and the
values it was computed from.

With ``steps`` the pushes so far, this one and discarded ones included, and ``mark`` its value when the
trainer was last brought up to date (see Mode.refreshed)::

    discard when steps - mark >= max(int(num_gradient_servers * async_lagged_grad_discard_ratio), 2)

This is PaddlePaddle's rule, except for the 2: a gradient that no other push came before is never discarded.
(Without it, one trainer with the default ratio would train nothing.)

Guarantee: nobody waits before the end of a pass; every push is applied once or discarded, in the order of
arrival; without a ratio (half-asynchronous, GEO, averaging out of step) none is discarded. Where pushes come
to two shards in one order, both discard the same ones; in two orders, one may apply its part of a gradient of
which the other discards its own.

late        its next gradient may be too old. It is told so, and is up to date with that answer.
lost        the others continue to the end of the pass, and wait for it there.
repeated    as in every mode; the second answer brings it up to date, too.
replaced    at any time. The new process begins with the values of that moment, and is up to date with them. A
            restored shard counts from its restart: no gradient is too old at first.
"""

from __future__ import annotations

from collections.abc import Set

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.shard.modes.mode import Due, Mode, Offer

MIN_DISCARD_RATIO = 1.0
DEFAULT_DISCARD_RATIO = 1.5


class Async(Mode):
    """See the module's text."""

    def __init__(self, trainers: int, discard_ratio: float | None = None) -> None:
        self._threshold = None if discard_ratio is None else max(int(trainers * discard_ratio), 2)
        self._steps = 0
        self._marks = [0] * trainers
        self._due: Due | None = None

    def offer(self, offer: Offer) -> None:
        """See :class:`Mode`."""
        self._steps += 1
        lag = self._steps - self._marks[offer.trainer]
        self._due = Due((offer,), discard=self._threshold is not None and lag >= self._threshold)

    def due(self, present: Set[int]) -> Due | None:
        """See :class:`Mode`."""
        due, self._due = self._due, None
        return due

    def refreshed(self, trainer: int) -> None:
        """See :class:`Mode`."""
        self._marks[trainer] = self._steps


def discard_ratio(update: UpdateSpec) -> float:
    """The declared ratio; the default where it is too small to mean anything."""
    ratio = update.mode.discard_ratio
    return ratio if ratio > MIN_DISCARD_RATIO else DEFAULT_DISCARD_RATIO


def ratio_warning(update: UpdateSpec) -> str | None:
    """What to tell people when the declared ratio is not the one that is used."""
    declared, used = update.mode.discard_ratio, discard_ratio(update)
    if update.mode.name != "async" or declared == used:
        return None
    return f"async_lagged_grad_discard_ratio={declared} is not above {MIN_DISCARD_RATIO}: {used} is used"
