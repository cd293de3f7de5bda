"""Modes: when a pushed gradient counts, and with which others.

A shard offers every push to its mode and asks what is due. Modes must never know a parameter: they see who
pushed, and who is in the pass.

Synchronous. A step is due when every trainer in the pass has pushed it; all its gradients count as one.
Trainers that have ended their pass are not waited for.

Asynchronous. A push is due at once, alone. It is discarded when too many others came between it and the
values it was computed from. With ``steps`` the pushes so far, this one and discarded ones included, and
``mark`` its value when the trainer was last given values::

    discard when steps - mark >= max(int(num_gradient_servers * async_lagged_grad_discard_ratio), 2)

This is PaddlePaddle's rule, except for the 2: a gradient that no other push came before is never discarded.
(Without it, one trainer with the default ratio would train nothing.)

Guarantee: the outcome depends on the order of pushes in asynchronous mode only; in synchronous mode what is
due holds the pushes in the order of trainers, whatever order they came in.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.messages import Push
from paddle._pserver.tables import Gradient

MIN_DISCARD_RATIO = 1.0
DEFAULT_DISCARD_RATIO = 1.5


@dataclass(frozen=True, slots=True)
class Offer:
    """One trainer's push."""

    trainer: int
    push: Push
    gradient: Gradient


@dataclass(frozen=True, slots=True)
class Due:
    """Pushes, in trainer order, whose fate is known: applied as one step, or discarded."""

    offers: tuple[Offer, ...]
    discard: bool = False


class Mode(Protocol):
    """See the module's text.

    ``is_in_step``: no value changes from a trainer's answer to its next push, since every step waits for it.
    """

    is_in_step: bool

    def offer(self, offer: Offer) -> None:
        """A trainer has pushed."""
        ...

    def due(self, present: Set[int]) -> Due | None:
        """What is decided now, with these trainers in the pass; each push is returned once."""
        ...

    def refreshed(self, trainer: int) -> None:
        """The trainer is being given the current values."""
        ...


class Sync:
    """Synchronous: see the module's text."""

    is_in_step = True

    def __init__(self) -> None:
        self._offers: dict[int, Offer] = {}

    def offer(self, offer: Offer) -> None:
        """See :class:`Mode`."""
        self._offers[offer.trainer] = offer

    def due(self, present: Set[int]) -> Due | None:
        """See :class:`Mode`."""
        if not self._offers or present - self._offers.keys():
            return None
        offers = tuple(offer for _, offer in sorted(self._offers.items()))
        self._offers.clear()
        return Due(offers)

    def refreshed(self, trainer: int) -> None:
        """See :class:`Mode`."""


class Async:
    """Asynchronous: see the module's text."""

    is_in_step = False

    def __init__(self, trainers: int, discard_ratio: float) -> None:
        self._threshold = max(int(trainers * discard_ratio), 2)
        self._steps = 0
        self._marks = [0] * trainers
        self._due: Due | None = None

    def offer(self, offer: Offer) -> None:
        """See :class:`Mode`."""
        self._steps += 1
        lag = self._steps - self._marks[offer.trainer]
        self._due = Due((offer,), discard=lag >= self._threshold)

    def due(self, present: Set[int]) -> Due | None:
        """See :class:`Mode`."""
        due, self._due = self._due, None
        return due

    def refreshed(self, trainer: int) -> None:
        """See :class:`Mode`."""
        self._marks[trainer] = self._steps


def mode_of(update: UpdateSpec, trainers: int) -> Mode:
    """The mode that a job declares."""
    return Async(trainers, discard_ratio(update)) if update.is_async else Sync()


def discard_ratio(update: UpdateSpec) -> float:
    """The declared ratio; the default where it is too small to mean anything."""
    ratio = update.async_lagged_grad_discard_ratio
    return ratio if ratio > MIN_DISCARD_RATIO else DEFAULT_DISCARD_RATIO


def ratio_warning(update: UpdateSpec) -> str | None:
    """What to tell people when the declared ratio is not the one that is used."""
    declared, used = update.async_lagged_grad_discard_ratio, discard_ratio(update)
    if not update.is_async or declared == used:
        return None
    return f"async_lagged_grad_discard_ratio={declared} is not above {MIN_DISCARD_RATIO}: {used} is used"
