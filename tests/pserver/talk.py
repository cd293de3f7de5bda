"""Talking to a Shard without bytes: trainers by number, time by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Answer,
    Declare,
    Declared,
    EndPass,
    Failure,
    Goodbye,
    Hello,
    Mark,
    Push,
    Reply,
    Request,
    Seed,
    Welcome,
)
from paddle._pserver.shard.effects import Close, Drop, Effect, Note, Send, Write
from paddle._pserver.shard.shard import Shard
from paddle._pserver.shard.state import State
from paddle._pserver.tables.gradient import NOTHING, Gradient, Rows

MODEL = (ParameterSpec(name="w", shape=(4,)), ParameterSpec(name="t", shape=(5, 2), sparse=True))
LEARNING_RATE = 0.5
NOTHING_YET = Mark()


def update(**changes: Any) -> UpdateSpec:
    return UpdateSpec(
        rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=LEARNING_RATE), **changes
    )


def gradient(values: Sequence[float], ids: Sequence[int] = ()) -> Gradient:
    """``values`` for w; for each row in ``ids`` of t a row of its first value."""
    rows = np.full((len(ids), 2), values[0], np.float32)
    return Gradient([np.array(values, np.float32)], [Rows(np.array(ids, np.int64), rows)])


ONE = gradient([1, 0, 0, 0])
TWO = gradient([2, 0, 0, 0])


class Fails:
    """Equal to a Failure with this code and a text that has ``saying`` in it."""

    def __init__(self, code: str, saying: str = "") -> None:
        self.code, self.saying = code, saying

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failure) and other.code == self.code and self.saying in other.text

    def __repr__(self) -> str:
        return f"{self.code}: ...{self.saying}..."


class Talk:
    """A shard and its trainers; trainer i speaks on session i + 1, or on one of its own (connect)."""

    def __init__(self, trainers: int = 1, spec: UpdateSpec | None = None, **options: Any) -> None:
        self.shard = Shard(ShardOptions(num_gradient_servers=trainers, **options))
        self.spec = spec or update()
        self.now = 0.0
        self.replies: list[tuple[int, Reply]] = []  # all that were ever sent: trainer, message
        self.bodies: dict[int, list[np.ndarray]] = {}  # the last body that each trainer got
        self.notes: list[str] = []
        self.closed: list[int] = []
        self.dropped: list[int] = []
        self.cuts: list[State] = []  # all that were ever cut
        self.disk_is_slow = False  # nothing lasts until ``write``
        self._steps = [0] * trainers
        self._processes = [""] * trainers  # that said hello last
        self._passes = [0] * trainers  # that they have asked to end
        self._begun: set[str] = set()  # processes that have told something that counts
        self._sessions: dict[int, int] = {}
        self._owners: dict[int, int] = {}

    def connect(self, trainer: int) -> None:
        """It speaks on a connection that was never there before; what comes on the last one nobody hears."""
        session = 1000 + len(self._owners)
        self._sessions[trainer], self._owners[session] = session, trainer

    def session(self, trainer: int) -> int:
        return self._sessions.get(trainer, trainer + 1)

    def _owner(self, session: int) -> int:
        return self._owners.get(session, session - 1)

    def ask(self, trainer: int, message: Request, gradient: Gradient = NOTHING, **more: Any) -> list[Reply]:
        """What the trainer is answered at once."""
        if isinstance(message, Push | EndPass):
            self._begun.add(self._processes[trainer])
        gradient = Gradient([array.copy() for array in gradient.dense], gradient.rows)  # the shard's own
        session = self.session(trainer)
        return self._take(self.shard.handle(session, message, gradient, **more, now=self.now), trainer)

    def lose(self, trainer: int) -> None:
        self._take(self.shard.lost(self.session(trainer), "it was lost", now=self.now))

    def fallen(self, trainer: int, how: str = "it was killed", *, goes_on: bool = True) -> None:
        self._take(self.shard.fallen(trainer, how, goes_on=goes_on, now=self.now))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self._take(self.shard.tick(self.now))

    def _take(self, effects: Sequence[Effect], trainer: int | None = None) -> list[Reply]:
        first = len(self.replies)
        for effect in effects:
            match effect:
                case Send(session, message, body):
                    to = self._owner(session)
                    if session == self.session(to):
                        self.replies.append((to, message))
                        self.bodies[to] = [array.copy() for array in body]
                case Note(text):
                    self.notes.append(text)
                case Close(session):
                    self.closed.append(self._owner(session))
                case Drop(session):
                    self.dropped.append(self._owner(session))
                case Write(state):
                    self.cuts.append(state)
                    if not self.disk_is_slow:
                        self.write()
        return [message for to, message in self.replies[first:] if to == trainer]

    def write(self, error: str | None = None) -> None:
        """The disk has done what it was asked."""
        self._take(self.shard.saved(error, now=self.now))

    def restart(self, cut: State | None = None) -> Talk:
        """Another shard, from the last cut or this one; nobody is connected."""
        other = Talk(len(self._steps), self.spec)
        other.shard = Shard(self.shard.options)
        other.now = self.now
        other._take(other.shard.restore(cut or self.cuts[-1], "a folder", now=self.now))
        other._steps = list(other.shard.clocks.pushes)
        other._passes, other._begun = list(self._passes), self._begun
        return other

    def told(self, trainer: int) -> Reply:
        """The last thing that a trainer was told."""
        return [message for to, message in self.replies if to == trainer][-1]

    # Usual courses of events.

    def hello(
        self, trainer: int, incarnation: str = "", answered: Mark = NOTHING_YET, **more: Any
    ) -> list[Reply]:
        self.shard.connected(self.session(trainer), f"host{trainer}")
        if trainer < len(self._processes):
            self._processes[trainer] = incarnation
        more.setdefault("has_begun", bool(incarnation) and incarnation in self._begun)
        trainers = self.shard.options.num_gradient_servers
        return self.ask(trainer, Hello(PROTOCOL, trainer, trainers, "dense", incarnation, answered, **more))

    def declare(self, trainer: int) -> list[Reply]:
        return self.ask(trainer, Declare(MODEL, self.spec, 0, 1))

    def start(self) -> Talk:
        """All trainers in, all values zero, ready."""
        for trainer, _ in enumerate(self._steps):
            assert self.hello(trainer) == [Welcome(self.shard.options.barrier_timeout_s)]
            self.declare(trainer)
        declared = self.told(0)
        assert isinstance(declared, Declared) and declared.seed
        self.seed()
        return self

    def seed(self) -> None:
        assert self.ask(0, Seed()) == [Answer(0)]
        assert Answer(0) in self.ask(0, Seed("t"))
        assert self.shard.ready

    def push(self, trainer: int, given: Gradient, samples: int = 1, pass_id: int = 0) -> list[Reply]:
        self._steps[trainer] += 1
        return self.ask(trainer, Push(self._steps[trainer], pass_id, samples), given)

    def end_pass(self, trainer: int, pass_id: int | None = None) -> list[Reply]:
        """By itself the one after the last that it asked to end."""
        pass_id = self._passes[trainer] if pass_id is None else pass_id
        self._passes[trainer] = pass_id + 1
        return self.ask(trainer, EndPass(pass_id))

    def goodbye(
        self,
        trainer: int,
        failure: str | None = None,
        *,
        follows: bool = False,
        culprits: tuple[int, ...] = (),
    ) -> list[Reply]:
        return self.ask(trainer, Goodbye(failure, follows, culprits))

    @property
    def w(self) -> list[float]:
        assert self.shard.tables is not None
        return self.shard.tables.values.tolist()
