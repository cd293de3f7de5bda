"""Greeting: the first words on every connection between a trainer and a shard, from the trainer's side.

It must never know what was said on connections before. Guarantee: an answer is what it should be, or an
error.
"""

from __future__ import annotations

import msgspec

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.messages import MOST_BEFORE, Declared, Hello, Mark, Welcome
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.question import Question, Start


class Greeting:
    """Who a trainer is to a shard. ``before``: whose place it took, as any shard has told; the same for all
    shards, so that one that forgot it is told what those know that did not."""

    def __init__(self, hello: Hello, before: list[str]) -> None:
        self._hello, self._before = hello, before

    def say(self, client: Client, answered: Mark) -> None:
        """Say who this is, and what it has had answers to; :meth:`hear` next."""
        before = tuple(self._before[-MOST_BEFORE:])
        hello = msgspec.structs.replace(self._hello, answered=answered, before=before)
        client.send(hello, asking="to let this trainer in")

    def hear(self, client: Client) -> Welcome:
        """Hear whether it is let in."""
        welcome = client.receive()
        if not isinstance(welcome, Welcome):
            raise BadMessage(f"{client.what} answered hello with {type(welcome).__name__}")
        self._before += [process for process in welcome.before if process not in self._before]
        return welcome


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
