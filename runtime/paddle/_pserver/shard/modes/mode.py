"""Mode: what a shard asks about a pushed gradient: when it counts, with which others, when it is answered.

A shard offers every push to its mode and asks what is due. A mode must never know a parameter: it sees who
pushed, and who is in the pass.

In every mode, of a trainer that is

late        slow, or not there yet: those that wait for it (``awaited``) do so for ``barrier_timeout_s``. At
            the end of a pass all modes wait, as long as the trainer is heard from (barrier.py).
lost        without a connection: it is waited for as one that is late, and may come back. When patience ends
            the job fails for all, naming it, or continues without it (sparing.py).
repeated    pushing again because the answer was lost: the push counts once. It is answered again, with the
            values of that moment and with whether the gradient was discarded.
replaced    another process has its trainer_id, where the mode allows that (arrival.py): the old process is
            refused from then on (Stale).

Each mode says what else these see in it. A shard that was killed and restored from a snapshot is told again
what that lacks where trainers are in step; in the other modes it is lost, and the log names the steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from typing import ClassVar

import msgspec

from paddle._pserver.protocol.messages import Push
from paddle._pserver.tables.gradient import Gradient


class Offer(msgspec.Struct, frozen=True):
    """One trainer's push."""

    trainer: int
    push: Push
    gradient: Gradient


class Due(msgspec.Struct, frozen=True):
    """Pushes, in trainer order, whose fate is known: applied as one step, or discarded.

    ``held``: they are answered later, when the mode releases their trainers.
    """

    offers: tuple[Offer, ...]
    discard: bool = False
    held: bool = False


class Mode(ABC):
    """See the module's text."""

    is_in_step: ClassVar[bool] = False
    """No value changes from a trainer's answer to its next push, since every step waits for it."""

    @abstractmethod
    def offer(self, offer: Offer) -> None:
        """A trainer has pushed."""

    @abstractmethod
    def due(self, present: Set[int]) -> Due | None:
        """What is decided now, with these trainers in the pass; each push is returned once."""

    def released(self, present: Set[int]) -> list[int]:
        """The trainers whose held push is answered now; each is returned once."""
        return []

    def holds_again(self, trainer: int, present: Set[int]) -> bool:
        """The trainer asks again for the answer to its last push: whether that is held, from now on, too."""
        return False

    def awaited(self, present: Set[int], waiting: Set[int]) -> Set[int]:
        """For whom the ``waiting`` wait."""
        return present - waiting

    def refreshed(self, trainer: int) -> None:  # noqa: B027 - not all care
        """The trainer is told that it is up to date: in the answer to its push, to the end of its pass, or to
        a pull of all dense values, which shards without any are asked for too. Rows that it looks up in
        between do not: it goes on with the rest as it is, and its gradient has one age at all shards."""

    def joined(self, trainer: int) -> None:  # noqa: B027 - not all care
        """A trainer begins among those who are in the pass."""
