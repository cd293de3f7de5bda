"""Clocks: what a shard has counted. Steps applied, samples in them, passes, pushes of every trainer.

It must never know a value or a connection.

Guarantee: a trainer's pushes and ends of passes are admitted in order, each once; a repeated one is told from
a new one, a gap is an error.
"""

from __future__ import annotations

from collections.abc import Set

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.messages import Mark


class Clocks:
    """The counters of one shard."""

    def __init__(self, trainers: int) -> None:
        self.version = 0  # steps applied
        self.samples = 0  # in these steps
        self.passes_over = 0  # that all trainers have ended
        self.pushes = [0] * trainers  # admitted
        self.decided = [0] * trainers  # of these, the ones that were applied or discarded
        self.passes = [0] * trainers  # ended
        self.dropped = [0] * trainers
        self.last_dropped = [False] * trainers  # whether the last one that was decided was discarded
        self.unsettled = [0] * trainers  # pushes since the trainer's last pass ended
        self.next_pass = [0] * trainers  # after the last that was ended, as its processes number them
        self.passed = [0] * trainers  # batches of this pass, before the job began again as a whole
        self.lengths = [0] * trainers  # batches of the last pass that was ended
        self.paces = [0] * trainers  # pushes in this pass, as trainers count them (messages.Push)
        self.durable = [Mark()] * trainers  # what the newest snapshot holds

    def admit(self, trainer: int, step: int, pace: int = 0) -> bool:
        """Whether the push of ``step`` is new: False for one that was admitted before. ``pace``: see Push."""
        if step > self.pushes[trainer] + 1:
            raise BadMessage(f"trainer {trainer} pushed step {step} after step {self.pushes[trainer]}")
        if step <= self.pushes[trainer]:
            return False
        self.pushes[trainer] = step
        self.unsettled[trainer] += 1
        self.paces[trainer] = pace or self.paces[trainer] + 1
        return True

    def __str__(self) -> str:
        dropped = f", discarded per trainer {self.dropped}" if any(self.dropped) else ""
        return f"{self.version} steps, {self.samples} samples, pushes per trainer {self.pushes}{dropped}"

    def apply(self, samples: int, passes: int) -> None:
        """One step more is about to be applied. ``passes``: how many its trainers say are over; one that took
        another's place counts its own, and a shard that was restored may know of fewer."""
        self.version += 1
        self.samples += samples
        self.passes_over = max(self.passes_over, passes)

    def decide(self, trainer: int, *, dropped: bool) -> None:
        """The trainer's open push was applied or discarded."""
        self.decided[trainer] = self.pushes[trainer]
        self.dropped[trainer] += dropped
        self.last_dropped[trainer] = dropped

    def end_pass(self, trainer: int, number: int, pass_id: int = 0) -> bool:
        """The trainer ends its pass ``number`` (0: the next) and owes nothing; False: it had before.
        ``pass_id``: as the job counts passes."""
        number = number or self.passes[trainer] + 1
        if number > self.passes[trainer] + 1:
            raise BadMessage(f"trainer {trainer} ended pass {number} after pass {self.passes[trainer]}")
        if number <= self.passes[trainer]:
            self.next_pass[trainer] = max(self.next_pass[trainer], pass_id + 1)
            return False
        self._end(trainer, number, pass_id)
        return True

    def leave_pass(self, trainer: int, number: int, pass_id: int) -> None:
        """The same out of step, where passes are known as the job counts them, whatever of them this shard
        has heard; also of one that is over, the trainer is answered."""
        if pass_id >= self.next_pass[trainer]:
            self._end(trainer, number or self.passes[trainer] + 1, pass_id)
        self.passes[trainer] = max(self.passes[trainer], number)

    def _end(self, trainer: int, number: int, pass_id: int) -> None:
        self.passes[trainer], self.next_pass[trainer] = number, pass_id + 1
        self.lengths[trainer] = self.passed[trainer] + self.unsettled[trainer]
        self.unsettled[trainer] = self.passed[trainer] = 0

    def joined(self, trainer: int, others: Set[int]) -> None:
        """It begins in the midst of a pass that ``others`` are in: it is counted as the slowest of them."""
        if not self.paces[trainer]:  # it has told none
            self.paces[trainer] = min((self.paces[id] for id in others), default=0)

    def begin_pass(self) -> None:
        """All have ended the one before."""
        self.paces[:] = [0] * len(self.paces)  # in place: a mode looks at them

    def hear(self, over: int, lost: int) -> None:
        """So many passes are over, ``lost`` of which this shard had not heard of."""
        self.next_pass[:] = [max(known, over) for known in self.next_pass]
        self.passes_over += lost
        self.unsettled[:] = [0] * len(self.unsettled)

    def has_told(self, trainer: int) -> bool:
        """Whether it has told anything that counts."""
        return bool(self.pushes[trainer] or self.passes[trainer])

    def is_past(self, trainer: int, mark: Mark) -> bool:
        """Whether the trainer has told more than ``mark``, decided or not."""
        return self.pushes[trainer] > mark.pushes or self.passes[trainer] > mark.passes

    def move(self, trainer: int, mark: Mark) -> int:
        """The trainer goes on from ``mark``, whatever was known of it; returns the pushes passed over."""
        lost = max(0, mark.pushes - self.decided[trainer])
        self.paces[trainer] = mark.pace
        self.pushes[trainer] = self.decided[trainer] = mark.pushes
        self.passes[trainer] = mark.passes
        self.unsettled[trainer] = 0
        self.last_dropped[trainer] = False
        self.durable[trainer] = Mark()
        return lost
