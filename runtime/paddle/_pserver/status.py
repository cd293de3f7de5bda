"""Status: what a shard tells people and launchers about itself, as plain data.

It must never change anything.
"""

from __future__ import annotations

from typing import Any

from paddle._pserver.roster import Trainer
from paddle._pserver.shard import Shard


def status(shard: Shard, now: float) -> dict[str, Any]:
    """The shard's state; times are seconds before ``now``."""
    tables = shard.tables
    clocks = shard.clocks
    return {
        "roles": sorted(shard.options.roles),
        "state": "over"
        if shard.outcome
        else "broken"
        if shard.broken
        else "ready"
        if shard.ready
        else "waiting",
        "broken": shard.broken.reason if shard.broken else None,
        "num_gradient_servers": shard.options.num_gradient_servers,
        "version": clocks.version,
        "samples": clocks.samples,
        "dense_values": tables.layout.size if tables else 0,
        "tables": {name: list(table.values.shape) for name, table in tables.rows.items()} if tables else {},
        "trainers": [_trainer(shard, trainer, now) for trainer in shard.roster.trainers],
        "waiting_for": shard.barrier.missing(shard.roster) if shard.barrier else [],
    }


def _trainer(shard: Shard, trainer: Trainer, now: float) -> dict[str, Any]:
    return {
        "trainer_id": trainer.id,
        "state": trainer.state.value,
        "peer": trainer.peer,
        "in_pass": trainer.id in shard.roster.present,
        "waits": trainer.id in shard.barrier,
        "pushes": shard.clocks.pushes[trainer.id],
        "dropped": shard.clocks.dropped[trainer.id],
        "heard_s_ago": round(now - trainer.heard, 1) if trainer.peer else None,
    }
