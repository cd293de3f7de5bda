"""Announcing: what trainers and a shard say so that gradients come one after another (shard/turns.py).

Where a shard says that it wants that (Declared), a trainer does not send the gradient of a step by itself: it
announces it, and brings it when it is told to. So it waits as for any answer: it hears for whom, looks after
its other lines and may leave; nobody is left in the midst of a message that the other side does not read.

It must never know a gradient.
"""

from __future__ import annotations

from typing import Annotated

import msgspec


class Announce(msgspec.Struct, frozen=True, array_like=True):
    """The gradient of push number ``step`` is there. Answer: Bring; or that to the push, where this shard has
    had it."""

    step: Annotated[int, msgspec.Meta(ge=1, le=1 << 62)]


class Bring(msgspec.Struct, frozen=True, array_like=True):
    """Push what was announced."""
