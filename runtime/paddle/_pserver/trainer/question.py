"""Question: what a trainer asks on a line, and what a line keeps so as to ask it again.

It must never know a connection: a way is only compared with another one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from paddle._pserver.protocol.messages import Declare, EndPass, Push, Request, Share
from paddle._pserver.trainer.account import Account
from paddle._pserver.trainer.journal import Entry


class Recalled(Exception):
    """Whoever waits on a line is to leave it at once."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the lines of a trainer try to come back, and what they may keep to tell again."""

    reconnect_timeout_s: float = 60.0
    account: Account = field(default_factory=Account)


@dataclass(frozen=True, slots=True)
class Short:
    """A question as it is asked on the connection ``way``, on which some of it was told ahead."""

    way: object
    message: Request
    body: Sequence[memoryview]


class Question(msgspec.Struct):
    """One question. ``asking``: in words; ``entry``: in the journal; ``short``: the same, where something was
    told ahead; ``is_in_room``: the body lies where a shard that shares memory reads it."""

    message: Request
    body: Sequence[memoryview]
    asking: str
    entry: Entry | None = None
    short: Short | None = None
    is_in_room: bool = False

    def on(self, way: object, *, has_room: bool) -> tuple[Request, Sequence[memoryview]]:
        """As it is asked on the connection ``way``; if ``has_room`` its shard reads gradients in the room."""
        if self.is_in_room and has_room:
            return self.message, ()
        if self.short is not None and self.short.way is way:
            return self.short.message, self.short.body
        return self.message, self.body


@dataclass(slots=True)
class Start:
    """What is told before training, and told again on every new connection."""

    declare: Declare | None = None
    seeds: list[Question] = field(default_factory=list)
    share: Share | None = None
    is_over: bool = False


@dataclass(slots=True)
class Return:
    """A line coming back, in its thread."""

    thread: threading.Thread
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class ReplyBytes:
    """How long the bodies of answers are: to a push, and to the end of a pass."""

    to_push: int = 0
    to_end: int = 0

    @property
    def most(self) -> int:
        """Of any of them."""
        return max(self.to_push, self.to_end)

    def to(self, message: Request) -> int:
        """Of the answer to ``message``, where it brings dense values."""
        match message:
            case Push():
                return self.to_push
            case EndPass():
                return self.to_end
        return 0
