"""Server: a simulated shard. Who is answered when is decided by the real one's state machine; what it would
compute is only counted.

The real parts are Training (training.py) with its mode, clocks, roster, barrier and outbox. In place of the
tables stands a ledger that counts what it is told to apply. One thread does all, as in a shard's process:
pieces of messages in the order of their coming, the answers that a question sets free at once.

Guarantee: what a server does costs what :mod:`benchmarks.scale.costs` says, and nothing happens for free but
the waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.scale.agenda import Agenda
from benchmarks.scale.cores import Cores
from benchmarks.scale.costs import ShardCosts
from benchmarks.scale.links import Card
from benchmarks.scale.script import update_in
from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.messages import Answer, Pull, Push
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.effects import Send
from paddle._pserver.shard.modes import mode_of
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster
from paddle._pserver.shard.training import Training
from paddle._pserver.tables.gradient import NOTHING, Gradient

_Work = tuple[float, Callable[..., None], tuple[Any, ...]]


class Ledger:
    """In the place of Tables: what was applied. ``steps``: for each of them, how many pushes it was of."""

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}
        self.open: dict[str, Any] = {}
        self.values = np.zeros(0, np.float32)
        self.is_averaged = False
        self.steps: list[int] = []
        self.pushes = 0

    def apply(
        self, gradients: Sequence[Gradient], *, samples: int, passes: int, step: int, rate: object = None
    ) -> None:
        """See Tables."""
        self.steps.append(len(gradients))
        self.pushes += len(gradients)


@dataclass(frozen=True, slots=True)
class Question:
    """What a trainer asks. ``seconds``: to receive it; ``answer_s``: to send the answer, in so many pieces;
    ``floats`` and ``rows``: that it pushes. ``asker`` hears the answer."""

    trainer: int
    asker: Any
    is_push: bool
    seconds: float
    answer_s: float
    answer_bytes: float = 0.0
    answer_pieces: int = 1
    rows: float = 0.0
    floats: float = 0.0


class Server:
    """See the module's text. ``speak(question)`` is called when a piece of its answer goes to the card."""

    def __init__(
        self,
        agenda: Agenda,
        cores: Cores,
        card: Card,
        costs: ShardCosts,
        mode: ModeSpec,
        trainers: int,
        speak: Callable[[Question], None],
        wake_s: float = 0.0,
    ) -> None:
        self.card, self.ledger = card, Ledger()
        self.clocks, self.busy_s, self.held_idle_s = Clocks(trainers), 0.0, 0.0
        self._agenda, self._cores, self._costs, self._speak = agenda, cores, costs, speak
        self._trainers, self._wake_s = trainers, wake_s
        self._peers_s = costs.peer_s.get(mode.name, 0.0) * (trainers - 1)
        self._notes_s = costs.noted_row_s * mode.is_local
        self._pending: deque[_Work] = deque()
        self._is_busy, self._idle_since = False, 0.0
        self._open: dict[int, Question] = {}
        self._roster, barrier = Roster(trainers), Barrier(1e9)
        for id in range(trainers):
            self._roster.join(id, id + 1, "", "", 0.0)
        self._outbox = Outbox(self._roster, barrier)
        self._training = Training(
            self.ledger,  # type: ignore[arg-type]
            mode_of(update_in(mode), trainers, self.clocks.paces),
            clocks=self.clocks,
            roster=self._roster,
            barrier=barrier,
            outbox=self._outbox,
        )

    def receive(self, question: Question, seconds: float, is_last: bool) -> None:
        """A piece of a question is there, and takes so long to read."""
        if is_last:
            self._do(seconds, self._asked, question)
        else:
            self._do(seconds, _nothing)

    # What it does, one thing after the other.

    def _do(self, seconds: float, then: Callable[..., None], *args: Any) -> None:
        if self._is_busy:
            self._pending.append((seconds, then, args))
            return
        slept_s = self._agenda.now - self._idle_since
        self._pending.append((self._costs.waking_s(self._wake_s, slept_s) + seconds, then, args))
        self.held_idle_s += len(self._open) * slept_s
        self._next()

    def _next(self) -> None:
        self._is_busy = bool(self._pending)
        if not self._pending:
            self._idle_since = self._agenda.now
            return
        seconds, then, args = self._pending.popleft()
        self.busy_s += seconds
        self._cores.work(seconds, self._done, then, args)

    def _done(self, then: Callable[..., None], args: tuple[Any, ...]) -> None:
        then(*args)
        self._next()

    # What a question does.

    def _asked(self, question: Question) -> None:
        """Ask the real state machine, and do what it says: count the work, then answer."""
        trainer, applied = self._roster.trainers[question.trainer], len(self.ledger.steps)
        self._open[question.trainer] = question
        message: Push | Pull = Pull()
        if question.is_push:
            message = Push(self.clocks.pushes[trainer.id] + 1, 0, 1)
        self._outbox.begin()
        self._training.handle(trainer, message, NOTHING, (), self._agenda.now)
        seconds = sum(self._applying_s(question, pushes) for pushes in self.ledger.steps[applied:])
        if question.is_push:
            seconds += self._peers_s + question.rows * self._notes_s
        ready: list[_Work] = [(seconds, _nothing, ())] if seconds else []
        for effect in self._outbox.effects:
            if isinstance(effect, Send) and isinstance(effect.message, Answer):
                told = self._open.pop(effect.session - 1)
                ready += [(told.answer_s / told.answer_pieces, self._speak, (told,))] * told.answer_pieces
        self._pending.extendleft(reversed(ready))

    def _applying_s(self, question: Question, pushes: int) -> float:
        costs, floats, rows = self._costs, question.floats, question.rows
        dense = floats * (costs.rule_float_s + (pushes - 1) * costs.fold_float_s)
        return dense + rows * (costs.applied_row_s if pushes == 1 else pushes * costs.folded_row_s)


def _nothing() -> None:
    pass
