"""Wakeful selector: asyncio's own, which stays awake for what comes at once (vigil.py).

It must never know who waits for what. Guarantee: it finds what the selector that it is made of finds, at most
``ROUND_S`` after the time that it is given.
"""

from __future__ import annotations

import selectors
from functools import partial

from paddle._pserver.protocol.vigil import Vigil

Found = list[tuple[selectors.SelectorKey, int]]


class WakefulSelector(selectors.EpollSelector):
    """See the module's text."""

    def __init__(self) -> None:
        super().__init__()
        self._vigil: Vigil[Found] = Vigil(partial(super().select, 0))

    def select(self, timeout: float | None = None) -> Found:
        """See :class:`selectors.BaseSelector`."""
        if timeout is not None and timeout <= 0:
            return super().select(0)
        return self._vigil.keep() or super().select(timeout)
