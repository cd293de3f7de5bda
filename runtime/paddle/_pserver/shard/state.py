"""State: all that a shard must remember to go on as if it had never stopped, as plain values.

Held questions and pushes that no mode has decided yet are no part of it: their trainers ask again. Modes keep
nothing of their own from step to step that matters to a shard that starts anew (modes).

It must never know a file or a connection. Guarantee: what is read of a state that was cut is never changed by
later steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from paddle._pserver.protocol.messages import Count, Declare, Mark
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.model import Model
from paddle._pserver.shard.roster import Roster, Standing, Trainer
from paddle._pserver.shard.saving import Known
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.streamed import Array, Streamed


class TrainerState(msgspec.Struct, frozen=True, array_like=True):
    """What a shard knows of a trainer. ``incarnation``: the process that has its place, "" before any came;
    ``past``: those that had it before. ``is_present``: it owes a gradient for the next step. ``pace``,
    ``last_dropped``, ``next_pass``, ``passed``, ``length``: see Clocks; where the answer to its last push was
    lost, it asks for that again."""

    incarnation: str = ""
    past: tuple[str, ...] = ()
    pushes: Count = 0
    passes: Count = 0
    dropped: Count = 0
    unsettled: Count = 0
    is_present: bool = True
    is_gone: bool = False
    pace: Count = 0
    last_dropped: bool = False
    next_pass: Count = 0
    passed: Count = 0
    length: Count = 0

    @property
    def place(self) -> tuple[int, int]:
        """How far it is in its data: the pass, and how many batches of that are in the values. A pass is not
        over for one that waits for the others."""
        if not self.is_present and not self.is_gone:
            return self.next_pass - 1, self.length
        return self.next_pass, self.passed + self.unsettled


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """What is not an array. ``declaration``: the model, and which shard of how many this is. ``serving``: see
    ShardOptions."""

    declaration: Declare
    version: Count
    samples: Annotated[int, msgspec.Meta(ge=0)]
    trainers: tuple[TrainerState, ...]
    serving: str = ""
    passes_over: Count = 0


@dataclass(frozen=True, slots=True)
class State:
    """A shard's state. ``arrays``, ``room``: see :meth:`paddle._pserver.tables.tables.Tables.cut`.

    ``is_regular``: cut at a version at which all shards of the job are cut.
    """

    facts: Facts
    arrays: Mapping[str, Array]
    is_regular: bool = True
    room: CutRoom = field(default_factory=CutRoom, compare=False)

    @property
    def is_read_later(self) -> bool:
        """Whether something of it is not there yet."""
        return any(isinstance(array, Streamed) for array in self.arrays.values())


def marks(clocks: Clocks, roster: Roster) -> tuple[Mark, ...]:
    """What a state that is cut now holds of every trainer. A pass is not over for one that waits for the
    others."""
    waits = [t.id not in roster.present and not t.has_left for t in roster.trainers]
    return tuple(
        Mark(clocks.decided[id], max(0, clocks.passes[id] - is_waiting))  # one that took a place ended none
        for id, is_waiting in enumerate(waits)
    )


def over(clocks: Clocks, roster: Roster) -> int:
    """How many passes of the job all have ended: whoever is in one has ended those before with the others."""
    if roster.present:
        return max(clocks.next_pass[id] for id in roster.present)
    waiting = [clocks.next_pass[trainer.id] for trainer in roster.trainers if not trainer.has_left]
    return min(waiting, default=max(clocks.next_pass))


def known(clocks: Clocks, roster: Roster) -> tuple[Known, ...]:
    """The same, and of which processes."""
    told = zip(roster.trainers, marks(clocks, roster), strict=True)
    return tuple(Known(trainer.incarnation, mark) for trainer, mark in told)


def cut(
    model: Model,
    clocks: Clocks,
    roster: Roster,
    *,
    is_regular: bool,
    serving: str = "",
    may_stand: bool = False,
) -> State:
    """The state now. Raises MemoryError and OSError; ``may_stand``: see Tables.cut."""
    facts = Facts(
        declaration=model.declaration,
        version=clocks.version,
        samples=clocks.samples,
        trainers=tuple(_trainer(trainer, clocks, roster) for trainer in roster.trainers),
        serving=serving,
        passes_over=clocks.passes_over,
    )
    arrays, room = model.tables.cut(may_stand=may_stand)
    return State(facts, arrays, is_regular, room)


def _trainer(trainer: Trainer, clocks: Clocks, roster: Roster) -> TrainerState:
    id = trainer.id
    undecided = clocks.pushes[id] - clocks.decided[id]
    return TrainerState(
        incarnation=trainer.incarnation,
        past=trainer.past,
        pushes=clocks.decided[id],
        passes=clocks.passes[id],
        dropped=clocks.dropped[id],
        unsettled=max(0, clocks.unsettled[id] - undecided),  # one that is left out owes nothing of it
        is_present=id in roster.present,
        is_gone=trainer.has_left,
        pace=clocks.paces[id],
        last_dropped=clocks.last_dropped[id],
        next_pass=clocks.next_pass[id],
        passed=clocks.passed[id],
        length=clocks.lengths[id],
    )


def restore(facts: Facts, clocks: Clocks, roster: Roster, now: float) -> None:
    """Make ``clocks`` and ``roster``, which are new, what they were. Nobody is connected."""
    clocks.version, clocks.samples = facts.version, facts.samples
    clocks.passes_over = facts.passes_over
    for trainer, was in zip(roster.trainers, facts.trainers, strict=False):
        id = trainer.id
        trainer.incarnation, trainer.past, trainer.since = was.incarnation, was.past, now
        trainer.state, trainer.has_left = Standing.GONE if was.is_gone else Standing.EXPECTED, was.is_gone
        clocks.move(id, Mark(was.pushes, was.passes))
        clocks.dropped[id], clocks.unsettled[id] = was.dropped, was.unsettled
        clocks.paces[id], clocks.last_dropped[id] = was.pace, was.last_dropped
        clocks.next_pass[id], clocks.passed[id], clocks.lengths[id] = was.next_pass, was.passed, was.length
    away = {id for id, was in enumerate(facts.trainers) if not was.is_present}
    roster.present = frozenset(range(len(roster.trainers))) - away  # there may be more or fewer than before
    roster.away = {t.id for t in roster.trainers if t.incarnation or t.has_left}
    roster.unheard = {t.id for t in roster.trainers if t.incarnation and not t.has_left}
    clocks.durable = list(marks(clocks, roster))
