"""Links: how bytes get from one network card to another.

A card sends one thing after the other and receives one after the other, both at once (full duplex), at its
rate; the network between cards only takes time. What is sent is received while it is being sent.

Guarantee: nothing arrives before its last byte was sent and the latency has passed, and no card moves more
bytes in a time than its rate allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.scale.agenda import Agenda

WIRE = 1.05
"""Bytes on the wire for one of a message: Ethernet, IP and TCP headers of full packets."""
_SLICE_BYTES = 1 << 18
_MOST_PIECES = 4


def pieces(size_bytes: float) -> int:
    """In how many pieces a message goes: so much of it is dealt with on one side while the next is on its
    way. A long one has fewer here than in the world, where they are of 256 KiB."""
    return max(1, min(_MOST_PIECES, int(size_bytes / _SLICE_BYTES)))


class Card:
    """One machine's, or one process's part of it. ``seconds_per_byte`` 0: bytes need no time."""

    def __init__(self, seconds_per_byte: float = 0.0) -> None:
        self.seconds_per_byte = seconds_per_byte
        self.sends_until = self.receives_until = 0.0
        self.sending_s = self.receiving_s = 0.0  # so long it was busy


class Network:
    """What is between cards. ``latency_s``: one way."""

    def __init__(self, agenda: Agenda, latency_s: float) -> None:
        self._agenda, self._latency_s = agenda, latency_s

    def carry(
        self,
        source: Card,
        target: Card,
        sent_bytes: float,
        received_bytes: float,
        then: Callable[..., None],
        *args: Any,
    ) -> None:
        """Carry a thing, and call ``then`` when it is there. The sizes differ where one thing stands for
        several that go to, or come from, different machines: see :mod:`benchmarks.scale.job`."""
        now = self._agenda.now
        if not self._latency_s and not source.seconds_per_byte and not target.seconds_per_byte:
            self._agenda.at(now, then, *args)
            return
        took = sent_bytes * source.seconds_per_byte
        source.sends_until = max(now, source.sends_until) + took
        source.sending_s += took
        last = source.sends_until + self._latency_s
        first = last - min(sent_bytes, received_bytes) * source.seconds_per_byte
        self._agenda.at(max(now, first), self._receive, target, last, received_bytes, then, args)

    def _receive(
        self, target: Card, last: float, received_bytes: float, then: Callable[..., None], args: Any
    ) -> None:
        took = received_bytes * target.seconds_per_byte
        target.receives_until = max(last, max(self._agenda.now, target.receives_until) + took)
        target.receiving_s += took
        self._agenda.at(target.receives_until, then, *args)
