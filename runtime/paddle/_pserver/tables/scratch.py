"""Scratch: memory to compute in, from step to step; one for all tables of a shard, which take turns.

Made anew each time it may be the system's again in between, and comes back with a fault for each page: beside
the threads of a team that took three times as long as to add up a batch of rows. It must never know what is
computed.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.memory import ALIGNMENT

KEPT_BYTES = 1 << 22
"""Enough for some ten thousands of rows. More is rare, as when trainers meet about most of a table: that is
given back at once."""


class Scratch:
    """See the module's text."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint8)

    def cut(self, *forms: tuple[type[np.generic], tuple[int, ...]]) -> list[np.ndarray]:
        """Arrays of these types and shapes, with whatever was there in them; good until the next ones."""
        sizes = [int(np.prod(shape)) * np.dtype(dtype).itemsize for dtype, shape in forms]
        ends = np.cumsum([-(-size // ALIGNMENT) * ALIGNMENT for size in sizes]).tolist()
        memory = self._memory if ends[-1] <= len(self._memory) else np.empty(ends[-1], np.uint8)
        if len(memory) <= KEPT_BYTES:
            self._memory = memory
        places = zip((0, *ends), sizes, forms, strict=False)
        return [memory[at : at + size].view(dtype).reshape(shape) for at, size, (dtype, shape) in places]
