"""Clocks: what a shard has counted. Steps applied, samples in them, pushes of every trainer.

It must never know a value or a connection.

Guarantee: a trainer's pushes are admitted in order, each once; a repeated one is told from a new one, a gap
is an error.
"""

from __future__ import annotations

from paddle._pserver.errors import BadMessage


class Clocks:
    """The counters of one shard."""

    def __init__(self, trainers: int) -> None:
        self.version = 0  # steps applied
        self.samples = 0  # in these steps
        self.pushes = [0] * trainers
        self.dropped = [0] * trainers
        self.unsettled = [0] * trainers  # pushes since the trainer's last pass ended

    def admit(self, trainer: int, step: int) -> bool:
        """Whether the push of ``step`` is new: False for one that was admitted before."""
        if step > self.pushes[trainer] + 1:
            raise BadMessage(f"trainer {trainer} pushed step {step} after step {self.pushes[trainer]}")
        if step <= self.pushes[trainer]:
            return False
        self.pushes[trainer] = step
        self.unsettled[trainer] += 1
        return True

    def __str__(self) -> str:
        dropped = f", discarded per trainer {self.dropped}" if any(self.dropped) else ""
        return f"{self.version} steps, {self.samples} samples, pushes per trainer {self.pushes}{dropped}"

    def apply(self, samples: int) -> None:
        """One step more is about to be applied."""
        self.version += 1
        self.samples += samples

    def drop(self, trainer: int) -> None:
        """A push was discarded."""
        self.dropped[trainer] += 1

    def settle(self, trainer: int) -> None:
        """The trainer ended its pass: it owes nothing."""
        self.unsettled[trainer] = 0
