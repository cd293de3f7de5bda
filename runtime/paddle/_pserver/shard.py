"""Shard: the state machine of one part of the parameters. No I/O, no clock of its own, no randomness.

Guarantee, synchronous mode: the values in the answer to a trainer's push of step s are exactly the parameters
after all gradients of steps <= s of all trainers in the pass, each applied once, summed in trainer order;
nothing else is visible in between. Asynchronous mode: every gradient that is not discarded is applied once,
in order of arrival.

1.  A trainer says Hello, then declares the model; all must declare the same.
2.  Trainer 0 seeds the initial values; the shard is ready when it has. The others' declarations are answered
    then.
3.  A trainer asks one thing at a time. A push is answered when its step has been applied or discarded
    (modes.py).
4.  A push that was admitted before is answered again and not applied again (clocks.py).
5.  Ending a pass is answered when all trainers in it have ended it, to all with the same dense values; nobody
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

It must never know a socket, bytes or a wall clock: ``now`` is seconds on any clock that does not run
backwards.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from paddle._pserver import admission, declaration
from paddle._pserver.barrier import Barrier
from paddle._pserver.clocks import Clocks
from paddle._pserver.effects import Close, Effect, Note, Send
from paddle._pserver.ending import Broken, Outcome, outcome
from paddle._pserver.errors import BadMessage, DeclarationMismatch, PserverError, TrainerLost
from paddle._pserver.messages import (
    Answer,
    Declare,
    Declared,
    EndPass,
    Goodbye,
    Hello,
    Pull,
    PullRows,
    Push,
    Reply,
    Request,
    Seed,
    Waiting,
    Welcome,
    failure,
)
from paddle._pserver.modes import Due, Mode, Offer, mode_of, ratio_warning
from paddle._pserver.options import ShardOptions
from paddle._pserver.placement import dense_layout, row_ranges
from paddle._pserver.roster import Roster, State, Trainer
from paddle._pserver.tables import NOTHING, Gradient, Tables


class Shard:
    """See the module's text."""

    def __init__(self, options: ShardOptions) -> None:
        self.options = options
        self.outcome: Outcome | None = None
        self.tables: Tables | None = None
        self.clocks = Clocks(options.num_gradient_servers)
        self.roster = Roster(options.num_gradient_servers)
        self.barrier = Barrier(options.barrier_timeout_s)
        self.ready = False
        self._declaration: Declare | None = None
        self._mode: Mode
        self._unseeded: set[str | None] = set()
        self.broken: Broken | None = None
        self._effects: list[Effect] = []
        self._now = 0.0
        self._pass_id = 0
        self._peers: dict[int, str] = {}

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
            self._send(session, failure(error))
            if not isinstance(error, TrainerLost):
                self._effects.append(Close(session))
        return self._effects

    def lost(self, session: int, reason: str, *, now: float) -> list[Effect]:
        """A connection is gone."""
        self._begin(now)
        self._peers.pop(session, None)
        trainer = self.roster.of(session)
        if trainer is not None:
            self.barrier.remove(trainer.id)
            self.roster.lose(trainer, now, forget=not self.clocks.pushes[trainer.id])
            self._note(f"lost trainer {trainer.id} at {trainer.peer}: {reason}", logging.WARNING)
            self._forget_unseeded()
            self._conclude()
        return self._effects

    def tick(self, now: float) -> list[Effect]:
        """Time has passed; call about once a second."""
        self._begin(now)
        if (verdict := self.barrier.verdict(self.roster, now)) is not None:
            self._break(verdict, *self.barrier.missing(self.roster))
        elif (notice := self.barrier.notice(self.roster, now)) is not None:
            self._note(f"{len(self.barrier.waiting)} trainers {notice}", logging.WARNING)
            for id in self.barrier.waiting:
                self._tell(id, Waiting(notice))
        self._conclude()
        return self._effects

    def stop(self, reason: str, *, now: float) -> list[Effect]:
        """Whoever runs this shard ends it."""
        self._begin(now)
        self._break(reason, is_own=True)
        self._conclude()
        return self._effects

    def expecting(self, session: int) -> Tables:
        """The tables for which this connection may bring values now."""
        trainer = self.roster.of(session)
        if self.tables is None or trainer is None or not trainer.declared:
            raise BadMessage("values came before Declare")
        if trainer.id in self.barrier:
            raise BadMessage("values came before the last question was answered")
        return self.tables

    def seed_target(self, session: int, table: str | None) -> np.ndarray:
        """Where the initial values that a Seed brings are written, before it is handled."""
        tables, trainer = self.expecting(session), self.roster.of(session)
        if self.ready or trainer is None or trainer.id != 0:
            raise BadMessage("initial values are taken from trainer 0 only, and once")
        return tables.values if table is None else tables.table(table).values

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
        if self.tables is None or not trainer.declared:
            raise BadMessage(f"{type(message).__name__} came before Declare")
        if isinstance(message, Seed):
            return self._seed(session, message)
        if not self.ready:
            raise BadMessage(f"{type(message).__name__} came before the initial values")
        return self._train(trainer, self.tables, message, gradient, ids)

    def _train(
        self,
        trainer: Trainer,
        tables: Tables,
        message: Request,
        gradient: Gradient,
        ids: Sequence[np.ndarray],
    ) -> None:
        match message:
            case Push():
                self._push(trainer, tables, message, gradient)
            case PullRows():
                self._pull_rows(trainer, tables, ids)
            case Pull(table=None):
                self._answer(trainer.id, tables.values)
            case Pull(table=str(name)):
                self._tell(trainer.id, Answer(self.clocks.version), (tables.table(name).values,))
            case EndPass():
                self._end_pass(trainer, message)

    def _hello(self, session: int, hello: Hello) -> None:
        mine = self.options
        admission.check(hello, mine)
        if self.broken is not None:
            raise TrainerLost(self.broken.reason)
        if self.roster.of(session) is not None:
            raise BadMessage("Hello came twice")
        self.roster.join(hello.trainer_id, session, self._peers.get(session, "this process"), self._now)
        self._send(session, Welcome(mine.barrier_timeout_s))
        self._note(f"trainer {hello.trainer_id} joined from {self.roster.trainers[hello.trainer_id].peer}")

    def _declare(self, trainer: Trainer, declare: Declare) -> None:
        if trainer.declared:
            raise BadMessage("Declare came twice")
        if self._declaration is None:
            self._build(declare)
        elif declare != self._declaration:
            raise DeclarationMismatch(
                f"trainer {trainer.id} does not train the same model as the others here: they differ in "
                f"{declaration.difference(self._declaration, declare)}"
            )
        trainer.declared = True
        if trainer.id != 0 and not self.ready:
            return self.barrier.add(trainer.id, declare, self._now)
        self._tell(trainer.id, Declared(seed=not self.ready))
        return self._check_ready()

    def _build(self, declare: Declare) -> None:
        declaration.check(declare)
        held = [p for p in declare.parameters if ("sparse" if p.sparse else "dense") in self.options.roles]
        layout = dense_layout(held, declare.shard, declare.shards)
        ranges = row_ranges(held, declare.shard, declare.shards)
        trainers = self.options.num_gradient_servers
        declaration.check_size(declare.update, layout, ranges, trainers, self.options.memory_limit_bytes)
        self.tables = Tables(declare.update, layout, ranges)
        self._mode = mode_of(declare.update, trainers)
        self._declaration = declare
        self._unseeded = {name for name, table in self.tables.rows.items() if table.held.count}
        if layout.size:
            self._unseeded.add(None)
        rows = sum(held.count for held in ranges)
        self._note(
            f"keeps shard {declare.shard} of {declare.shards}: {layout.size} dense values, {rows} sparse rows"
        )
        if (warning := ratio_warning(declare.update)) is not None:
            self._note(warning, logging.WARNING)

    def _forget_unseeded(self) -> None:
        """Before the shard is ready, a model that nobody connected has declared is nobody's."""
        if not self.ready and not any(trainer.declared for trainer in self.roster.trainers):
            self._declaration = self.tables = None

    def _seed(self, session: int, seed: Seed) -> None:
        self.seed_target(session, seed.table)
        self._unseeded.discard(seed.table)
        self._send(session, Answer(self.clocks.version))
        self._check_ready()

    def _check_ready(self) -> None:
        if self.ready or self._unseeded or not self.roster.trainers[0].declared:
            return
        self.ready = True
        self._note("has its initial values")
        for id in self.barrier.waiting_for(Declare):
            self._tell(id, Declared(seed=False))

    def _push(self, trainer: Trainer, tables: Tables, push: Push, gradient: Gradient) -> None:
        for table, rows in zip(tables.rows.values(), gradient.rows, strict=True):
            table.check(rows.ids)
        if not self.clocks.admit(trainer.id, push.step):
            return self._answer(trainer.id, tables.values)
        self.barrier.add(trainer.id, push, self._now)
        self._mode.offer(Offer(trainer.id, push, gradient))
        return self._advance()

    def _pull_rows(self, trainer: Trainer, tables: Tables, ids: Sequence[np.ndarray]) -> None:
        for table, wanted in zip(tables.rows.values(), ids, strict=True):
            table.check(wanted)
        rows = tuple(table.gather(wanted) for table, wanted in zip(tables.rows.values(), ids, strict=True))
        self._mode.refreshed(trainer.id)
        self._tell(trainer.id, Answer(self.clocks.version), rows)

    def _end_pass(self, trainer: Trainer, end: EndPass) -> None:
        self._pass_id = end.pass_id
        self.clocks.settle(trainer.id)
        self.roster.end_pass(trainer)
        self.barrier.add(trainer.id, end, self._now)
        self._advance()

    def _goodbye(self, trainer: Trainer, goodbye: Goodbye) -> None:
        session, was_in = trainer.session, trainer.declared
        self.barrier.remove(trainer.id)
        if session is not None:
            self._send(session, Answer(self.clocks.version))
            self._effects.append(Close(session))
        if goodbye.failure is not None and not was_in:
            self.roster.lose(trainer, self._now, forget=True)
            self._note(f"trainer {trainer.id} at {trainer.peer} could not start: {goodbye.failure}")
            return
        self.roster.leave(trainer, self._now)
        if goodbye.failure is not None:
            culprits = () if goodbye.follows else (trainer.id,)
            self._break(f"trainer {trainer.id} at {trainer.peer} failed: {goodbye.failure}", *culprits)
        elif trainer.id == 0 and not self.ready:
            self._break("trainer 0 left before it had given the initial values", 0)
        else:
            self._note(f"trainer {trainer.id} said goodbye after {self.clocks.pushes[trainer.id]} steps")
            self._advance()
        self._conclude()

    # Progress.

    def _advance(self) -> None:
        """Do all that has become possible: apply what is due, release a pass that all have ended."""
        if self.tables is None or self.broken is not None:
            return
        while (due := self._mode.due(self.roster.present)) is not None:
            self._settle(self.tables, due)
        ended = self.barrier.waiting_for(EndPass) if not self.roster.present else []
        if ended:
            self.roster.begin_pass()
            self._note(f"pass {self._pass_id} ended: {self.clocks}")
            values = self._snapshot(self.tables)
            for id in ended:
                self._answer(id, values)

    def _settle(self, tables: Tables, due: Due) -> None:
        if due.discard:
            for offer in due.offers:
                self.clocks.drop(offer.trainer)
        else:
            self.clocks.apply(sum(offer.push.samples for offer in due.offers))
            tables.apply(
                [offer.gradient for offer in due.offers],
                samples=self.clocks.samples,
                passes=max(offer.push.pass_id for offer in due.offers),
                step=self.clocks.version,
            )
            if self.clocks.version % self.options.log_period_server == 0:
                self._note(str(self.clocks))
        for offer in due.offers:
            self._answer(offer.trainer, tables.values, dropped=due.discard)

    def _snapshot(self, tables: Tables) -> np.ndarray:
        """The dense values, as they will still be when the last trainer has taken them."""
        return tables.values.copy() if self._is_async else tables.values

    def _answer(self, id: int, values: np.ndarray, *, dropped: bool = False) -> None:
        """Give a trainer the dense ``values``; a shard without any says only that it is done."""
        self._mode.refreshed(id)
        self._tell(id, Answer(self.clocks.version, dropped), (values,) if values.size else ())

    def _break(self, reason: str, *culprits: int, is_own: bool = False) -> None:
        if self.broken is not None:
            return
        self.broken = Broken(reason, self._now, culprits, is_own)
        self._note(f"the job is broken: {reason}", logging.ERROR)
        for id in self.roster.ids(State.JOINED):  # also those that have asked nothing: they may be computing
            self._tell(id, failure(TrainerLost(reason)))

    def _conclude(self) -> None:
        """Rule 9."""
        if self.outcome is None:
            patience = self.options.barrier_timeout_s
            self.outcome = outcome(self.roster, self.clocks, self.broken, self._now, patience)

    # Words.

    def _begin(self, now: float) -> None:
        self._now = now
        self._effects = []

    def _note(self, text: str, level: int = logging.INFO) -> None:
        self._effects.append(Note(text, level))

    @property
    def _is_async(self) -> bool:
        return self._declaration is not None and self._declaration.update.is_async

    def _send(self, session: int, message: Reply, body: tuple[np.ndarray, ...] = ()) -> None:
        # In synchronous mode the arrays of an answer stay as they are until all of it is sent: a step changes
        # them, which waits for all trainers in the pass; this one is in it, and pushes only once it has the
        # answer. (One that breaks this rule finds a wrong checksum in its own answer.)
        self._effects.append(Send(session, message, body, live=self._is_async))

    def _tell(self, id: int, message: Reply, body: tuple[np.ndarray, ...] = ()) -> None:
        """Answer a trainer, if it is still there; what it asked is answered then, unless it must go on
        waiting."""
        if not isinstance(message, Waiting):
            self.barrier.remove(id)
        session = self.roster.trainers[id].session
        if session is not None:
            self._send(session, message, body)
