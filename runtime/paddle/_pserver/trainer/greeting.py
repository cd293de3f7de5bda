"""Greeting: the first words on every connection between a trainer and a shard, from the trainer's side.

It must never know what was said on connections before. Guarantee: an answer is what it should be, or an
error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from paddle._pserver.errors import BadMessage, ConnectionLost
from paddle._pserver.protocol.messages import MOST_BEFORE, Declared, Hello, Mark, Welcome
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.question import Question, Start


@dataclass
class Place:
    """What a trainer knows of its place; the same for all shards, so that one that forgot it is told what
    those know that did not. ``before``: whose it was, as any shard has told; the others: see Hello."""

    before: list[str] = field(default_factory=list)
    next_pass: int = 0
    has_begun: bool = False
    over: int = 0

    def begin(self, next_pass: int) -> None:
        """It begins with the pass that it was told; others may still be in the one before."""
        self.next_pass = next_pass
        self.has_begun = True


class Greeting:
    """Who a trainer is to a shard."""

    def __init__(self, hello: Hello, place: Place) -> None:
        self._hello, self._place = hello, place
        self._told: Sequence[str] = ()  # whose place this was, as the shard was told last
        self._heard: Sequence[str] = ()  # and as it said

    def say(self, client: Client, answered: Mark) -> None:
        """Say who this is, and what it has had answers to; :meth:`hear` next."""
        place = self._place
        told = {"next_pass": place.next_pass, "has_begun": place.has_begun, "over": place.over}
        self._told = tuple(place.before[-MOST_BEFORE:])
        hello = msgspec.structs.replace(self._hello, answered=answered, before=self._told, **told)
        client.send(hello, asking="to let this trainer in")

    def hear(self, client: Client) -> Welcome:
        """Hear whether it is let in."""
        welcome = client.receive()
        if not isinstance(welcome, Welcome):
            raise BadMessage(f"{client.what} answered hello with {type(welcome).__name__}")
        self._place.next_pass = max(self._place.next_pass, welcome.next_pass)
        if not self._place.has_begun:
            self._place.over = max(self._place.over, welcome.over)
        known, self._heard = self._place.before, welcome.before
        known += [process for process in welcome.before if process not in known]
        return welcome

    @property
    def lacks(self) -> bool:
        """Whether the shard knows less of whose place this was than others have told since it was greeted."""
        return not {*self._place.before[-MOST_BEFORE:]} <= {*self._told, *self._heard}

    @staticmethod
    def give_up() -> None:
        """A connection, to tell that on another one."""
        raise ConnectionLost(
            "Other shards have told whose place this trainer took, and this one did not know."
        )


def declare_again(client: Client, start: Start, asked: Question | None) -> None:
    """Declare the model, if that was done before; and give the initial values, but for those that are being
    ``asked`` to be taken."""
    if start.declare is None:
        return
    client.send(start.declare, asking="to go on training")
    declared = client.receive()
    for seed in start.seeds if isinstance(declared, Declared) and declared.seed else ():
        if asked is None or seed.message is not asked.message:
            client.send(seed.message, seed.body, asking=seed.asking)
            client.answer()
