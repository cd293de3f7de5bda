"""Shown: a shard's dense values, where trainers of its machine read them themselves.

    step      int64, the update that the values are of; it changes before they do
    (to the end of a cache line)
    values    float32, in the order of placement.py

A trainer reads after an answer has told it to, and copies: what it computes with is its own. In synchronous
training nothing changes then before that trainer pushes again; a shard that has gone on without it, because
it was held to be lost, is found out by ``step``. In other modes values may change while they are read, one
by one, as they may while an answer is sent.

It must never know a connection. Guarantee: where trainers are in step, what a trainer has read is of the step
that the answer told of, or that is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._pserver.errors import BadMessage
from paddle._pserver.memory import region
from paddle._pserver.memory.region import Region
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.messages import Lies

_HEAD_BYTES = 64


class Shown:
    """The shard's side: ``values`` float32 (size,), zeros at first, to be kept there."""

    def __init__(self, at: Region, size: int) -> None:
        self.lies = at.lies
        self.values = at.array(np.float32, _HEAD_BYTES, size)
        self._step = at.array(np.int64, 0, 1)

    def begin(self, step: int) -> None:
        """From now on the values are those of update number ``step``, or becoming them."""
        self._step[0] = step


class Seen:
    """A trainer's side. ``is_still``: trainers are in step."""

    def __init__(self, at: Region, *, is_still: bool) -> None:
        self._is_still = is_still
        count = (at.size_bytes - _HEAD_BYTES) // 4
        self._bytes = bytes_of(at.array(np.uint8, _HEAD_BYTES, 4 * count))
        self._step = at.array(np.int64, 0, 1)

    def read(self, into: Sequence[memoryview], step: int) -> bool:
        """Copy all values into byte views, one after the other; whether they are those of ``step``, as far as
        that is promised. Raises BadMessage where they do not fit."""
        start, room = 0, sum(view.nbytes for view in into)
        if room != self._bytes.nbytes:
            raise BadMessage(f"the shard shows {self._bytes.nbytes} bytes of values, expected were {room}")
        for view in into:
            view[:] = self._bytes[start : start + view.nbytes]
            start += view.nbytes
        return not self._is_still or self._step[0] == step


def room_for(size: int) -> Shown | None:
    """Room for so many values that can be shown; None where there is none."""
    at = region.make(_HEAD_BYTES + 4 * size) if size else None
    return None if at is None else Shown(at, size)


def find(process: int, lies: Lies, *, is_still: bool) -> Seen | None:
    """The values of a shard that is another process; ``is_still``: see Seen."""
    at = region.find(process, lies) if lies.size_bytes > _HEAD_BYTES else None
    return None if at is None else Seen(at, is_still=is_still)
