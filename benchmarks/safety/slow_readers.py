"""Twenty other trainers ask for all parameters, again and again; half of them read nothing, half a byte now
and then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.safety.exchange import TRAINERS, UPDATE, exchanging, parameters
from benchmarks.worker import Work
from paddle._pserver.protocol.framing import pieces
from paddle._pserver.protocol.messages import PROTOCOL, Declare, Hello, Pull, encode
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline

_QUESTIONS = 1000
_NOW_AND_THEN_S = 0.05


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's exchange of one parameter with one pserver."""

    def beset(port: int) -> Callable[[], None]:
        slow = [_asking(port, trainer_id, settings["floats"]) for trainer_id in range(1, TRAINERS)]
        end = threading.Event()
        reading = threading.Thread(target=_read, args=(slow[::2], end))
        reading.start()

        def leave() -> None:
            end.set()
            reading.join()
            for client in slow:
                client.close()

        return leave

    return exchanging(settings, beset=beset)


def _asking(port: int, trainer_id: int, floats: int) -> Client:
    client = Client("127.0.0.1", port, "shard", call_timeout_s=10, notice=lambda text: None)
    client.connect(Deadline(10))
    client.send(Hello(PROTOCOL, trainer_id, TRAINERS, "dense", "a"), asking="to be let in")
    client.receive()
    client.send(Declare(parameters(floats), UPDATE, 0, 1), asking="to take a model")
    client.receive()
    question = b"".join(b"".join(group) for group in pieces(*encode(Pull())))
    client._socket.sendall(question * _QUESTIONS)
    return client


def _read(slow: list[Client], end: threading.Event) -> None:
    while not end.wait(_NOW_AND_THEN_S):
        for client in slow:
            client._socket.settimeout(10)
            client._socket.recv(1)
