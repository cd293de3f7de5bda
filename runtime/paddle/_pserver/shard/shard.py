"""Shard: the state machine of one part of the parameters. No I/O, no clock of its own, no randomness.

Guarantee, synchronous mode: the values in the answer to a trainer's push of step s are exactly the parameters
after all gradients of steps <= s of all trainers in the pass, each applied once, summed in trainer order;
nothing else is visible in between. Asynchronous mode: every gradient that is not discarded is applied once,
in order of arrival.

1.  A trainer says Hello, then declares the model; all must declare the same.
2.  Trainer 0 seeds the initial values; the shard is ready when it has, and the others' declarations are
    answered then (beginning.py).
3.  A trainer asks one thing at a time; parts of a gradient may come before its push (deposit.py), and are not
    answered. What it asks of a shard that is ready is training's (training.py): a push is answered when its
    step has been applied or discarded (modes).
4.  A push that was admitted before is answered again and not applied again (clocks.py), also on another
    connection: a trainer whose connection broke may come back (roster.py).
5.  Ending a pass is answered when all trainers in it have ended it, to all with the same dense values; nobody
    waits for one that has (roster.py).
6.  A trainer that says goodbye is waited for no more. One that says it failed breaks the job at once, unless
    it had not declared yet: then it was never there (unstarted.py).
7.  A trainer whose connection broke is waited for until ``barrier_timeout_s`` after that, and so is one that
    is only slow, counted from the oldest open question; then the job is broken: TrainerLost, naming who is
    missing (barrier.py). So it goes also where one says that it failed; unless the job can go on without them
    (sparing.py).
8.  When a job breaks all trainers are told the reason, and again with every question but goodbye.
9.  The shard is over when all trainers have gone; or, when none is connected, ``barrier_timeout_s`` after the
    last one left. A trainer that is connected and asks nothing is not given up while nobody waits for it: it
    may be computing a long test; one whose machine is gone is found by TCP (link.py), and is lost then.
    A shard has done well unless the job broke, or a trainer is missing that owes a gradient.
10. Where snapshots are kept, training begins once the initial values last; a trainer that says goodbye hears
    that all it told lasts (parting.py). Somebody who is no trainer may ask for one (demand.py), and for
    nothing else. A restored shard goes on (arrival.py), also in a new job (resuming.py).

A shard has first no model, then a Model, then its Training; it knows who speaks and why a job ends. It must
never know a gradient, a socket, bytes or a wall clock: ``now`` is seconds on any clock that does not run
backwards.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from paddle._pserver.errors import BadMessage, NotCounted, PserverError, RateMismatch, TableFull, TrainerLost
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import (
    Answer,
    Declare,
    GoBack,
    Goodbye,
    Hello,
    Hold,
    Keep,
    Part,
    Remind,
    Request,
    Save,
    Seed,
    Waiting,
    failure,
)
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.shard import admission
from paddle._pserver.shard.arrival import Arrivals
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.beginning import Beginning
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.cuts import Cuts
from paddle._pserver.shard.demand import Demand
from paddle._pserver.shard.effects import Effect
from paddle._pserver.shard.ending import Broken, Outcome, left_alone, outcome
from paddle._pserver.shard.insisting import Insisting
from paddle._pserver.shard.model import Model
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.parting import Parting
from paddle._pserver.shard.resuming import Resuming
from paddle._pserver.shard.roster import Roster, Standing, Trainer
from paddle._pserver.shard.saving import Saving
from paddle._pserver.shard.sparing import Sparing
from paddle._pserver.shard.state import State, known, restore
from paddle._pserver.shard.unstarted import Unstarted
from paddle._pserver.tables.gradient import NOTHING, Gradient
from paddle._pserver.tables.tables import Tables
from paddle._visible import paragraph


class Shard:
    """See the module's text."""

    def __init__(self, options: ShardOptions) -> None:
        self.options = options
        self.outcome: Outcome | None = None
        self.broken: Broken | None = None
        self.clocks = Clocks(options.num_gradient_servers)
        self.roster = Roster(options.num_gradient_servers)
        self.barrier, self._unstarted = Barrier(options.barrier_timeout_s), Unstarted(options)
        self._outbox = Outbox(self.roster, self.barrier)
        self.saving = Saving(options.snapshots)
        told = self.clocks, self.roster, self.barrier, self._outbox, self.saving
        self._sparing = Sparing(options.min_trainers, *told)
        insisting, patience = Insisting(self._outbox, self.saving), options.barrier_timeout_s
        self._insisting, self._parting = insisting, Parting(self.clocks, self._outbox, insisting, patience)
        self.arrivals = Arrivals(self.clocks, self.roster, self._outbox.note)
        parts = self.clocks, self.roster, self.arrivals, self._outbox, self.saving
        self._resuming = Resuming(*parts, insisting, patience)
        self._beginning = Beginning(
            options,
            clocks=self.clocks,
            roster=self.roster,
            barrier=self.barrier,
            outbox=self._outbox,
            saving=self.saving,
            arrivals=self.arrivals,
            resuming=self._resuming,
        )
        begun = self._beginning
        self._cuts = Cuts(begun, self.clocks, self.roster, self._outbox, self.saving, options.serving)
        self._demand = Demand(begun, self._cuts, self.clocks, self._outbox, self.saving)
        self._now = 0.0
        self._peers: dict[int, str] = {}

    @property
    def ready(self) -> bool:
        """Whether it has its initial values."""
        return self._beginning.training is not None

    @property
    def tables(self) -> Tables | None:
        """What it keeps; None before a trainer has declared it."""
        return None if (model := self._beginning.model) is None else model.tables

    @property
    def declaration(self) -> Declare | None:
        """What a trainer has declared."""
        return None if (model := self._beginning.model) is None else model.declaration

    @property
    def wire(self) -> WireSpec | None:
        """In which numbers values travel, as a trainer has declared."""
        return None if (model := self._beginning.model) is None else model.declaration.wire

    # What surroundings tell a shard. Every call returns what to do about it, in order.

    def restore(self, state: State, folder: str, older: Sequence[int] = (), *, now: float) -> list[Effect]:
        """Begin with a snapshot; ``older`` versions are there. Raises ValueError where it does not fit."""
        self._begin(now)
        model = self._beginning.restore(state, folder)
        restore(state.facts, self.clocks, self.roster, now)
        self._resuming.restored(state.facts, older, now, serving=self.options.serving)
        self._beginning.train(model, restored=True)
        return self._outbox.effects

    def loaded(self, session: int, state: State, *, now: float) -> list[Effect]:
        """The snapshot that a trainer asked to go back to."""
        self._begin(now)
        if state.facts.version in self._resuming.older:
            model = self._beginning.restore(state, "the folder of this shard")
            self._resuming.went_back(state.facts, now)
            self._beginning.train(model, restored=True)
        self._resuming.answer(session, Answer(self.clocks.version), now)
        return self._done()

    def connected(self, session: int, peer: str) -> None:
        """A connection is there, from ``peer``."""
        self._peers[session] = peer

    def handle(
        self,
        session: int,
        message: Request,
        gradient: Gradient = NOTHING,
        ids: Sequence[np.ndarray] = (),
        *,
        now: float,
    ) -> list[Effect]:
        """A trainer asks. ``gradient`` comes with Push, ``ids`` per table with PullRows and Remind."""
        self._begin(now)
        try:
            self._route(session, message, gradient, ids)
        except PserverError as error:
            if isinstance(error, (TableFull, RateMismatch)):  # perhaps in the midst of a step
                self._break(str(error), is_own=isinstance(error, TableFull))
            elif isinstance(message, Declare) and not isinstance(error, TrainerLost):
                self._outbox.note_refusal(session, error)
            self._outbox.send(session, failure(error))
            if not isinstance(error, TrainerLost | NotCounted):
                self._outbox.close(session)
        return self._done()

    def lost(self, session: int, reason: str, *, now: float) -> list[Effect]:
        """A connection is gone."""
        self._begin(now)
        self._peers.pop(session, None)
        for part in (self._demand, self._parting, self._resuming):
            part.lost(session)
        trainer = self.roster.of(session)
        if trainer is not None:
            self.barrier.remove(trainer.id)
            self.roster.lose(trainer, now, forget=not self.clocks.has_told(trainer.id))
            alone = left_alone(self.roster, self.broken, now, self.options.barrier_timeout_s)
            text = f"lost trainer {trainer.id} at {trainer.peer}: {reason}{alone}"
            self._outbox.note(text, logging.WARNING)
            self._beginning.forget(now)
            self._conclude()
        return self._done()

    def tick(self, now: float) -> list[Effect]:
        """Time has passed; call about once a second."""
        self._begin(now)
        self._demand.tick(now)
        self._cuts.tick(now)
        if (verdict := self.barrier.verdict(self.roster, now)) is not None:
            self._go_on_without(verdict.missing, verdict.reason, *verdict.missing)
        elif (notice := self.barrier.notice(self.roster, now, self.arrivals.advice)) is not None:
            self._outbox.note(f"{len(self.barrier.waiting)} trainers {notice}", logging.WARNING)
            for id in self.barrier.waiting:
                self._outbox.tell(id, Waiting(notice))
        self._conclude()
        return self._done()

    def saved(self, error: str | None = None, *, now: float) -> list[Effect]:
        """The snapshot lasts that was last asked for; or could not be written."""
        self._begin(now)
        self._saved(error)
        return self._done()

    def _saved(self, error: str | None) -> None:
        held, waiting = self.saving.end(lasts=error is None)
        if error is None:
            self.arrivals.kept(held)
        else:
            self._outbox.note(f"a snapshot could not be written: {error}", logging.ERROR)
            if not self.ready or self._resuming.is_beginning:
                self._break(f"the first snapshot could not be written: {error}", is_own=True)
        for then in waiting:
            then(error is None)
        self._conclude()

    def stop(self, reason: str, *culprits: int, now: float) -> list[Effect]:
        """Whoever runs this shard ends it, because of ``culprits`` if there are any."""
        self._begin(now)
        self._break(reason, *culprits, is_own=not culprits)
        self._conclude()
        return self._outbox.effects

    def fallen(self, id: int | None, how: str, *, goes_on: bool, now: float) -> list[Effect]:
        """Whoever runs the job's processes says that one has ended for good, trainer ``id`` or another."""
        self._begin(now)
        known = self.roster.known(() if id is None else (id,))
        if goes_on and known and (self.ready or id != 0):
            self._sparing.hear(known[0], how)
        else:
            why = f"{how}, before it had given the initial values" if goes_on else how
            self._break(why, *known)
            self._conclude()
        return self._done()

    def expecting(self, session: int) -> Model:
        """The model for which this connection may bring values now."""
        return self._beginning.expecting(session)[1]

    def seeding(self, session: int) -> Model:
        """The model to which a Seed or Remind brings something, before it is handled."""
        return self._beginning.seeding(session)

    # Questions.

    def _route(self, session: int, message: Request, gradient: Gradient, ids: Sequence[np.ndarray]) -> None:
        if isinstance(message, Hello):
            return self._hello(session, message)
        trainer = self.roster.of(session)
        if isinstance(message, (Hold, Keep)):
            return self._wanted(session, message)
        if trainer is None:
            raise BadMessage(f"{type(message).__name__} came before Hello")
        trainer.heard = self._now
        if isinstance(message, Goodbye):
            return self._goodbye(trainer, message)
        if self.broken is not None:
            raise self.broken.error()
        if trainer.id in self.barrier:
            raise BadMessage(f"{type(message).__name__} came before the last question was answered")
        if isinstance(message, Declare):
            return self._beginning.declare(trainer, session, message, self._now)
        if isinstance(message, GoBack):
            return self._resuming.go_back(session, message, self._now)
        if not trainer.declared:
            raise BadMessage(f"{type(message).__name__} came before Declare")
        if isinstance(message, (Seed, Remind)):
            return self._beginning.seed(session, message, ids, self._now)
        if isinstance(message, Save):
            told = known(self.clocks, self.roster)[trainer.id]
            return self.saving.join(trainer.id, told, lambda _: self._save_is_over(trainer, session), session)
        if (training := self._beginning.training) is None:
            raise BadMessage(f"{type(message).__name__} came before the initial values")
        if isinstance(message, Part):
            return None  # the inlet has it
        return training.handle(trainer, message, gradient, ids, self._now)

    def _wanted(self, session: int, message: Hold | Keep) -> None:
        if self.roster.of(session) is not None:
            raise BadMessage(f"{type(message).__name__} came from a trainer")
        if self.broken is not None:
            raise self.broken.error()
        can, peer = self.ready and self._resuming.is_kept, self._peers.get(session, "this process")
        self._demand.hear(session, message, peer, self._now, can=can and not self.arrivals.may_be_new_job)

    def _hello(self, session: int, hello: Hello) -> None:
        admission.check(hello, self.options)
        if self.broken is not None:
            raise self.broken.error()
        if self.roster.of(session) is not None:
            raise BadMessage("Hello came twice")
        peer = self._peers.get(session, "this process")
        comes_back = self.roster.trainers[hello.trainer_id].is_again(hello.incarnation)
        before = self.arrivals.come(hello, session, peer, self._now)
        self._unstarted.came(hello.trainer_id)
        if before is not None:
            self.barrier.remove(hello.trainer_id)
            self._outbox.close(before)
        if (training := self._beginning.training) is not None and not comes_back:
            training.joined(hello.trainer_id, self._now)
        self._outbox.send(session, self._resuming.welcome(hello.trainer_id, ready=self.ready))

    def _goodbye(self, trainer: Trainer, goodbye: Goodbye) -> None:
        session, was_in = trainer.session, trainer.declared
        self.barrier.remove(trainer.id)
        assert session is not None  # on which it has said so
        self._resuming.lost(session)  # it waits for nothing else any more
        if goodbye.failure is None and self.ready and self.broken is None:
            self._parting.begin(trainer.id, session, self._now)
        else:
            self._parting.let_go(session)
        culprits = self.roster.known(goodbye.culprits) if goodbye.follows else (trainer.id,)
        if goodbye.failure is not None and not was_in:
            self.roster.lose(trainer, self._now, forget=True)
            self._outbox.note(self._unstarted.add(trainer, goodbye.failure, culprits), logging.WARNING)
            if self._unstarted.reason:
                self._break(self._unstarted.reason, *self._unstarted.culprits)
            return self._conclude()
        self.roster.leave(trainer, self._now)
        if goodbye.failure is not None:
            reason = f"trainer {trainer.id} at {trainer.peer} failed: {paragraph(goodbye.failure)}"
            self._go_on_without([trainer.id], reason, *culprits)
        elif trainer.id == 0 and not self.ready:
            self._break("trainer 0 left before it had given the initial values", 0)
        else:
            steps = self.clocks.pushes[trainer.id]
            self._outbox.note(f"trainer {trainer.id} said goodbye after {steps} steps")
            if self._beginning.training is not None and self.broken is None:
                self._beginning.training.advance(self._now)
        return self._conclude()

    # Endings.

    def _go_on_without(self, ids: Sequence[int], reason: str, *culprits: int) -> None:
        """Leave trainers out, or break the job where that cannot be."""
        training = self._beginning.training
        if training is None or self.broken is not None or not self._sparing.can_spare(ids):
            return self._break(reason, *culprits)
        self._sparing.leave_out(ids, reason, self._now)
        return training.advance(self._now)

    def _break(self, reason: str, *culprits: int, is_own: bool = False) -> None:
        if self.broken is not None:
            return
        self.broken = Broken(reason, self._now, culprits, is_own)
        self._outbox.note(f"the job is broken: {reason}", logging.ERROR)
        for id in self.roster.ids(Standing.JOINED):  # also those that ask nothing: they may be computing
            self._outbox.tell(id, failure(self.broken.error()))
        self._demand.broken(self.broken.error())

    def _conclude(self) -> None:
        """Rule 9."""
        is_needed = self.broken is None and len(self.roster.ids(Standing.GONE)) < len(self.roster.trainers)
        self._parting.look(self._now, is_needed=is_needed)
        self._insisting.look(self._now)
        if self.outcome is None and (self.broken is not None or not self.saving.is_busy):
            patience = self.options.barrier_timeout_s
            self.outcome = outcome(self.roster, self.clocks, self.broken, self._now, patience)

    def _begin(self, now: float) -> None:
        self._now = now
        self._outbox.begin()

    def _save_is_over(self, trainer: Trainer, session: int) -> None:
        self._outbox.send(session, Answer(self.clocks.version, durable=self.clocks.durable[trainer.id]))

    def _done(self) -> list[Effect]:
        """What is to be done, a snapshot last: it holds all that the others are about."""
        if (fallen := self._sparing.due()) and self.ready and self.broken is None:
            self._go_on_without([*fallen], "; ".join(fallen.values()))
            self._conclude()
        self._resuming.look(self._now)
        self._demand.look(self._now)
        if self.broken is None and (why_not := self._cuts.look(self._now)) is not None:
            self._saved(why_not)
        return self._outbox.effects
