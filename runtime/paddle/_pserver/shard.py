"""Shard: the state machine of one part of the parameters. No I/O, no clock of its own, no randomness.

Guarantee, synchronous mode: the values in the answer to a trainer's push of step s are exactly the parameters
after all gradients of steps <= s of all trainers in the pass, each applied once, summed in trainer order;
nothing else is visible in between. Asynchronous mode: every gradient that is not discarded is applied once,
in order of arrival.

1.  A trainer says Hello, then declares the model; all must declare the same.
2.  Trainer 0 seeds the initial values; the shard is ready when it has (model.py). The others' declarations
    are answered then.
3.  A trainer asks one thing at a time. What it asks of a shard that is ready is training's (training.py): a
    push is answered when its step has been applied or discarded (modes.py);
4.  one that was admitted before is answered again and not applied again (clocks.py);
5.  ending a pass is answered when all trainers in it have ended it, to all with the same dense values; nobody
    waits for one that has (roster.py).
6.  A trainer that says goodbye is waited for no more. One that says it failed breaks the job at once, unless
    it had not declared yet: then it was never there.
7.  A trainer whose connection broke is waited for until ``barrier_timeout_s`` after that, and so is one that
    is only slow, counted from the oldest open question; then the job is broken: TrainerLost, naming who is
    missing (barrier.py).
8.  When a job breaks all trainers are told the reason, and again with every question but goodbye.
9.  The shard is over when all trainers have gone; or, when none is connected, ``barrier_timeout_s`` after the
    last one left. A trainer that is connected and asks nothing is not given up while nobody waits for it: it
    may be computing a long test; one whose machine is gone is found by TCP (link.py), and is lost then.
    A shard has done well unless the job broke, or a trainer is missing that owes a gradient.

A shard has first no model, then a Model, then its Training; it knows who is there and why a job ends. It must
never know a gradient, a socket, bytes or a wall clock: ``now`` is seconds on any clock that does not run
backwards.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from paddle._pserver import admission
from paddle._pserver.barrier import Barrier
from paddle._pserver.clocks import Clocks
from paddle._pserver.effects import Effect
from paddle._pserver.ending import Broken, Outcome, outcome
from paddle._pserver.errors import BadMessage, PserverError, TrainerLost
from paddle._pserver.messages import (
    Answer,
    Declare,
    Declared,
    Goodbye,
    Hello,
    Request,
    Seed,
    Waiting,
    Welcome,
    failure,
)
from paddle._pserver.model import Model
from paddle._pserver.modes import mode_of, ratio_warning
from paddle._pserver.options import ShardOptions
from paddle._pserver.outbox import Outbox
from paddle._pserver.roster import Roster, State, Trainer
from paddle._pserver.tables import NOTHING, Gradient, Tables
from paddle._pserver.training import Training


class Shard:
    """See the module's text."""

    def __init__(self, options: ShardOptions) -> None:
        self.options = options
        self.outcome: Outcome | None = None
        self.broken: Broken | None = None
        self.clocks = Clocks(options.num_gradient_servers)
        self.roster = Roster(options.num_gradient_servers)
        self.barrier = Barrier(options.barrier_timeout_s)
        self._model: Model | None = None  # once a trainer has declared it
        self._training: Training | None = None  # once the model is complete
        self._outbox = Outbox(self.roster, self.barrier)
        self._now = 0.0
        self._peers: dict[int, str] = {}

    @property
    def ready(self) -> bool:
        """Whether it has its initial values."""
        return self._training is not None

    @property
    def tables(self) -> Tables | None:
        """What it keeps; None before a trainer has declared it."""
        return None if self._model is None else self._model.tables

    # What surroundings tell a shard. Every call returns what to do about it, in order.

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
        """A trainer asks. ``gradient`` comes with Push, ``ids`` per table with PullRows; Seed: see
        seed_target."""
        self._begin(now)
        try:
            self._route(session, message, gradient, ids)
        except PserverError as error:
            self._outbox.send(session, failure(error))
            if not isinstance(error, TrainerLost):
                self._outbox.close(session)
        return self._outbox.effects

    def lost(self, session: int, reason: str, *, now: float) -> list[Effect]:
        """A connection is gone."""
        self._begin(now)
        self._peers.pop(session, None)
        trainer = self.roster.of(session)
        if trainer is not None:
            self.barrier.remove(trainer.id)
            self.roster.lose(trainer, now, forget=not self.clocks.pushes[trainer.id])
            self._outbox.note(f"lost trainer {trainer.id} at {trainer.peer}: {reason}", logging.WARNING)
            self._forget_model()
            self._conclude()
        return self._outbox.effects

    def tick(self, now: float) -> list[Effect]:
        """Time has passed; call about once a second."""
        self._begin(now)
        if (verdict := self.barrier.verdict(self.roster, now)) is not None:
            self._break(verdict, *self.barrier.missing(self.roster))
        elif (notice := self.barrier.notice(self.roster, now)) is not None:
            self._outbox.note(f"{len(self.barrier.waiting)} trainers {notice}", logging.WARNING)
            for id in self.barrier.waiting:
                self._outbox.tell(id, Waiting(notice))
        self._conclude()
        return self._outbox.effects

    def stop(self, reason: str, *, now: float) -> list[Effect]:
        """Whoever runs this shard ends it."""
        self._begin(now)
        self._break(reason, is_own=True)
        self._conclude()
        return self._outbox.effects

    def expecting(self, session: int) -> Tables:
        """The tables for which this connection may bring values now."""
        return self._expecting(session)[1].tables

    def seed_target(self, session: int, table: str | None) -> np.ndarray:
        """Where the initial values that a Seed brings are written, before it is handled."""
        return self._seeding(session).part(table)

    def _expecting(self, session: int) -> tuple[Trainer, Model]:
        trainer = self.roster.of(session)
        if self._model is None or trainer is None or not trainer.declared:
            raise BadMessage("values came before Declare")
        if trainer.id in self.barrier:
            raise BadMessage("values came before the last question was answered")
        return trainer, self._model

    def _seeding(self, session: int) -> Model:
        trainer, model = self._expecting(session)
        if self.ready or trainer.id != 0:
            raise BadMessage("initial values are taken from trainer 0 only, and once")
        return model

    # Questions.

    def _route(self, session: int, message: Request, gradient: Gradient, ids: Sequence[np.ndarray]) -> None:
        if isinstance(message, Hello):
            return self._hello(session, message)
        trainer = self.roster.of(session)
        if trainer is None:
            raise BadMessage(f"{type(message).__name__} came before Hello")
        trainer.heard = self._now
        if isinstance(message, Goodbye):
            return self._goodbye(trainer, message)
        if self.broken is not None:
            raise TrainerLost(self.broken.reason)
        if trainer.id in self.barrier:
            raise BadMessage(f"{type(message).__name__} came before the last question was answered")
        if isinstance(message, Declare):
            return self._declare(trainer, message)
        if not trainer.declared:
            raise BadMessage(f"{type(message).__name__} came before Declare")
        if isinstance(message, Seed):
            return self._seed(session, message)
        if self._training is None:
            raise BadMessage(f"{type(message).__name__} came before the initial values")
        return self._training.handle(trainer, message, gradient, ids, self._now)

    def _hello(self, session: int, hello: Hello) -> None:
        admission.check(hello, self.options)
        if self.broken is not None:
            raise TrainerLost(self.broken.reason)
        if self.roster.of(session) is not None:
            raise BadMessage("Hello came twice")
        peer = self._peers.get(session, "this process")
        self.roster.join(hello.trainer_id, session, peer, self._now)
        self._outbox.send(session, Welcome(self.options.barrier_timeout_s))
        self._outbox.note(f"trainer {hello.trainer_id} joined from {peer}")

    def _declare(self, trainer: Trainer, declare: Declare) -> None:
        if trainer.declared:
            raise BadMessage("Declare came twice")
        if self._model is None:
            self._model = Model(declare, self.options)
            self._outbox.note(f"keeps {self._model}")
            if (warning := ratio_warning(declare.update)) is not None:
                self._outbox.note(warning, logging.WARNING)
        self._model.agree(trainer.id, declare)
        trainer.declared = True
        if trainer.id != 0 and not self.ready:
            return self.barrier.add(trainer.id, declare, self._now)
        self._outbox.tell(trainer.id, Declared(seed=not self.ready))
        return self._begin_training(self._model)

    def _forget_model(self) -> None:
        """One that nobody connected has declared, and that was not trained yet, is nobody's."""
        if not self.ready and not any(trainer.declared for trainer in self.roster.trainers):
            self._model = None

    def _seed(self, session: int, seed: Seed) -> None:
        model = self._seeding(session)
        model.seeded(seed.table)
        self._outbox.send(session, Answer(self.clocks.version))
        self._begin_training(model)

    def _begin_training(self, model: Model) -> None:
        if self.ready or not model.is_complete or not self.roster.trainers[0].declared:
            return
        self._training = Training(
            model.tables,
            mode_of(model.declaration.update, self.options.num_gradient_servers),
            clocks=self.clocks,
            roster=self.roster,
            barrier=self.barrier,
            outbox=self._outbox,
            log_period_server=self.options.log_period_server,
        )
        self._outbox.note("has its initial values")
        for id in self.barrier.waiting_for(Declare):
            self._outbox.tell(id, Declared(seed=False))

    def _goodbye(self, trainer: Trainer, goodbye: Goodbye) -> None:
        session, was_in = trainer.session, trainer.declared
        self.barrier.remove(trainer.id)
        if session is not None:
            self._outbox.send(session, Answer(self.clocks.version))
            self._outbox.close(session)
        if goodbye.failure is not None and not was_in:
            self.roster.lose(trainer, self._now, forget=True)
            self._outbox.note(f"trainer {trainer.id} at {trainer.peer} could not start: {goodbye.failure}")
            return
        self.roster.leave(trainer, self._now)
        if goodbye.failure is not None:
            culprits = () if goodbye.follows else (trainer.id,)
            self._break(f"trainer {trainer.id} at {trainer.peer} failed: {goodbye.failure}", *culprits)
        elif trainer.id == 0 and not self.ready:
            self._break("trainer 0 left before it had given the initial values", 0)
        else:
            steps = self.clocks.pushes[trainer.id]
            self._outbox.note(f"trainer {trainer.id} said goodbye after {steps} steps")
            if self._training is not None and self.broken is None:
                self._training.advance()
        self._conclude()

    # Endings.

    def _break(self, reason: str, *culprits: int, is_own: bool = False) -> None:
        if self.broken is not None:
            return
        self.broken = Broken(reason, self._now, culprits, is_own)
        self._outbox.note(f"the job is broken: {reason}", logging.ERROR)
        for id in self.roster.ids(State.JOINED):  # also those that have asked nothing: they may be computing
            self._outbox.tell(id, failure(TrainerLost(reason)))

    def _conclude(self) -> None:
        """Rule 9."""
        if self.outcome is None:
            patience = self.options.barrier_timeout_s
            self.outcome = outcome(self.roster, self.clocks, self.broken, self._now, patience)

    def _begin(self, now: float) -> None:
        self._now = now
        self._outbox.begin()
