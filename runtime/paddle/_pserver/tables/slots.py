"""Slots: what a table of any kind keeps beside its values, and how both come back from a snapshot.

It must never know a row or a block. Guarantee: what is taken from a snapshot fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle._engine.exchange import ParameterSpec, UpdateSpec
from paddle._engine.penalties import Penalties, penalties
from paddle._engine.rules import Rule, rule_of
from paddle._pserver.tables.streamed import Array, pour


def how(parameter: ParameterSpec, update: UpdateSpec) -> tuple[Rule, Penalties, float]:
    """The rule of a parameter, its penalties, and what the job's learning rate is multiplied by."""
    return rule_of(parameter, update), penalties(parameter, update), parameter.learning_rate


def slots_of(rule: Rule, slots: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """The rule's state by kind, as a snapshot names it."""
    return {f"slot {name}": slot for name, slot in zip(rule.slots, slots, strict=True)}


def fill(own: Mapping[str, np.ndarray], state: Mapping[str, Array], name: str) -> None:
    """Write what ``state`` has of a parameter into its ``own`` arrays. Raises ValueError."""
    for kind, array in own.items():
        given = state.get(f"{kind}/{name}")
        if given is None or given.shape != array.shape or given.dtype != array.dtype:
            found = "missing" if given is None else f"{given.dtype} {given.shape}"
            raise ValueError(f"{kind} of {name!r} should be {array.dtype} {array.shape}, and is {found}")
        pour(given, array)
