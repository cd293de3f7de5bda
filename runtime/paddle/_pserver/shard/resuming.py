"""Resuming: a new job goes on from snapshots that another one left: from which of them, and since when it is
its own.

1.  When all shards of a job were killed at once, the newest snapshot of one may be newer than another's. Only
    a trainer sees them all: where trainers are in step it asks each shard to go back to the newest version
    that all of them still have, before anything is trained.
2.  The first thing that a new job does is to make a snapshot: no trainer is in before that lasts. Else a
    shard that is killed then would come back to what the job before had, and count that job's steps as this
    one's. A job whose first snapshot cannot be written does not begin.
3.  So it is with a process that takes a place in step (arrival.py). Where its snapshot cannot be written one
    is tried again, for ``patience_s``; then this process is refused. The others hear nothing of it.
4.  A job that begins again as a whole does as a new one does, but that its trainers have places in their data
    (arrival.py). Which life of a job it is stands behind its name: JOB1, JOB1/2, JOB1/3.

It must never know a disk. Guarantee: of a job that has begun to train nothing is ever given up.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from paddle._pserver.errors import BadMessage, NoSnapshot
from paddle._pserver.protocol.messages import MOST_BEFORE, Answer, GoBack, Reply, Welcome, failure
from paddle._pserver.shard.arrival import Arrivals
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.effects import Load
from paddle._pserver.shard.insisting import Insisting
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.reunion import Reunion
from paddle._pserver.shard.roster import Roster
from paddle._pserver.shard.saving import Cause, Saving
from paddle._pserver.shard.state import Facts, marks, over


def is_of_earlier_life(before: str, now: str) -> bool:
    """Whether a snapshot that was made serving ``before`` is of the job ``now``, in another life of it."""
    return before != now and bool(now) and before.partition("/")[0] == now.partition("/")[0]


class Resuming:
    """See the module's text."""

    def __init__(
        self,
        clocks: Clocks,
        roster: Roster,
        arrivals: Arrivals,
        outbox: Outbox,
        saving: Saving,
        insisting: Insisting,
        patience_s: float,
    ) -> None:
        self._clocks, self._roster, self._arrivals = clocks, roster, arrivals
        self._outbox, self._saving, self._insisting = outbox, saving, insisting
        self._patience_s = patience_s
        self.reunion = Reunion(roster, outbox, patience_s)
        self._coming: set[int] = set()  # sessions of those that took a place and are not in yet
        self._lasts = self._is_again = False
        self._older: tuple[int, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether a shard that starts anew knows this job, and who is in it."""
        return not self._arrivals.unkept

    @property
    def is_beginning(self) -> bool:
        """Whether a new job is, of which no snapshot lasts yet."""
        return self._arrivals.is_new_job and not self._lasts

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
        (rule 4)."""
        self._older = tuple(older)
        self._saving.resume(facts.version, now)
        self._is_again = is_of_earlier_life(facts.serving, serving)
        if self._is_again:
            self._arrivals.begin_again(facts)
        elif not serving or facts.serving != serving:
            self._arrivals.restored(len(facts.trainers))

    def welcome(self, id: int, *, ready: bool) -> Welcome:
        """What a trainer is told that was let in."""
        clocks, roster = self._clocks, self._roster
        return Welcome(
            barrier_timeout_s=self._patience_s,
            ready=ready,
            settled=marks(clocks, roster)[id],
            keeps=self._saving.options is not None,
            version=clocks.version,
            older=self.older,
            pace=clocks.paces[id],
            before=roster.trainers[id].past[-MOST_BEFORE:],
            next_pass=clocks.next_pass[id],
            over=over(clocks, roster),
        )

    def answer(self, session: int, reply: Reply, now: float) -> None:
        """Answer, once a snapshot knows the job and who asks."""

        def told(lasts: bool) -> None:
            if lasts:  # else the job is broken
                self._lasts = True
                self._outbox.send(session, reply)

        trainer = self._roster.of(session)
        if trainer is None or trainer.id not in self._arrivals.unkept:
            self._outbox.send(session, reply)
        elif self.is_beginning:
            self._saving.ask(Cause("resume", "a new job goes on from here"), told, session)
        else:
            self._coming.add(session)
            why = Cause("resume", f"another process goes on as trainer {trainer.id}")
            self._insisting.begin(session, why, partial(self._let_in, session, reply), now)

    def lost(self, session: int) -> None:
        """A connection is gone."""
        self._coming.discard(session)
        self._insisting.end(session)
        self.reunion.lost(session)

    def look(self, now: float) -> None:
        """See who waits for too long (rule 3), or needs to no more; at the end of every event."""
        self.reunion.look(now)
        for session in list(self._coming):
            waited_s = self._insisting.waited_s(session, now)
            if waited_s >= self._patience_s:
                self.lost(session)
                why = (
                    f"no snapshot could be written in {waited_s:.0f} s, and before one knows this process it "
                    "cannot have the place of the one before. This pserver's log says why; see to its disk."
                )
                self._outbox.send(session, failure(NoSnapshot(why)))
                self._outbox.close(session)

    def _let_in(self, session: int, reply: Reply) -> None:
        self._coming.discard(session)
        self._outbox.send(session, reply)

    def go_back(self, session: int, asked: GoBack, now: float) -> None:
        """A trainer asks for it."""
        version = self._clocks.version
        if asked.version == version:  # another trainer asked before
            return self.answer(session, Answer(version), now)
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
