"""Refusals: what the log hears of connections that are turned away, of one host as often as a purse allows.

It must never know why, nor what was said. Guarantee: however many come, they do not fill a disk.
"""

from __future__ import annotations

import logging
import time

from paddle._pserver.trust.auth import Purses


class Refusals:
    """Those of one listening process. ``name``: of it, before every line."""

    def __init__(self, log: logging.Logger, name: str) -> None:
        self._log, self._name, self._purses = log, name, Purses()

    def tell(self, host: str, why: str, error: BaseException | None = None) -> None:
        """One was turned away; ``error``: of this side's own, whose traceback is told along."""
        if self._purses.pay(host, time.monotonic()) == 0:
            text = "%s: turned away a connection from %s: %s"
            self._log.warning(text, self._name, host or "this machine", why, exc_info=error)
