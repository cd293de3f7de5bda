"""Arrival: what a shard makes of a trainer that says Hello: one that is new, comes back, or takes another's
place.

1.  A trainer that comes back sends again what the shard lacks, if trainers are in step. If they are not, that
    is lost, and the log names the steps.
2.  A process may take the place of one that is not connected: if that one has pushed nothing; if trainers are
    not in step; or if it stood between two passes, and so owes nothing of the next one. In the last case the
    new process is let in once a snapshot that names it is on disk: a shard restored from an older one would
    count the old process's steps as the new one's. But where trainers in step update by themselves
    (averaging) none may: what the old process kept of its own, such as momentum, is lost.
3.  Out of step no snapshot needs to name it first. So a shard that is restored from one may let the old
    process in again, if that wakes up just then; the old one loses the place when the new one comes, which
    tells whose place it took (Hello.before).
4.  If the first to come to a restored shard is a process that the snapshot does not name, and that has pushed
    nothing, a new job begins: unless the snapshot is of this very job (ShardOptions.serving).
5.  Out of step nobody tells a restored shard again which passes have ended since its snapshot. But a pass is
    over for all once it is for one, and who has heard that says so (Hello.over), also a new process, which
    heard it from another shard: then it is over here, too, and no place continues in it.
6.  Where the whole job begins again, all trainers are new processes, and each is told its place in its data:
    the pass, and in step how many batches of that are in the values.

It must never know a message other than Hello. Guarantee: nothing changes where a trainer is refused; a new
process trains the pass after the last that its predecessor ended, and is not waited for in one that it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from paddle._pserver.protocol.messages import Hello, Mark
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.roster import Roster, Standing, Trainer
from paddle._pserver.shard.saving import Known
from paddle._pserver.shard.state import Facts, over
from paddle._pserver.shard.training import Training


class Barred(NamedTuple):
    """Of the trainers that were here and are not, those whose place no other process can take: ever, before
    the pass has ended, and because they have said goodbye."""

    ever: tuple[int, ...] = ()
    until_pass_ends: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


_NOBODY = Barred()
_STOP = (
    "trainer {id} has said no goodbye. If its process has ended, as by os._exit, nobody can take up what it "
    "was about: where no launcher stops this job, do so and begin again, from its snapshots if it keeps any"
)
_START_AGAIN = (
    "trainer {id} has said no goodbye. If its process has ended, and no launcher starts another, start it "
    "again with trainer_id={id}: the others go on"
)


class Arrivals:
    """See the module's text. ``note`` tells people. ``training``: None before anything is trained;
    ``may_be_new_job``: the shard was restored, and nobody has come who is of either job."""

    def __init__(self, clocks: Clocks, roster: Roster, note: Callable[[str], None]) -> None:
        self.training: Training | None = None
        self._clocks, self._roster, self._note = clocks, roster, note
        self.may_be_new_job = False
        self.is_new_job = False  # one has begun (rule 4)
        self.keeps_own = False  # whether trainers have what no other process can (rule 2)
        self.unkept: set[int] = set()  # places that were taken since the last cut that lasts (rule 2)
        self._known = 0  # so many places were in the job that made the snapshot

    @property
    def is_in_step(self) -> bool | None:
        """Whether trainers are; None before anything is trained."""
        return None if self.training is None else self.training.is_in_step

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
        """Rule 6."""
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
        is_free = self._is_free(trainer, hello.answered.pushes) and not self._has_gone_back(hello)
        who = (trainer.id, hello.incarnation, now)
        keeps_own = self.is_in_step is True and self.keeps_own
        self._roster.check(*who, is_free=is_free, is_successor=is_successor, keeps_own=keeps_own)
        self.may_be_new_job = self.may_be_new_job and not trainer.incarnation
        before = self._roster.join(trainer.id, session, peer, hello.incarnation, now, hello.before)
        trainer.has_begun = hello.has_begun
        self._go_on_with(trainer, hello, comes_back=comes_back)
        self._note(f"trainer {trainer.id} {'came back' if comes_back else 'joined'} from {peer}")
        return before

    def barred(self) -> Barred:
        """See Barred. Nobody is before it is clear whose job this is."""
        if self.may_be_new_job or not self._roster.away:
            return _NOBODY
        gone = [self._roster.trainers[id] for id in sorted(self._roster.away)]
        left = [trainer for trainer in gone if trainer.has_left and not trainer.is_left_out]
        later = [trainer for trainer in gone if self._has_ended_pass(trainer)]
        free = [trainer for trainer in gone if not trainer.has_left and self._is_free(trainer, 0)]
        ever = [trainer for trainer in gone if trainer not in [*left, *later, *free]]
        return Barred(*(tuple(trainer.id for trainer in found) for found in (ever, later, left)))

    def advice(self, missing: Iterable[int]) -> str:
        """What to do about those of ``missing`` whose connection broke; empty where there is none."""
        trainers = [self._roster.trainers[id] for id in missing]
        lost = [trainer.id for trainer in trainers if trainer.state is Standing.LOST]
        barred = self.barred()
        for ids, what in (
            ([id for id in lost if id in barred.ever], _STOP),
            ([id for id in lost if id not in (*barred.ever, *barred.until_pass_ends)], _START_AGAIN),
        ):
            if ids:
                return f". {what.format(id=ids[0])}"
        return ""

    def kept(self, known: Sequence[Known]) -> None:
        """A cut lasts that holds so much of the trainers; nothing of who took a place since it was cut, and
        after another process had it."""
        for trainer, (process, mark) in zip(self._roster.trainers, known, strict=True):
            is_its_own = process in (trainer.incarnation, "")
            self._clocks.durable[trainer.id] = mark if is_its_own else Mark()
            self.unkept -= {trainer.id} if is_its_own else set()

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
            self.unkept.add(trainer.id)
        self._note(f"{what} from version {self._clocks.version}")

    def _has_gone_back(self, hello: Hello) -> bool:
        """Whether, in step, this shard lacks a pass that had ended before a process that has not begun. Where
        a job begins, or begins again, shards are brought to the same version afterwards (resuming.py)."""
        is_new = self.is_in_step is True and not (hello.answered.pushes or hello.answered.passes)
        return is_new and not self.is_new_job and hello.next_pass > self._clocks.next_pass[hello.trainer_id]

    def _has_ended_pass(self, trainer: Trainer) -> bool:
        """Whether it would wait for others, and a process in its place would be ahead of them."""
        can_be = self.is_in_step is False or not self.keeps_own
        return can_be and not trainer.has_left and trainer.id not in self._roster.present

    def _is_free(self, trainer: Trainer, answered: int) -> bool:
        """Rule 2, for a process that has had answers to so many pushes."""
        id, clocks = trainer.id, self._clocks
        has_begun = id not in self._roster.present or clocks.unsettled[id] or answered or self.keeps_own
        return self.is_in_step is False or not has_begun or not clocks.has_told(id)

    def _go_on_with(self, trainer: Trainer, hello: Hello, *, comes_back: bool) -> None:
        """Rule 1."""
        id, answered, clocks = trainer.id, hello.answered, self._clocks
        if self.training is None:
            return
        trainer.owed = answered.pushes
        if not self.training.is_in_step:
            self._go_on_out_of_step(trainer, hello, comes_back=comes_back)
        elif not comes_back and clocks.has_told(id):
            clocks.move(id, answered)
            self.unkept.add(id)

    def _go_on_out_of_step(self, trainer: Trainer, hello: Hello, *, comes_back: bool) -> None:
        """The same, where what the shard lacks is not sent again."""
        id, answered, clocks = trainer.id, hello.answered, self._clocks
        self._hear_of_passes(trainer, hello)
        has_all = answered.pushes <= clocks.decided[id] and answered.passes <= clocks.passes[id]
        if not (comes_back and hello.has_begun and has_all):
            self._lose_steps(trainer, answered, comes_back=comes_back)
        waits = id not in self._roster.present and not trainer.has_left
        if hello.has_begun and waits:  # it has told others that its pass has ended, and tells it again
            clocks.passes[id] = max(clocks.passes[id], answered.passes + 1)

    def _lose_steps(self, trainer: Trainer, answered: Mark, *, comes_back: bool) -> None:
        id, steps = trainer.id, self._clocks.move(trainer.id, answered)
        if not comes_back:  # it joined after the snapshot, if it has done anything
            steps = answered.pushes
        if steps:
            first, last = answered.pushes - steps + 1, answered.pushes
            self._note(f"steps {first} to {last} of trainer {id} are lost: they came after the snapshot")

    def _hear_of_passes(self, trainer: Trainer, hello: Hello) -> None:
        """Rule 5. Where its place is further than that, it waits there for the others."""
        clocks, ended = self._clocks, over(self._clocks, self._roster)
        if hello.over > ended and self.training is not None:
            clocks.hear(hello.over, hello.over - ended)
            self.training.begin_pass()
        clocks.next_pass[trainer.id] = max(clocks.next_pass[trainer.id], hello.next_pass)
        if clocks.next_pass[trainer.id] > max(ended, hello.over):
            self._roster.end_pass(trainer)
