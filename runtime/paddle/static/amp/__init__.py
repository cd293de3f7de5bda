"""``paddle.static.amp``: programs that were written for numbers of 16 bits, computed in float32.

It must never compute. Guarantee: a decorated optimizer is a MixedPrecisionOptimizer, which trains as the bare
one does.
"""

from __future__ import annotations

from typing import Any

from paddle import _mode
from paddle._program.writing.mixed_precision import MixedPrecisionOptimizer, OperatorLists, check, guard
from paddle._public_names import missing

__all__ = ["AutoMixedPrecisionLists", "CustomOpLists", "bf16", "decorate", "fp16_guard"]

AutoMixedPrecisionLists = CustomOpLists = OperatorLists
fp16_guard = guard

_OF_BOTH = ("incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_ratio", "decr_ratio")
_OLDER = frozenset({"use_pure_fp16", "use_fp16_guard", "use_bf16"})  # of 2.4 and before
_NAMES = frozenset(
    {
        *_OF_BOTH,
        *("use_dynamic_loss_scaling", "use_amp_guard", "use_promote", "master_weight", "master_grad"),
        *_OLDER,
    }
)


def decorate(
    optimizer: Any,
    amp_lists: Any = None,
    *others: Any,
    level: str = "O1",
    dtype: str = "float16",
    init_loss_scaling: float | None = None,
    **named: Any,
) -> MixedPrecisionOptimizer:
    """An optimizer that is meant for 16 bits. ``level``, ``dtype`` and how a loss is scaled change nothing;
    of arguments by place the third is ``level`` (2.6) or ``init_loss_scaling`` (before)."""
    _mode.need_static("paddle.static.amp.decorate")
    if others and isinstance(others[0], str):
        level = others[0]
    elif others:
        init_loss_scaling = others[0]
    usual = 32768.0 if _OLDER & set(named) else 65536.0
    check("paddle.static.amp.decorate", level, dtype)
    if unknown := sorted(set(named) - _NAMES):
        raise TypeError(f"paddle.static.amp.decorate has no argument {', '.join(unknown)}")
    scaling = usual if init_loss_scaling is None else init_loss_scaling
    return MixedPrecisionOptimizer(optimizer, amp_lists, scaling)


def __getattr__(name: str) -> Any:
    if name == "bf16":
        from importlib import import_module

        return import_module("paddle.static.amp.bf16")
    raise missing(__name__, name)
