"""Beginning: how a shard comes to its model, and from that to its training.

1.  The first trainer that declares a model gives it; all others must declare the same (model.py).
2.  Trainer 0 is asked for the initial values; the others' declarations are answered once all are there.
3.  Training begins when they are; where snapshots are kept, when they last. Nobody may give others by then:
    what is written may be read where these would land.
4.  A model that was not trained yet, and that nobody connected has declared, is forgotten.
5.  A model of a snapshot has its values, and is trained at once. Out of step one that was not there before
    is answered once those are back who were (reunion.py).

It must never know a gradient. Guarantee: training that has begun is never exchanged, but for that of a
snapshot that a new job goes back to.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

import numpy as np

from paddle._pserver.errors import BadMessage
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import Answer, Declare, Declared, Remind, Reply, Seed
from paddle._pserver.shard.arrival import Arrivals
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.changes import changes_of
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.compensation import compensation_of
from paddle._pserver.shard.model import Model
from paddle._pserver.shard.modes import mode_of, ratio_warning
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.resuming import Resuming
from paddle._pserver.shard.roster import Roster, Trainer
from paddle._pserver.shard.saving import Cause, Saving
from paddle._pserver.shard.state import State
from paddle._pserver.shard.training import Training


class Beginning:
    """See the module's text. ``model``: once a trainer has declared it; ``training``: once it is complete."""

    def __init__(
        self,
        options: ShardOptions,
        *,
        clocks: Clocks,
        roster: Roster,
        barrier: Barrier,
        outbox: Outbox,
        saving: Saving,
        arrivals: Arrivals,
        resuming: Resuming,
    ) -> None:
        self.model: Model | None = None
        self.training: Training | None = None
        self._options = options
        self._clocks, self._roster, self._barrier, self._outbox = clocks, roster, barrier, outbox
        self._saving, self._arrivals, self._resuming = saving, arrivals, resuming

    @property
    def is_in_step(self) -> bool:
        """Whether trainers are; before training they are."""
        return self.training is None or self.training.is_in_step

    def expecting(self, session: int) -> tuple[Trainer, Model]:
        """Who may bring values on this connection now, and the model that they are of."""
        trainer = self._roster.of(session)
        if self.model is None or trainer is None or not trainer.declared:
            raise BadMessage("values came before Declare")
        if trainer.id in self._barrier:
            raise BadMessage("values came before the last question was answered")
        return trainer, self.model

    def seeding(self, session: int) -> Model:
        """The model whose initial values come on this connection (rule 3)."""
        trainer, model = self.expecting(session)
        if model.is_complete or trainer.id != 0:
            raise BadMessage("initial values are taken from trainer 0 only, and once")
        return model

    def declare(self, trainer: Trainer, session: int, declare: Declare, now: float) -> None:
        """A trainer declares."""
        if trainer.declared:
            raise BadMessage("Declare came twice")
        if self.model is None:
            self.model = Model(declare, self._options)
            self._outbox.note(f"keeps {self.model}")
            if (warning := ratio_warning(declare.update)) is not None:
                self._outbox.note(warning, logging.WARNING)
        self.model.agree(trainer.id, declare)
        trainer.declared = True
        if trainer.id != 0 and self.training is None:
            return self._barrier.add(trainer.id, declare, now)
        if not self.is_in_step and not trainer.has_begun:
            answer = partial(self._answer, trainer, session, self.model)
            return self._resuming.reunion.begin(trainer.id, session, answer, now)
        return self._answer(trainer, session, self.model, now)

    def _answer(self, trainer: Trainer, session: int, model: Model, now: float) -> None:
        place = self._clocks.next_pass[trainer.id], self._clocks.passed[trainer.id]
        declared = Declared(not model.is_complete, place, model.most_early is not None)
        self._completed(session, model, declared, now)

    def forget(self, now: float) -> None:
        """A connection is gone (rule 4)."""
        if self.training is not None:
            self.training.call(now)
        elif not any(trainer.declared for trainer in self._roster.trainers):
            self.model = None

    def seed(self, session: int, seed: Seed | Remind, arrays: Sequence[np.ndarray], now: float) -> None:
        """Initial values have come, or what goes before them; ``arrays``: see Model.remind."""
        model = self.seeding(session)
        if isinstance(seed, Remind):
            model.remind(seed, arrays)
            return self._resuming.answer(session, Answer(self._clocks.version), now)
        model.seeded(seed.table)
        return self._completed(session, model, Answer(self._clocks.version), now)

    def restore(self, state: State, folder: str) -> Model:
        """The model of a snapshot; :meth:`train` next. Raises ValueError where it does not fit."""
        model = Model(state.facts.declaration, self._options)
        model.restore(state.arrays, state.facts.version, folder)
        return model

    def _completed(self, session: int, model: Model, reply: Reply, now: float) -> None:
        """Answer; where the model has all its initial values now, once these last, and begin."""
        if self.training is not None or not model.is_complete:
            return self._resuming.answer(session, reply, now)

        def begin(lasts: bool) -> None:
            is_over = self.training is not None or self.model is not model
            if not lasts or is_over or self._roster.of(session) is None:
                return  # the job is broken, or trainer 0 left meanwhile
            self._outbox.send(session, reply)
            self.train(model)

        return self._saving.ask(Cause("start", "the initial values are there"), begin, session)

    def train(self, model: Model, *, restored: bool = False) -> None:
        """It has its values; ``restored``: those of a snapshot."""
        update, trainers = model.declaration.update, self._options.num_gradient_servers
        self.model = model
        if not restored:
            model.begin()
            self._clocks.version = model.steps
        self.training = Training(
            model.tables,
            mode_of(update, trainers, self._clocks.paces),
            clocks=self._clocks,
            roster=self._roster,
            barrier=self._barrier,
            outbox=self._outbox,
            saving=self._saving,
            changes=changes_of(update, model.tables, trainers, restored=restored),
            compensation=compensation_of(update, model.tables, trainers),
            most_early=model.most_early,
        )
        if self.training.turns is not None:
            model.adding = self.training.turns.adding
        self._arrivals.training = self.training
        self._arrivals.keeps_own = update.mode.is_local
        self._outbox.note("has its initial values")
        for id in self._barrier.waiting_for(Declare):
            self._outbox.tell(id, Declared(seed=False, announces=model.most_early is not None))
