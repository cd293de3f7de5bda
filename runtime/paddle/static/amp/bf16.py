"""``paddle.static.amp.bf16``: the same for bfloat16.

It must never compute. Guarantee: as of ``paddle.static.amp``.
"""

from __future__ import annotations

from typing import Any

from paddle import _mode
from paddle._program.writing.mixed_precision import MixedPrecisionOptimizer, OperatorLists, guard

__all__ = ["AutoMixedPrecisionListsBF16", "bf16_guard", "decorate_bf16"]

bf16_guard = guard


class AutoMixedPrecisionListsBF16(OperatorLists):
    """Which operators a program has in bfloat16, and which in float32."""

    def __init__(
        self,
        custom_bf16_list: Any = None,
        custom_fp32_list: Any = None,
        custom_fp32_varnames: Any = None,
    ) -> None:
        super().__init__(custom_bf16_list, custom_fp32_list, custom_fp32_varnames, "bfloat16")
        self.bf16_list, self.fp32_list = self.white_list, self.black_list
        self.fp32_varnames = self.black_varnames


def decorate_bf16(
    optimizer: Any, amp_lists: Any = None, use_pure_bf16: bool = False, use_bf16_guard: bool | None = None
) -> MixedPrecisionOptimizer:
    """An optimizer that is meant for bfloat16."""
    _mode.need_static("paddle.static.amp.bf16.decorate_bf16")
    return MixedPrecisionOptimizer(optimizer, amp_lists, 1.0)
