"""Modes: when a pushed gradient counts, and with which others. One file each, one door to them.

What a trainer does of a mode, merging gradients or updating by itself, is in trainer_modes.py.
"""

from __future__ import annotations

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.shard.modes.asynchronous import Async, discard_ratio, ratio_warning
from paddle._pserver.shard.modes.mode import Due, Mode, Offer
from paddle._pserver.shard.modes.ssp import Ssp
from paddle._pserver.shard.modes.synchronous import Sync

__all__ = ["Async", "Due", "Mode", "Offer", "Ssp", "Sync", "mode_of", "ratio_warning"]


def mode_of(update: UpdateSpec, trainers: int, paces: list[int]) -> Mode:
    """What a shard does in the mode that a job declares. ``paces``: see Ssp."""
    mode = update.mode
    if mode.is_in_step:
        return Sync()
    if mode.name == "ssp":
        return Ssp(paces, mode.staleness)
    return Async(trainers, discard_ratio(update) if mode.name == "async" else None)
