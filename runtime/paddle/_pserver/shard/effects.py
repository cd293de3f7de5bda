"""Effects: what a shard asks its surroundings to do. Data only."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import msgspec
import numpy as np

from paddle._pserver.protocol.messages import Reply
from paddle._pserver.shard.state import State


class Send(msgspec.Struct, frozen=True):
    """Tell the trainer on ``session``; ``body`` are arrays. ``live``: they may change before all is sent."""

    session: int
    message: Reply
    body: tuple[np.ndarray, ...] = ()
    live: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """Close this connection once what was sent is out."""

    session: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Break this connection off where an answer is not out yet: its values are no step's any more."""

    session: int


@dataclass(frozen=True, slots=True)
class Note:
    """A line for the log."""

    text: str
    level: int = logging.INFO


@dataclass(frozen=True, slots=True)
class Write:
    """Write a snapshot, one after the other, and tell the shard how it went. ``why``: for people."""

    state: State
    why: str


@dataclass(frozen=True, slots=True)
class Load:
    """Read the snapshot of ``version``, for who asked on ``session``, and give it to the shard."""

    session: int
    version: int


Effect = Send | Close | Drop | Note | Write | Load
