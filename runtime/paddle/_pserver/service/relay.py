"""Relay: a state whose arrays come in pieces, for a thread that writes it while the shard goes on.

A piece is made in the thread of the loop, between two events, for only there do tables stand still; whoever
writes waits for it in a thread of its own. It must never know what is in a piece.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import numpy as np

from paddle._pserver.shard.state import State
from paddle._pserver.tables.streamed import Array, Streamed


def relayed(state: State, loop: asyncio.AbstractEventLoop, worked: Callable[[float], None]) -> State:
    """The same state, to be read in another thread while ``loop`` runs. ``worked`` hears for how many seconds
    each piece kept that from all else."""
    arrays = {name: _relayed(array, loop, worked) for name, array in state.arrays.items()}
    return State(state.facts, arrays, state.is_regular)


def _relayed(array: Array, loop: asyncio.AbstractEventLoop, worked: Callable[[float], None]) -> Array:
    if not isinstance(array, Streamed):
        return array

    def pieces() -> Iterator[np.ndarray]:
        here = array.pieces()
        while (piece := asyncio.run_coroutine_threadsafe(_next(here, worked), loop).result()) is not None:
            yield piece

    return Streamed(array.dtype, array.shape, pieces)


async def _next(pieces: Iterator[np.ndarray], worked: Callable[[float], None]) -> np.ndarray | None:
    began = time.monotonic()
    try:
        return next(pieces, None)
    finally:
        worked(time.monotonic() - began)
