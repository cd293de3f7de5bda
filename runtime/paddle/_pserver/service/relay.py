"""Relay: a state whose arrays come in pieces, for a thread that writes it while the shard goes on.

A piece is made in the thread of the loop, between two events, for only there do tables stand still; whoever
writes waits for it in a thread of its own. It must never know what is in a piece.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from paddle._pserver.shard.state import State
from paddle._pserver.tables.streamed import Array, Streamed


def relayed(
    state: State,
    loop: asyncio.AbstractEventLoop,
    worked: Callable[[float], None],
    read: Callable[[], None],
) -> State:
    """The same state, to be read in another thread while ``loop`` runs, once. ``worked`` hears for how many
    seconds each piece kept that from all else; ``read`` is called there once there is no more. An array that
    was read is let go of."""
    unread = {name: array for name, array in state.arrays.items() if isinstance(array, Streamed)}

    def was_read(name: str) -> None:
        del unread[name]
        if not unread:
            read()

    def relay(name: str, array: Array) -> Array:
        if not isinstance(array, Streamed):
            return array
        return Streamed(
            array.dtype, array.shape, lambda: _pieces(unread[name], loop, worked, lambda: was_read(name))
        )

    return replace(state, arrays={name: relay(name, array) for name, array in state.arrays.items()})


def _pieces(
    array: Streamed,
    loop: asyncio.AbstractEventLoop,
    worked: Callable[[float], None],
    was_read: Callable[[], None],
) -> Iterator[np.ndarray]:
    here = array.pieces()
    del array  # whoever has it keeps the tables from forgetting it

    async def following() -> np.ndarray | None:
        began = time.monotonic()
        try:
            piece = next(here, None)
        finally:
            worked(time.monotonic() - began)
        if piece is None:
            was_read()
        return piece

    while (piece := asyncio.run_coroutine_threadsafe(following(), loop).result()) is not None:
        yield piece
