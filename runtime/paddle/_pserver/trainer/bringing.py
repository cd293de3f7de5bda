"""Bringing: how a trainer gives a shard the gradients that it has announced (announcing.py).

It must never know why they are to be announced. Guarantee: what is told again is brought as what is told the
first time.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.protocol.landing import Landing
from paddle._pserver.protocol.messages import Answer, Push, Reply, Request
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.journal import Entry
from paddle._pserver.trainer.question import Question

_AGAIN = "to hear again what it lacks"


def brought(client: Client, asked: Question | None, landing: Landing) -> Reply:
    """The shard wants what was announced; its answer to that."""
    reply: Reply = Bring()
    if asked is None:
        raise BadMessage(f"{client.what} wants a gradient that was not announced")
    while isinstance(reply, Bring):
        message, body = asked.on(client, has_room=client.takes_gradients)
        client.send(message, body, asking=asked.asking)
        reply = client.receive(landing.views(), landing.told)
    return reply


def announced(message: Request, body: Sequence[memoryview]) -> tuple[Request, Sequence[memoryview]]:
    """What is said in place of ``message`` to a shard that wants gradients announced."""
    return (Announce(message.step), ()) if isinstance(message, Push) and body else (message, body)


def tell_again(client: Client, entry: Entry, into: Sequence[memoryview]) -> None:
    """Tell what the journal has on a connection that is new."""
    message, body = entry.message, entry.body
    first = announced(message, body) if client.announces else (message, body)
    client.send(*first, asking=_AGAIN)
    reply = client.receive(into)
    if isinstance(reply, Bring):
        reply = brought(client, Question(message, body, _AGAIN), Landing(into))
    if not isinstance(reply, Answer):
        raise BadMessage(f"{client.what} was told again and answered {type(reply).__name__}")
