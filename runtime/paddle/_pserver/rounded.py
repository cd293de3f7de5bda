"""Rounded: values that come as bfloat16, on their way to where they are used as float32.

It must never know whose they are. Guarantee: they are written where they are used only once they are there
and right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._pserver.framing import bytes_of


class Rounded:
    """``targets``: byte views of float32, one after another. ``into``: where as many halves are received."""

    def __init__(self, targets: Sequence[memoryview]) -> None:
        self._targets = [np.frombuffer(target, np.float32) for target in targets]
        self._halves = np.empty(sum(target.size for target in self._targets), np.uint16)
        self.into = bytes_of(self._halves)

    def widen(self) -> None:
        """All are there."""
        from paddle._engine.kernels.halves import from_bfloat16  # numba is loaded only where it is needed

        at = 0
        for target in self._targets:
            from_bfloat16(self._halves[at : at + target.size], target)
            at += target.size
