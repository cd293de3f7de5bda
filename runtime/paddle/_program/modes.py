"""Modes in which a job trains, as every face means them.

===========  =================================================================================================
in step      a step waits for all trainers and takes the mean of their gradients
out of step  none waits, and no gradient is too old; a trainer's own gradients of ``merged`` steps are summed
geo          trainers update by themselves and meet every ``k_steps``, adding up what they moved
===========  =================================================================================================

It must never know a strategy: faces translate their words. Guarantee: gradients are never discarded, as they
are not in the original.
"""

from __future__ import annotations

from paddle._engine.exchange import ModeSpec
from paddle._program.errors import BadArgument

_NEVER = 1e9  # as many times more pushes than trainers make a gradient too old


def in_step() -> ModeSpec:
    """A step waits for all trainers."""
    return ModeSpec()


def out_of_step(merged: int = 1, *, compensates: bool = False) -> ModeSpec:
    """No trainer waits. ``compensates``: gradients are corrected by how far values have moved since."""
    if merged > 1:
        return ModeSpec(name="half_async", max_merge_var_num=merged, merge="sum", compensates=compensates)
    return ModeSpec(name="async", discard_ratio=_NEVER, compensates=compensates)


def geo(k_steps: int, *, said: str) -> ModeSpec:
    """Trainers meet, whatever their rule. ``said``: where the program says ``k_steps``."""
    if k_steps < 1:
        raise BadArgument(f"{said} is a number of steps from 1, not {k_steps}")
    return ModeSpec(name="geo", k_steps=k_steps)
