"""State: all that a shard must remember to go on as if it had never stopped, as plain values.

Held questions and pushes that no mode has decided yet are no part of it: their trainers ask again. Modes keep
nothing of their own from step to step that matters to a shard that starts anew (modes.py).

It must never know a file or a connection. Guarantee: a state that was cut is never changed by later steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np

from paddle._pserver.messages import Count, Declare
from paddle._pserver.options import Role


class TrainerState(msgspec.Struct, frozen=True, array_like=True):
    """What a shard knows of a trainer. ``incarnation``: the process that has its place, "" before any came;
    ``past``: those that had it before. ``is_present``: it owes a gradient for the next step."""

    incarnation: str = ""
    past: tuple[str, ...] = ()
    pushes: Count = 0
    passes: Count = 0
    dropped: Count = 0
    unsettled: Count = 0
    is_present: bool = True
    is_gone: bool = False


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """What is not an array. ``declaration``: the model, and which shard of how many this is."""

    roles: tuple[Role, ...]
    declaration: Declare
    version: Count
    samples: Annotated[int, msgspec.Meta(ge=0)]
    trainers: tuple[TrainerState, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A shard's state. ``arrays``: see :meth:`paddle._pserver.tables.Tables.state`.

    ``is_regular``: cut at a version at which all shards of the job are cut.
    """

    facts: Facts
    arrays: Mapping[str, np.ndarray]
    is_regular: bool = True
