"""Arrival: what a shard makes of a trainer that says Hello: one that is new, comes back, or takes another's
place.

1.  A trainer that comes back, in step, sends again what the shard lacks. Otherwise that is lost, and told.
2.  A process may take the place of one that is not connected: where that has pushed nothing; where trainers
    are not in step; or where it was lost between two passes, and so owes nothing of the one that has begun.
    In the last case it is in once a snapshot knows it: else a shard that is restored would count the steps
    of the one before as its own. But where trainers in step update by themselves none may: what the one
    before kept of its own, such as momentum, went with it.
3.  Out of step a snapshot need not know it. A shard that is restored from one may let the process before in
    again, which woke up just then: that loses the place when the newer one comes, which tells whose it took.
4.  Where the first to come to a restored shard is a process that it does not know and that has done nothing,
    a new job begins: unless this job made the snapshot.
5.  Where the whole job begins again, all trainers are new processes, and each is told its place in its data:
    the pass, and in step how many batches of that are in the values.

It must never know a message other than Hello. Guarantee: nothing changes where a trainer is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from paddle._pserver.protocol.messages import Hello, Mark
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.roster import Roster, Standing, Trainer
from paddle._pserver.shard.saving import Saving
from paddle._pserver.shard.state import Facts, marks


class Arrivals:
    """See the module's text. ``note`` tells people. ``is_in_step``: None before anything is trained;
    ``may_be_new_job``: the shard was restored, and nobody has come who is of either job."""

    def __init__(self, clocks: Clocks, roster: Roster, saving: Saving, note: Callable[[str], None]) -> None:
        self.is_in_step: bool | None = None
        self._clocks, self._roster, self._saving, self._note = clocks, roster, saving, note
        self.may_be_new_job = False
        self.is_new_job = False  # one has begun (rule 4)
        self.is_kept = True  # whether snapshots know all that took a place (rule 2)
        self.keeps_own = False  # whether trainers have what no other process can (rule 2)
        self._known = 0  # so many places were in the job that made the snapshot

    def restored(self, trainers: int) -> None:
        """The shard was restored from a snapshot of so many trainers that another job may have made."""
        self.may_be_new_job, self._known = True, trainers
        if all(trainer.state is Standing.GONE for trainer in self._roster.trainers[:trainers]):
            self._begin_job()

    def begin_again(self, facts: Facts) -> None:
        """The whole job begins again from this snapshot of its own."""
        self._begin_job("the job begins again")
        self.place(facts)

    def place(self, facts: Facts) -> None:
        """Rule 5."""
        counts = facts.declaration.update.mode.is_in_step
        for id, was in enumerate(facts.trainers[: len(self._roster.trainers)]):
            self._clocks.next_pass[id], passed = was.place
            self._clocks.passed[id] = passed if counts else 0

    def come(self, hello: Hello, session: int, peer: str, now: float) -> int | None:
        """Let a trainer in; gives the connection that it had until now, if it had one. Raises Stale and
        DuplicateTrainer."""
        trainer = self._roster.trainers[hello.trainer_id]
        if self._is_new_job(trainer, hello):
            self._begin_job()
        comes_back = trainer.is_again(hello.incarnation)
        is_successor = self.is_in_step is False and trainer.incarnation in hello.before
        is_free = self._is_free(trainer, hello.answered.pushes)
        who = (trainer.id, hello.incarnation, now)
        self._roster.check(*who, is_free=is_free, is_successor=is_successor, keeps_own=self.keeps_own)
        self.may_be_new_job = self.may_be_new_job and not trainer.incarnation
        before = self._roster.join(trainer.id, session, peer, hello.incarnation, now)
        self._go_on_with(trainer, hello.answered, comes_back=comes_back)
        self._note(f"trainer {trainer.id} {'came back' if comes_back else 'joined'} from {peer}")
        return before

    def barred(self) -> tuple[list[int], list[int]]:
        """The trainers that are gone, and whose place no new process can take: ever, and before the pass has
        ended."""
        gone = [self._roster.trainers[id] for id in sorted(self._roster.missing)]
        barred = [trainer for trainer in gone if trainer.is_left_out or not self._is_free(trainer, 0)]
        gone = [t for t in barred if not t.is_left_out and not self.keeps_own]
        later = [trainer.id for trainer in gone if trainer.id not in self._roster.present]
        return [trainer.id for trainer in barred if trainer.id not in later], later

    def _is_new_job(self, trainer: Trainer, hello: Hello) -> bool:
        """Rule 4."""
        is_free = not trainer.incarnation and not trainer.is_left_out
        is_known = is_free or hello.incarnation in (trainer.incarnation, *trainer.past)
        is_of_old = is_known and trainer.id < self._known
        return self.may_be_new_job and not is_of_old and not hello.answered.pushes

    def _begin_job(self, what: str = "a new job goes on") -> None:
        self.may_be_new_job, self.is_new_job = False, True
        self._roster.begin_job()
        for trainer in self._roster.trainers:
            self._clocks.move(trainer.id, Mark())
            self._clocks.next_pass[trainer.id] = self._clocks.passed[trainer.id] = 0
        self._note(f"{what} from version {self._clocks.version}")

    def _is_free(self, trainer: Trainer, answered: int) -> bool:
        """Rule 2, for a process that has had answers to so many pushes."""
        id = trainer.id
        has_begun = id not in self._roster.present or self._clocks.unsettled[id] or answered
        is_between = trainer.state is Standing.LOST and not has_begun and not self.keeps_own
        return self.is_in_step is False or is_between or not self._clocks.pushes[id]

    def _go_on_with(self, trainer: Trainer, answered: Mark, *, comes_back: bool) -> None:
        """Rule 1."""
        id = trainer.id
        if self.is_in_step is None:
            return
        trainer.owed = answered.pushes
        if self.is_in_step and not comes_back and (self._clocks.pushes[id] or self._clocks.passes[id]):
            self._clocks.move(id, answered)
            self.is_kept = False
            self._saving.forget(id)
        known = marks(self._clocks, self._roster)[id]
        is_behind = answered.pushes > known.pushes or answered.passes > known.passes
        if not self.is_in_step and (is_behind or not comes_back):
            steps = self._clocks.move(id, answered)
            self._roster.present |= {id}
            if not comes_back:  # it joined after the snapshot, if it has done anything
                steps = answered.pushes
            if steps:
                first, last = answered.pushes - steps + 1, answered.pushes
                self._note(f"steps {first} to {last} of trainer {id} are lost: they came after the snapshot")
