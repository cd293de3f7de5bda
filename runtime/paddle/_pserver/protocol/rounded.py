"""Rounded: values that come as bfloat16, on their way to where they are used as float32.

It must never know whose they are. Guarantee: they are written where they are used only once they are there
and right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.landing import Landing


class Rounded:
    """``targets``: byte views of float32, one after another. ``into``: where as many halves are received."""

    def __init__(self, targets: Sequence[memoryview]) -> None:
        self._targets = [np.frombuffer(target, np.float32) for target in targets]
        self._halves = np.empty(sum(target.size for target in self._targets), np.uint16)
        self._widened = 0  # of these
        self.into = bytes_of(self._halves)

    def landing(self, on_more: Callable[[], None]) -> Landing:
        """For the next values; ``on_more``: some of them are in their targets."""
        self._widened = 0

        def more() -> None:
            self.widen(landing.bytes_landed // self._halves.itemsize)
            on_more()

        landing = Landing([self.into], more)
        return landing

    def widen(self, count: int | None = None) -> None:
        """So many are there, all if None."""
        from paddle._engine.kernels.halves import from_bfloat16  # numba is loaded only where it is needed

        at, first = 0, self._widened
        self._widened = self._halves.size if count is None else count
        for target in self._targets:
            start, stop = max(first - at, 0), min(self._widened - at, target.size)
            if start < stop:
                from_bfloat16(self._halves[at + start : at + stop], target[start:stop])
            at += target.size
