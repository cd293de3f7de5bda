"""What an agent reads on its standard input: orders, a beat when there are none, and at last the end.

Invoke reads it as its ``in_stream``, a thread of the SSH back end by itself: something to read that is no
terminal.

Guarantee: orders arrive whole and in order, and while this process runs the agent hears something every
``beat_s``. When this process hangs, is stopped or dies, it hears nothing any more, and acts upon that.
"""

from __future__ import annotations

import json
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

_BEAT = json.dumps({"do": "beat"}) + "\n"


class Leash:
    """The launcher's end of one agent's standard input."""

    def __init__(self, beat_s: float) -> None:
        self._beat_s = beat_s
        self._orders: SimpleQueue[str] = SimpleQueue()
        self._closed = False

    def say(self, order: dict[str, Any]) -> None:
        """Give an order."""
        self._orders.put(json.dumps(order) + "\n")

    def close(self) -> None:
        """Let go, once the orders given so far are read."""
        self._orders.put("")

    def read(self, _size: int) -> str:
        """Give all orders that wait. (Runners ask for single characters, a hundred of them a second.)"""
        if self._closed:
            return ""
        try:
            orders = [self._orders.get(timeout=self._beat_s)]
        except Empty:
            return _BEAT
        with suppress(Empty):
            while orders[-1]:
                orders.append(self._orders.get_nowait())
        self._closed = not orders[-1]
        return "".join(orders)
