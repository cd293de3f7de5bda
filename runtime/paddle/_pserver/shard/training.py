"""Training: what a shard does with the questions of its trainers once the model is ready.

1.  A push is answered when its mode has decided and lets it be answered (modes): with the values as they
    are then. The tables apply a step (tables.py).
2.  A push that was admitted before is answered again, then too, and not applied again (clocks.py); so is the
    end of a pass. Nothing is answered that is not asked on the connection that there is now.
3.  Rows are given as they are when they are asked for; to a trainer that knows of steps that a restored shard
    lacks, only once it has sent them again. A row that is read makes up for its idle steps, and in how many
    portions it does so changes the last bits. So a restored shard repeats the reads that it lacks, from the
    trainers' journals, and no others.
4.  A day of open tables ends with the step, or the end of a pass, with which that was told: in the order
    that steps have, so that it is the same day for all trainers.
5.  Ending a pass is answered when all trainers in it have ended it, to all with the same dense values; nobody
    waits for one that has (roster.py). Out of step a pass may be known to be over already (arrival.py, rule
    5): then it is answered at once, and the trainer stays in the pass that came after.
6.  A push that is announced is told to come when it may (turns.py); one that was admitted before needs not.

It must never know a session, or why a job ends. Guarantee: whatever has become possible has happened when a
call returns.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from paddle._pserver.errors import BadMessage, NotCounted, rate_mismatch
from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.protocol.messages import (
    Answer,
    CountChanges,
    EndPass,
    Export,
    Mark,
    Pull,
    PullChanges,
    PullRows,
    Push,
    Recall,
    Request,
)
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.changes import Changes
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.compensation import Compensation
from paddle._pserver.shard.modes import Due, Mode, Offer, Sync
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster, Trainer
from paddle._pserver.shard.row_listing import exported
from paddle._pserver.shard.saving import Saving
from paddle._pserver.shard.state import over
from paddle._pserver.shard.turns import Turns
from paddle._pserver.tables.gradient import Gradient
from paddle._pserver.tables.tables import Tables


class Training:
    """See the module's text. ``saving``: where snapshots are kept. ``changes``: where trainers are told of
    changed rows. ``compensation``: what gradients lack. ``most_early``: where gradients take turns, how many
    may come before theirs."""

    def __init__(
        self,
        tables: Tables,
        mode: Mode,
        *,
        clocks: Clocks,
        roster: Roster,
        barrier: Barrier,
        outbox: Outbox,
        saving: Saving | None = None,
        changes: Changes | None = None,
        compensation: Compensation | None = None,
        most_early: int | None = None,
    ) -> None:
        self._tables, self._mode, self._changes = tables, mode, changes
        self._clocks, self._roster, self._barrier, self._outbox = clocks, roster, barrier, outbox
        self._saving, self._compensation = saving or Saving(None), compensation
        self.is_in_step = mode.is_in_step
        self._pass_id = self._shrink = 0
        # In synchronous mode the arrays of an answer stay as they are until all of it is sent: a step changes
        # them, which waits for all trainers in the pass; this one is in it, and pushes only once it has the
        # answer. (One that breaks this rule harms itself alone; one that is left out is cut off, sparing.py.)
        outbox.live = not mode.is_in_step
        barrier.awaited = mode.awaited
        self.turns: Turns | None = None
        if most_early is not None and isinstance(mode, Sync):
            self.turns = Turns(
                most_early, mode, tables, clocks=clocks, roster=roster, barrier=barrier, outbox=outbox
            )

    def handle(
        self, trainer: Trainer, message: Request, gradient: Gradient, ids: Sequence[np.ndarray], now: float
    ) -> None:
        """A trainer asks; see :meth:`paddle._pserver.shard.shard.Shard.handle`."""
        if isinstance(message, Push):
            return self._push(trainer, message, gradient, now)
        if isinstance(message, (Pull, PullRows)):
            if message.again is not None:
                return self._read_again(trainer, message, message.again, ids)
            self._check_caught_up(trainer)
        match message:
            case PullRows():
                self._pull_rows(trainer, message, ids)
            case Pull(average=True):
                self._outbox.tell(trainer.id, Answer(self._clocks.version), self._averages(message.table))
            case Pull(table=None):
                self._answer(trainer.id, self._tables.values)
            case Pull(table=str(name)):
                values = self._tables.table(name).refresh()
                self._outbox.tell(trainer.id, Answer(self._clocks.version), (values,))
            case Export():
                body = exported(self._tables, message)
                self._outbox.tell(trainer.id, Answer(self._clocks.version), body)
            case Recall(parameter, slot):
                found = self._tables.slot(parameter, slot, current=True)
                body = () if found is None else (found,)
                self._outbox.tell(trainer.id, Answer(self._clocks.version), body)
            case CountChanges() | PullChanges():
                self._tell_changes(trainer, message)
            case EndPass():
                self._end_pass(trainer, message, now)
            case Announce():
                self._announced(trainer, message, now)
        return None

    def _averages(self, table: str | None) -> tuple[np.ndarray, ...]:
        if not self._tables.is_averaged:
            raise BadMessage("averages were asked for in a job that keeps none")
        values = self._tables.averages() if table is None else self._tables.table(table).average()
        return (values,) if values.size else ()

    def _push(self, trainer: Trainer, push: Push, gradient: Gradient, now: float) -> None:
        if self._tables.rows:
            for table, rows in zip(self._tables.rows.values(), gradient.rows, strict=True):
                table.check(rows.ids)
        id = trainer.id
        is_new, turns = self._clocks.admit(id, push.step, push.pace), self.turns
        self._barrier.add(id, push, now)
        if is_new or (turns is not None and turns.wants_again(id, push.step)):
            if is_new and self.is_in_step and (push.cut or push.lacking):
                self._saving.told(self._clocks.version + 1, cut=push.cut, lacking=push.lacking)
            self._mode.offer(Offer(id, push, gradient if turns is None else turns.came(id, gradient, now)))
        elif push.step <= self._clocks.decided[id] and not self._mode.holds_again(id, self._roster.present):
            return self._answer_open(id)
        return self.advance(now)

    def _announced(self, trainer: Trainer, announce: Announce, now: float) -> None:
        self._barrier.add(trainer.id, announce, now)
        if announce.step <= self._clocks.decided[trainer.id]:
            return self._answer_open(trainer.id)
        if self.turns is None and announce.step > self._clocks.pushes[trainer.id]:
            return self._outbox.tell(trainer.id, Bring())
        return self.call(now)

    def call(self, now: float) -> None:
        """Tell those whose gradient may come now to bring it; also when a connection is gone."""
        if self.turns is not None:
            self.turns.call(now)

    def _check_caught_up(self, trainer: Trainer) -> None:
        if self.is_in_step and self._clocks.decided[trainer.id] < trainer.owed:
            raise BadMessage(f"trainer {trainer.id} pulls before it has sent step {trainer.owed} again")

    def joined(self, id: int, now: float) -> None:
        """A process that was not in the job before is trainer ``id``."""
        if not self.is_in_step:
            self._clocks.joined(id, self._roster.present - {id})
        self._mode.joined(id)
        if self.turns is not None:
            self.turns.joined(id, now)
        self.advance(now)

    def _pull_rows(self, trainer: Trainer, pull: PullRows, ids: Sequence[np.ndarray]) -> None:
        rows = self._rows(pull, ids)  # refreshes nothing: the trainer computes with dense values too
        self._outbox.tell(trainer.id, Answer(self._clocks.version), rows)

    def _rows(self, pull: PullRows, ids: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        pairs = list(zip(self._tables.rows.values(), ids, strict=True))
        for table, wanted in pairs:
            table.check(wanted)
        return tuple(table.peek(wanted) if pull.peeks else table.gather(wanted) for table, wanted in pairs)

    def _read_again(
        self, trainer: Trainer, message: Pull | PullRows, before: Mark, ids: Sequence[np.ndarray]
    ) -> None:
        """Do to rows what a read did, unless what the trainer told after it is known: then so is it."""
        if not self._clocks.is_past(trainer.id, before):
            if isinstance(message, PullRows):
                self._rows(message, ids)
            elif message.table is not None:
                self._tables.table(message.table).refresh()
        self._outbox.tell(trainer.id, Answer(self._clocks.version))

    def _tell_changes(self, trainer: Trainer, message: CountChanges | PullChanges) -> None:
        if self._changes is None:
            raise BadMessage(
                f"{type(message).__name__} came in a job whose trainers do not update by themselves"
            )
        if isinstance(message, CountChanges):
            counts = [len(ids) for ids in self._changes.take(trainer.id, message.told)]
            counts.append(self._changes.has_more(trainer.id))
            return self._outbox.tell(trainer.id, Answer(self._clocks.version), (np.array(counts, np.int64),))
        changed = self._changes.sent(trainer.id)
        if message.counts != tuple(len(ids) for ids in changed):
            raise NotCounted("rows were asked for that were not counted before")
        rows = [table.gather(ids) for table, ids in zip(self._tables.rows.values(), changed, strict=True)]
        return self._outbox.tell(trainer.id, Answer(self._clocks.version), (*changed, *rows))

    def _end_pass(self, trainer: Trainer, end: EndPass, now: float) -> None:
        if self.is_in_step:
            is_new = self._clocks.end_pass(trainer.id, end.number, end.pass_id)
            is_over = not is_new and trainer.id in self._roster.present
        else:
            is_over = end.pass_id < over(self._clocks, self._roster)
            self._clocks.leave_pass(trainer.id, end.number, end.pass_id)
        if is_over:
            return self._answer(trainer.id, self._tables.values)
        self._pass_id, self._shrink = end.pass_id, max(self._shrink, end.shrink)
        self._roster.end_pass(trainer)
        self._barrier.add(trainer.id, end, now)
        return self.advance(now)

    def advance(self, now: float) -> None:
        """Do all that has become possible: settle what is due, release a pass that all have ended."""
        if self.turns is not None:
            self.turns.fold(now)
        while (due := self._mode.due(self._roster.present)) is not None:
            self._settle(due)
        for id in self._mode.released(self._roster.present):
            self._answer_open(id)
        if not self._roster.present and self._roster.is_anybody_in:
            self._clocks.passes_over += 1
            self._outbox.note(f"pass {self._pass_id} ended: {self._clocks}")
            self.begin_pass()
        if self.turns is not None:
            self.turns.call(now)

    def begin_pass(self) -> None:
        """All have ended the one before."""
        self._end_day(self._shrink)
        self._shrink = 0
        ended, ahead = self._barrier.waiting_for(EndPass), self._ahead()
        self._roster.begin_pass(ahead)
        self._clocks.begin_pass()
        if ended := [id for id in ended if id not in ahead]:
            values = self._snapshot()
            for id in ended:
                self._answer(id, values)

    def _ahead(self) -> Set[int]:
        """Out of step a process may have taken the place of one that had ended the pass, and have ended the
        next one: these wait for others still."""
        if self.is_in_step:
            return frozenset()
        ended = over(self._clocks, self._roster)
        return {id for id, next_pass in enumerate(self._clocks.next_pass) if next_pass > ended}

    def _settle(self, due: Due) -> None:
        """Apply pushes as one step, or discard them, and answer them unless they are held."""
        if not due.discard:
            self._apply(due.offers)
        if self._tables.open:
            self._end_day(max([offer.push.shrink for offer in due.offers]))
        for offer in due.offers:
            self._clocks.decide(offer.trainer, dropped=due.discard)
        if not due.held:
            for offer in due.offers:
                self._answer_open(offer.trainer)

    def _apply(self, offers: Sequence[Offer]) -> None:
        samples = passes = 0
        rate = offers[0].push.rate if len(offers) == 1 else self._rate(offers)
        clocks, present = self._clocks, self._roster.present
        for offer in offers:
            push = offer.push
            samples += push.samples
            if push.pass_id > passes and offer.trainer in present:
                passes = push.pass_id
        clocks.apply(samples, passes)
        gradients = [offer.gradient for offer in offers]
        if self._compensation is not None:
            gradients = [self._compensation.of(offer.trainer, offer.gradient) for offer in offers]
        self._tables.apply(
            gradients, samples=clocks.samples, passes=clocks.passes_over, step=clocks.version, rate=rate
        )
        if self._changes is not None:
            for offer in offers:
                self._changes.add(offer.trainer, offer.gradient.rows)

    def _rate(self, offers: Sequence[Offer]) -> float | None:
        """The learning rate that trainers tell for the step that these make."""
        first = offers[0]
        for other in offers:
            if other.push.rate != first.push.rate:
                step = self._clocks.version + 1
                raise rate_mismatch(step, first.trainer, first.push.rate, other.trainer, other.push.rate)
        return first.push.rate

    def _end_day(self, threshold: int) -> None:
        """Of open tables, where somebody asked for that."""
        for table in self._tables.open.values() if threshold else ():
            table.shrink(threshold)

    def _answer_open(self, id: int) -> None:
        """Answer a push; later, where its trainer has come back and has not asked again yet: it would take
        the answer for that to something else."""
        if id in self._barrier:
            self._answer(id, self._tables.values, dropped=self._clocks.last_dropped[id])

    def _snapshot(self) -> np.ndarray:
        """The dense values, as they will still be when the last trainer has taken them."""
        return self._tables.values if self._mode.is_in_step else self._tables.values.copy()

    def _answer(self, id: int, values: np.ndarray, *, dropped: bool = False) -> None:
        """Give a trainer the dense ``values``; a shard without any says only that it is done."""
        self._mode.refreshed(id)
        if self._compensation is not None:
            self._compensation.gave(id, values)
        body = (values,) if values.size else ()
        wants_cut = self.is_in_step and self._saving.is_late
        lacking = self.is_in_step and self._saving.is_lacking
        clocks = self._clocks
        answer = Answer(clocks.version, dropped, clocks.durable[id], wants_cut, lacking)
        self._outbox.tell(id, answer, body)
