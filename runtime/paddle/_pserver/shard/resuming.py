"""Resuming: a new job goes on from snapshots that another one left: from which of them, and since when it is
its own.

1.  When all shards of a job were killed at once, the newest snapshot of one may be newer than another's. Only
    a trainer sees them all: where trainers are in step it asks each shard to go back to the newest version
    that all of them still have, before anything is trained.
2.  The first thing that a new job does is to make a snapshot: no trainer is in before that lasts. Else a
    shard that is killed then would come back to what the job before had, and count that job's steps as this
    one's.

3.  A job that begins again as a whole does as a new one does, but that its trainers have places in their data
    (arrival.py). Which life of a job it is stands behind its name: JOB1, JOB1/2, JOB1/3.

It must never know a disk. Guarantee: of a job that has begun to train nothing is ever given up.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.messages import Answer, GoBack, Reply
from paddle._pserver.shard.arrival import Arrivals
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.effects import Load
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster
from paddle._pserver.shard.saving import Cause, Saving
from paddle._pserver.shard.state import Facts


def is_of_earlier_life(before: str, now: str) -> bool:
    """Whether a snapshot that was made serving ``before`` is of the job ``now``, in another life of it."""
    return before != now and bool(now) and before.partition("/")[0] == now.partition("/")[0]


class Resuming:
    """See the module's text."""

    def __init__(
        self, clocks: Clocks, roster: Roster, arrivals: Arrivals, outbox: Outbox, saving: Saving
    ) -> None:
        self._clocks, self._roster, self._arrivals = clocks, roster, arrivals
        self._outbox, self._saving = outbox, saving
        self._lasts = self._is_again = False
        self._older: tuple[int, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether a shard that starts anew knows this job."""
        return (self._lasts or not self._arrivals.is_new_job) and self._arrivals.is_kept

    @property
    def older(self) -> tuple[int, ...]:
        """The versions that this shard may go back to."""
        if not self._arrivals.is_new_job or not self._arrivals.is_in_step:
            return ()
        has_begun = any(trainer.declared for trainer in self._roster.trainers) or any(self._clocks.pushes)
        return () if has_begun or any(self._clocks.passes) else self._older

    def restored(self, facts: Facts, older: Sequence[int], now: float, *, serving: str) -> None:
        """The shard goes on from a snapshot; those of versions ``older`` are still there. ``serving``: see
        ShardOptions; one that was made by the same is of the same job, and perhaps of an earlier life of it
        (rule 3)."""
        self._older = tuple(older)
        self._saving.resume(facts.version, now)
        self._is_again = is_of_earlier_life(facts.serving, serving)
        if self._is_again:
            self._arrivals.begin_again(facts)
        elif not serving or facts.serving != serving:
            self._arrivals.restored(len(facts.trainers))

    def answer(self, session: int, reply: Reply) -> None:
        """Answer, once the job is kept."""

        def told(lasts: bool) -> None:
            if lasts:  # else the job is broken
                self._lasts = self._arrivals.is_kept = True
                self._outbox.send(session, reply)

        if self.is_kept:
            self._outbox.send(session, reply)
        else:
            self._saving.ask(Cause("resume", "a new job, or process, goes on from here"), told, session)

    def go_back(self, session: int, asked: GoBack) -> None:
        """A trainer asks for it."""
        version = self._clocks.version
        if asked.version == version:  # another trainer asked before
            return self.answer(session, Answer(version))
        if asked.version not in self.older:
            raise BadMessage(
                f"this shard is asked to go back from version {version} to {asked.version}, and may only "
                f"before a new job trains, to a snapshot that is kept: {list(self.older)}"
            )
        return self._outbox.effects.append(Load(session, asked.version))

    def went_back(self, facts: Facts, now: float) -> None:
        """The shard has what it had at that version, and of this job nothing yet."""
        self._outbox.note(
            f"goes back from version {self._clocks.version} to {facts.version}, the newest that all shards "
            "of the job have",
            logging.WARNING,
        )
        self._clocks.version, self._clocks.samples = facts.version, facts.samples
        self._clocks.passes_over = facts.passes_over
        if self._is_again:
            self._arrivals.place(facts)
        self._saving.resume(facts.version, now)
