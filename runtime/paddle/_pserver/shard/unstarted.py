"""Unstarted: trainers that failed before they had declared their model. Each may come again, or another in
its place: by hand one tries again. But where all have failed so, the server of a program (``ends_with_all``)
has nobody left to wait for.

It must never know why one failed. Guarantee: one that is here is not among them.
"""

from __future__ import annotations

from paddle._pserver.options import ShardOptions
from paddle._pserver.shard.roster import Trainer
from paddle._visible import paragraph


class Unstarted:
    """See the module's text."""

    def __init__(self, options: ShardOptions) -> None:
        self._options = options
        self._whys: dict[int, str] = {}
        self._culprits: dict[int, tuple[int, ...]] = {}

    def add(self, trainer: Trainer, failure: str, culprits: tuple[int, ...]) -> str:
        """One has failed, because of ``culprits``; gives that in words."""
        text = f"trainer {trainer.id} at {trainer.peer} could not start: {paragraph(failure)}"
        self._whys[trainer.id], self._culprits[trainer.id] = text, culprits
        return text

    def came(self, id: int) -> None:
        """It is here."""
        self._whys.pop(id, None)

    @property
    def reason(self) -> str:
        """Why the job is over; empty where it is not."""
        is_over = self._options.ends_with_all and len(self._whys) == self._options.num_gradient_servers
        return "; ".join(self._whys.values()) if is_over else ""

    @property
    def culprits(self) -> tuple[int, ...]:
        """By whom they failed."""
        return tuple(dict.fromkeys(id for each in self._whys for id in self._culprits[each]))
