"""Optimizers that are meant for 16 bits. It must never compute. Guarantee: they train as they would bare."""

from __future__ import annotations

from typing import Any

from paddle._program.writing.mixed_precision import MixedPrecisionOptimizer
from paddle.fluid.contrib.mixed_precision.fp16_lists import AutoMixedPrecisionLists

__all__ = ["AutoMixedPrecisionLists", "OptimizerWithMixedPrecision", "decorate"]

OptimizerWithMixedPrecision = MixedPrecisionOptimizer


def decorate(
    optimizer: Any,
    amp_lists: Any = None,
    init_loss_scaling: float = 32768.0,
    incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool = True,
) -> MixedPrecisionOptimizer:
    """An optimizer that is meant for 16 bits; how a loss is scaled changes nothing, for none is."""
    return MixedPrecisionOptimizer(optimizer, amp_lists, init_loss_scaling)
