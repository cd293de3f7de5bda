"""Which mode a strategy asks for, and what of a strategy this release does not have.

Pure; it must never know a process or a connection.

===========  =============================  =========================================================
sync         a_sync False                   a step waits for all trainers and takes their mean
async        a_sync True, k_steps 0         none waits; gradients of max_merge_var_num steps are summed
geo          a_sync True, k_steps above 0   trainers update by themselves and meet every k_steps
===========  =============================  =========================================================

Guarantee: what would be trained otherwise than it was asked for is refused by name.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._engine.exchange import ModeSpec
from paddle._fleet.errors import BadStrategy
from paddle._fleet.strategy_fields import CONFIGS, FLAGS, IDLE, IDLE_CONFIGS, OTHERWISE, UNBUILT
from paddle._program import modes

_AUTO_K_STEPS = 800
_BYTES = 4
_SHARE = 0.5  # of the memory, that a model may need where each trainer has all of it


def mode_of(strategy: Any, *, is_sgd: bool, values: int, memory: int) -> ModeSpec | None:
    """The mode; None where the strategy says nothing of it. ``is_sgd``: the optimizer is plain descent.
    ``values``: how many the parameters have; ``memory``: bytes that are free."""
    check(strategy)
    _tell_idle(strategy)
    configs = strategy.a_sync_configs
    k_steps = configs["k_steps"]
    if strategy.auto and not strategy._is_told and k_steps < 0:
        k_steps = _AUTO_K_STEPS if is_sgd and values * _BYTES < memory * _SHARE else 0
        return _free(k_steps, configs["max_merge_var_num"])
    if k_steps < 0:
        return None
    if not strategy.a_sync:
        if k_steps:
            raise BadStrategy(
                f"a_sync_configs['k_steps'] is {k_steps}, but a_sync is False: set a_sync = True for GEO, "
                "which meets every k_steps, or leave k_steps out to train in step"
            )
        return modes.in_step()
    return _free(k_steps, configs["max_merge_var_num"])


def _free(k_steps: int, merged: int) -> ModeSpec:
    if k_steps > 0:
        return modes.geo(k_steps, said="a_sync_configs['k_steps']")
    return modes.out_of_step(merged)


def size_of(program: Any) -> int:
    """How many values the parameters of a program have."""
    return sum(math.prod(each.shape) for each in program.all_parameters())


def _tell_idle(strategy: Any) -> None:
    """Say which of what the program has set changes nothing."""
    told = strategy.a_sync_configs
    idle = [name for name in IDLE if getattr(strategy, name) != FLAGS[name]]
    usual = CONFIGS["a_sync_configs"]
    idle += [f"a_sync_configs[{key!r}]" for key in IDLE_CONFIGS if told[key] != usual[key]]
    if idle:
        warnings.warn(f"DistributedStrategy: {', '.join(idle)} changes nothing here", stacklevel=6)


def check(strategy: Any) -> None:
    """Refuse what this release does not have, and what would train otherwise without it."""
    for name in OTHERWISE:
        if getattr(strategy, name):
            raise NotInThisRelease(
                f"DistributedStrategy.{name} = True is not in this release, and training without it would be "
                "something else. Leave it out."
            )
    for name, keys in UNBUILT.items():
        if told := [key for key in keys if getattr(strategy, name)[key]]:
            raise NotInThisRelease(
                f"DistributedStrategy.{name}[{told[0]!r}] is not in this release: files are read of this "
                "machine. Leave it empty."
            )
