"""Roster: which trainers a shard knows, by which connection, and who is in the pass.

It must never know a gradient.

Guarantee: a trainer id is held by at most one connection, and by one process at a time.

1. Every id below num_gradient_servers is expected from the start, and in the pass until it ends it.
2. A trainer that ends its pass is not in it until all have; then all that are still in the job are in the
   next one.
3. A trainer that said goodbye is in no pass any more, also when its connection broke meanwhile and it comes
   back to say it again.
4. A trainer whose connection broke stays in the pass: it still owes its gradients. It may come back on
   another connection: it is known by its incarnation.
5. Its id is free for another process while it has pushed nothing, or where the mode lets one take its place;
   that process is in the pass if the one before was, which is refused from then on: it is stale. So are those
   before it, whoever knows of them: a shard that was started again, from before they came, is told by it.
6. A trainer that is left out is in no pass any more; neither its process nor another may have its id.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from paddle._pserver.errors import DuplicateTrainer, Stale

MOST_NAMED = 16  # in one sentence, which all who wait are told, and the log
_PAST = 64  # processes that are remembered to be stale
_GO_ON = (
    "Where its process is no more, a next job goes on from the snapshots that all pservers have (of a "
    "launched job: python paddle.py --resume=JOB). "
)
_HALF = f"It has trained a part of this pass, which no other process can take up. {_GO_ON}"
_BEHIND = (
    "This shard was started again from a snapshot of the midst of a pass, and only that process can tell "
    f"what came after. {_GO_ON}"
)
_WAITS = "It has ended its pass; another may have its place once all have ended theirs. "
_LEFT = "It has said goodbye: nothing is left for it to train. "
_KEPT = (
    "It updated by itself, in step with others, and what it kept of its own, such as momentum and its place "
    f"in the schedule, is lost: no other process can take that up. {_GO_ON}"
)


class Standing(enum.Enum):
    """Where a trainer stands."""

    EXPECTED = "expected"
    JOINED = "joined"
    GONE = "gone"
    LOST = "lost"


@dataclass(slots=True)
class Trainer:
    """One place in the roster. ``since``: when its state last changed; ``heard``: its last message.

    ``incarnation``: the process that has it, ``past``: those that had it before. ``owed``: pushes that it has
    had answers to, and that a shard that was restored may lack until it has sent them again. ``has_left``: it
    said goodbye, and may be here to say it again. ``has_begun``: see Hello.
    """

    id: int
    state: Standing = Standing.EXPECTED
    session: int | None = None
    peer: str = ""
    declared: bool = False
    since: float = 0.0
    heard: float = 0.0
    incarnation: str = ""
    past: tuple[str, ...] = ()
    owed: int = 0
    has_left: bool = False
    has_begun: bool = False

    @property
    def is_left_out(self) -> bool:
        """Rule 6. One that said goodbye keeps its place: it may have to say it again."""
        return self.state is Standing.GONE and not self.incarnation

    def is_again(self, incarnation: str) -> bool:
        """Whether this is the process that has the place."""
        return bool(incarnation) and incarnation == self.incarnation


class Roster:
    """The trainers of one job, as one shard sees them."""

    def __init__(self, trainers: int) -> None:
        self.trainers = [Trainer(id) for id in range(trainers)]
        self.present: Set[int] = frozenset(range(trainers))
        self.away: set[int] = set()  # who was here, and is not
        self.unheard: set[int] = set()  # whom the snapshot knew, and of whom nobody has come since
        self._sessions: dict[int, Trainer] = {}

    def of(self, session: int) -> Trainer | None:
        """Who speaks on this connection."""
        return self._sessions.get(session)

    def check(
        self,
        id: int,
        incarnation: str,
        now: float,
        *,
        is_free: bool,
        is_successor: bool = False,
        keeps_own: bool = False,
    ) -> None:
        """Raise where this process may not have the place. ``is_free``: another may lose it when it is not
        connected; ``is_successor``: or also when it is. ``keeps_own``: it had what no other process has."""
        trainer = self.trainers[id]
        if incarnation in trainer.past:
            why = f"a newer process has trainer_id={id}: {self.describe(id, now)}"
            why = f"the job goes on without {self.describe(id, now)}" if trainer.is_left_out else why
            raise Stale(f"{why}. This process ends; what it has not pushed yet is lost.")
        is_open = is_free and trainer.state in (Standing.EXPECTED, Standing.LOST)
        if trainer.is_again(incarnation) or is_successor or is_open:
            return
        why = self._why_taken(trainer, keeps_own=keeps_own)
        raise DuplicateTrainer(
            f"trainer_id={id} is taken: {self.describe(id, now)}. {why}Give every trainer an id of its own; "
            "to train again, start the pservers again: they serve one job."
        )

    def _why_taken(self, trainer: Trainer, *, keeps_own: bool) -> str:
        match trainer.state:
            case Standing.JOINED:
                return ""
            case Standing.GONE:
                return _LEFT
            case _ if keeps_own:
                return _KEPT
            case _ if trainer.id not in self.present:
                return _WAITS
            case state:
                return _HALF if state is Standing.LOST else _BEHIND

    def join(
        self, id: int, session: int, peer: str, incarnation: str, now: float, replaced: Sequence[str] = ()
    ) -> int | None:
        """A trainer that was checked is here. Returns the connection that it had until now, if it had one.
        ``replaced``: the processes whose place it took, as it was told by this shard or another."""
        trainer = self.trainers[id]
        before = trainer.session
        if before is not None:
            del self._sessions[before]
        if not trainer.is_again(incarnation):
            self._retire(trainer, incarnation)
        unknown = [process for process in replaced if process not in ("", incarnation, *trainer.past)]
        trainer.past = (*unknown, *trainer.past)[-_PAST:]
        trainer.state, trainer.session, trainer.peer = Standing.JOINED, session, peer
        trainer.declared, trainer.since, trainer.heard = False, now, now
        self._sessions[session] = trainer
        self.away.discard(id)
        self.unheard.discard(id)
        return before

    def _retire(self, trainer: Trainer, successor: str) -> None:
        if trainer.incarnation:
            trainer.past = (*trainer.past, trainer.incarnation)[-_PAST:]
        trainer.incarnation = successor
        trainer.has_left = False

    def begin_job(self) -> None:
        """All are expected anew: those that are known from before are stale."""
        for trainer in self.trainers:
            if trainer.session is None:
                self._retire(trainer, "")
                trainer.state = Standing.EXPECTED
        self.away.clear()
        self.unheard.clear()
        self.present = frozenset(range(len(self.trainers)))

    def known(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Those of ``ids`` that are trainers of this job."""
        return tuple(id for id in ids if id < len(self.trainers))

    def lose(self, trainer: Trainer, now: float, *, forget: bool) -> None:
        """Its connection broke. ``forget``: it has done nothing yet, so that another may take its place."""
        state = Standing.EXPECTED if forget else Standing.LOST
        self._disconnect(trainer, Standing.GONE if trainer.has_left else state, now)

    def leave(self, trainer: Trainer, now: float) -> None:
        """It said goodbye."""
        self._disconnect(trainer, Standing.GONE, now)
        trainer.has_left = True
        self.unheard.discard(trainer.id)
        self.end_pass(trainer)

    def leave_out(self, trainer: Trainer, now: float) -> None:
        """The job goes on without it."""
        self._retire(trainer, "")
        self.leave(trainer, now)

    def _disconnect(self, trainer: Trainer, state: Standing, now: float) -> None:
        if trainer.session is not None:
            del self._sessions[trainer.session]
        trainer.session, trainer.declared, trainer.state, trainer.since = None, False, state, now
        if state is not Standing.EXPECTED:
            self.away.add(trainer.id)

    def end_pass(self, trainer: Trainer) -> None:
        """It pushes no more in this pass."""
        self.present -= {trainer.id}

    @property
    def is_anybody_in(self) -> bool:
        """Whether a trainer is in the job, or may be again."""
        return not all(trainer.has_left for trainer in self.trainers)

    def begin_pass(self, ahead: Set[int] = frozenset()) -> None:
        """All have ended the pass: all that are left are in the next one, but for those that have ended that
        as well."""
        self.present = frozenset(trainer.id for trainer in self.trainers if not trainer.has_left) - ahead

    def ids(self, *states: Standing) -> list[int]:
        """The trainers in any of ``states``."""
        return [trainer.id for trainer in self.trainers if trainer.state in states]

    def describe(self, id: int, now: float) -> str:
        """One trainer, for people."""
        trainer = self.trainers[id]
        ago = f"{now - trainer.since:.0f} s ago"
        match trainer.state:
            case Standing.EXPECTED:
                return f"trainer {id} (has not {'come back' if trainer.incarnation else 'joined'})"
            case Standing.GONE:
                return f"trainer {id} ({'was left out' if trainer.is_left_out else 'left'} {ago})"
            case Standing.LOST:
                return f"trainer {id} (its connection from {trainer.peer} broke {ago})"
            case Standing.JOINED:
                return f"trainer {id} (at {trainer.peer}, last heard {now - trainer.heard:.0f} s ago)"

    def describe_all(self, ids: Iterable[int], now: float) -> str:
        """Several trainers, for people; of very many the first."""
        every = sorted(ids)
        named = ", ".join(self.describe(id, now) for id in every[:MOST_NAMED])
        return f"{named} and {more} more" if (more := len(every) - MOST_NAMED) > 0 else named
