"""Taps: the memory that the two sides of connections give the system to send from and to receive into.

What goes straight from the array where it was made to the one where it is used is seen here by its address;
of a copy on the way the address would be another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._pserver.protocol.framing import _STAGING_BYTES
from paddle._pserver.service.session import Session
from paddle._pserver.trainer.approach import Approach, Arrived

Span = tuple[int, int]  # of addresses


class Tap:
    """One side. ``sent``, ``received``: the memory, in the order of time."""

    def __init__(self) -> None:
        self.sent: list[Span] = []
        self.received: list[Span] = []

    def clear(self) -> None:
        self.sent.clear()
        self.received.clear()

    def sent_from(self, *arrays: np.ndarray) -> int:
        """How many of the bytes that were sent lay in them."""
        return sum(_within(span, array) for span in self.sent for array in arrays)

    def has_received(self, *arrays: np.ndarray, frames: int = 1) -> bool:
        """Whether each was received into as a whole, but for what came along with the heads of so many
        frames: how long a body is, and whose, is read there."""
        missing = [array.nbytes - sum(_within(span, array) for span in self.received) for array in arrays]
        return all(0 <= each <= frames * _STAGING_BYTES for each in missing)


def span_of(view: Any, size: int | None = None) -> Span:
    flat = np.frombuffer(view, np.uint8)
    start = flat.ctypes.data
    return start, start + (flat.nbytes if size is None else min(size, flat.nbytes))


def _within(span: Span, array: np.ndarray) -> int:
    start, end = span_of(array.reshape(-1))
    return max(0, min(end, span[1]) - max(start, span[0]))


class _Tapped:
    """All that ``real`` is, and more."""

    def __init__(self, real: Any, tap: Tap) -> None:
        self._real, self._tap = real, tap

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Socket(_Tapped):
    """A trainer's."""

    def send(self, data: Any) -> int:
        return self._sent([data], self._real.send(data))

    def sendmsg(self, group: list[Any]) -> int:
        return self._sent(group, self._real.sendmsg(group))

    def recv_into(self, buffer: Any) -> int:
        return self._received([buffer], self._real.recv_into(buffer))

    def recvmsg_into(self, buffers: list[Any]) -> tuple[int, Any, Any, Any]:
        found: tuple[int, Any, Any, Any] = self._real.recvmsg_into(buffers)
        self._received(buffers, found[0])
        return found

    def _sent(self, group: list[Any], count: int) -> int:
        self._tap.sent += _spans(group, count)
        return count

    def _received(self, group: list[Any], count: int) -> int:
        self._tap.received += _spans(group, count)
        return count


def _spans(group: list[Any], count: int) -> list[Span]:
    """The first ``count`` bytes."""
    spans = []
    for view in group:
        if size := min(count, len(view)):
            spans.append(span_of(view, size))
            count -= size
    return spans


class _Transport(_Tapped):
    """A shard's."""

    def write(self, data: Any) -> None:
        self._tap.sent.append(span_of(data))
        self._real.write(data)


def tapped(monkeypatch: pytest.MonkeyPatch) -> tuple[Tap, Tap]:
    """Of all trainers, and of all shards, that begin after it; over TCP, where everything travels."""
    trainer, shard = Tap(), Tap()
    come, begin, room, filled = Approach.come, Session.__init__, Session.get_buffer, Session.buffer_updated
    given: dict[Session, Any] = {}

    def comes(self: Approach, *how: Any, **more: Any) -> Arrived:
        stream, can_damage = come(self, *how, **more)
        return Arrived(_Socket(stream, trainer), can_damage)  # type: ignore[arg-type]

    def begins(self: Session, id: int, inlet: Any, owner: Any, transport: Any, http: Any) -> None:
        begin(self, id, inlet, owner, _Transport(transport, shard), http)  # type: ignore[arg-type]

    def get_buffer(self: Session, sizehint: int) -> memoryview:
        given[self] = room(self, sizehint)
        return given[self]

    def buffer_updated(self: Session, nbytes: int) -> None:
        shard.received.append(span_of(given.pop(self), nbytes))
        filled(self, nbytes)

    monkeypatch.setattr(Approach, "come", comes)
    monkeypatch.setattr(Session, "__init__", begins)
    monkeypatch.setattr(Session, "get_buffer", get_buffer)
    monkeypatch.setattr(Session, "buffer_updated", buffer_updated)
    return trainer, shard
