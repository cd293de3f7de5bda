"""Goodbye: what a trainer says to its parameter servers when nobody reads the parameters any more.

It must never know what was trained. Guarantee: said once, when the parameters go or the process ends; an
error that left the training or ended the program is told, so that the others of the job hear of it, unless
the program overcame it.
"""

from __future__ import annotations

import sys
import weakref

from paddle import _exits
from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import Exchange


class Goodbye:
    """The goodbye of a trainer that trains ``parameters`` through ``exchange``."""

    def __init__(self, parameters: object, exchange: Exchange) -> None:
        self._failure: str | None = None
        self._is_lasting = False
        _exits.listen()
        self._leaving = weakref.finalize(parameters, self.say, exchange)

    def failed(self, error: BaseException) -> None:
        """An error leaves the training; ``sys.exit(0)`` is none."""
        if not (isinstance(error, SystemExit) and error.code in (None, 0)):
            self._failure, self._is_lasting = _told(error), isinstance(error, ExchangeError)

    def succeeded(self) -> None:
        """The program goes on with success: what failed before is overcome, if no error is being handled.

        In an ``except`` or ``finally`` block the error may still be on its way.
        """
        if sys.exception() is None:
            self._failure, self._is_lasting = None, False

    def leaves(self) -> None:
        """The program itself has it said, as the original's ``exe.close()``: what it caught is overcome, but
        for an error of the exchange, by which servers lack what they were to get."""
        if not self._is_lasting:
            self.succeeded()

    def say(self, exchange: Exchange) -> None:
        """Say it now; it is said once, whoever says it again."""
        self._leaving.detach()  # which keeps the exchange, and all that it holds
        exchange.close(self._failure or uncaught())


def uncaught() -> str | None:
    """The error with which the program ends, wherever it was raised: Python keeps what it printed last.

    In an interactive session that ends nothing.
    """
    error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
    return _exits.uncaught() if error is None else _told(error)


def _told(error: BaseException) -> str:
    """What it is, and what it says, if it says anything: Ctrl+C does not."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
