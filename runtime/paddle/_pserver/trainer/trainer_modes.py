"""Trainer modes: what of a mode is the trainer's part, as an Exchange around the one that reaches the shards.

It must never know a shard: what of a mode is theirs is in modes.
"""

from __future__ import annotations

from paddle._engine.exchange import ModeSpec, Remembering
from paddle._pserver.trainer.center import Center
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.local_updates import LocalUpdates
from paddle._pserver.trainer.merging import Merging


def in_mode(exchange: Center, mode: ModeSpec, trainers: int) -> Remembering:
    """What a trainer of ``trainers`` that trains in ``mode`` talks to."""
    if mode.is_local:
        return LocalUpdates(exchange, LocalExchange(), mode, trainers)
    if mode.name == "half_async":
        return Merging(exchange, mode)
    return exchange
