"""Status: what a shard tells of itself at one moment, as plain data.

It must never change anything, and knows what the shard has counted, never how fast: rates and latencies are
measured around it (meter.py). Times are seconds before ``now``.
"""

from __future__ import annotations

import msgspec

from paddle._pserver.shard.roster import Trainer
from paddle._pserver.shard.shard import Shard
from paddle._pserver.tables.tables import Tables


class TrainerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One trainer. ``pushes``: its clock; ``staleness``: how many pushes of this pass it is behind the
    furthest one in it; ``waits``: it has an open question."""

    trainer_id: int
    state: str
    peer: str
    in_pass: bool
    waits: bool
    pushes: int
    staleness: int
    dropped: int
    heard_s_ago: float | None


class TableStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One sparse table's part that lives here. ``bytes``: with the optimizer's state. ``candidates``: ids
    that were seen and have no row yet."""

    name: str
    rows: int
    width: int
    bytes: int
    candidates: int = 0


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """A shard. ``waiting_for``: the trainers that others wait for, since ``waiting_s``. ``snapshots``: those
    that were written, by why they were. ``snapshots_failed``: how many could not be; ``snapshots_failing``:
    of these the last ones, since one was."""

    roles: tuple[str, ...]
    state: str
    broken: str | None
    num_gradient_servers: int
    version: int
    samples: int
    dense_values: int
    dense_bytes: int
    tables: tuple[TableStatus, ...]
    trainers: tuple[TrainerStatus, ...]
    waiting_for: tuple[int, ...]
    waiting_s: float
    snapshots: dict[str, int]
    snapshots_failed: int
    snapshots_failing: int


def status(shard: Shard, now: float) -> Status:
    """The shard at ``now``."""
    values, dense_bytes, tables = _kept(shard.tables)
    barrier = shard.barrier
    furthest = max((shard.clocks.paces[id] for id in shard.roster.present), default=0)
    return Status(
        roles=tuple(sorted(shard.options.roles)),
        state=_state(shard),
        broken=shard.broken.reason if shard.broken else None,
        num_gradient_servers=shard.options.num_gradient_servers,
        version=shard.clocks.version,
        samples=shard.clocks.samples,
        dense_values=values,
        dense_bytes=dense_bytes,
        tables=tables,
        trainers=tuple(_trainer(shard, trainer, furthest, now) for trainer in shard.roster.trainers),
        waiting_for=tuple(barrier.missing(shard.roster)) if barrier else (),
        waiting_s=round(now - barrier.oldest, 1) if barrier else 0.0,
        snapshots=dict(shard.saving.counts),
        snapshots_failed=shard.saving.failed,
        snapshots_failing=shard.saving.failing,
    )


def _state(shard: Shard) -> str:
    if shard.outcome:
        return "over"
    return "broken" if shard.broken else "ready" if shard.ready else "waiting"


def _kept(tables: Tables | None) -> tuple[int, int, tuple[TableStatus, ...]]:
    """Dense values, their bytes, and every table."""
    if tables is None:
        return 0, 0, ()
    shown = tuple(
        TableStatus(
            name=name,
            rows=table.rows,
            width=table.held.width,
            bytes=table.nbytes,
            candidates=tables.open[name].candidates if name in tables.open else 0,
        )
        for name, table in tables.rows.items()
    )
    return tables.layout.size, tables.dense_bytes, shown


def _trainer(shard: Shard, trainer: Trainer, furthest: int, now: float) -> TrainerStatus:
    clocks, in_pass = shard.clocks, trainer.id in shard.roster.present
    return TrainerStatus(
        trainer_id=trainer.id,
        state=trainer.state.value,
        peer=trainer.peer,
        in_pass=in_pass,
        waits=trainer.id in shard.barrier,
        pushes=clocks.pushes[trainer.id],
        staleness=max(0, furthest - clocks.paces[trainer.id]) if in_pass else 0,
        dropped=clocks.dropped[trainer.id],
        heard_s_ago=round(now - trainer.heard, 1) if trainer.peer else None,
    )
