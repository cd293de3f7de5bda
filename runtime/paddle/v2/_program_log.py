"""The log ``paddle``, into which programs of the original write lines of their own.

There it was on the screen, as the original had settled logging for the whole process. It must never know what
is logged. Guarantee: what a program writes into ``logging.getLogger("paddle")`` is on standard error, unless
the program settles logging itself; what the runtime says of itself goes where it went before.
"""

from __future__ import annotations

import logging

NAME = "paddle"
_FORMAT = "[%(levelname)s %(asctime)s %(filename)s:%(lineno)s] %(message)s"


class _Screen(logging.StreamHandler):  # type: ignore[type-arg]
    """Shows what is of the program, where nobody else does."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == NAME and not logging.getLogger().handlers:
            super().emit(record)


def show() -> None:
    """From now on such lines are shown; once, however often it is called."""
    log = logging.getLogger(NAME)
    if not any(isinstance(handler, _Screen) for handler in log.handlers):
        screen = _Screen()
        screen.setFormatter(logging.Formatter(_FORMAT))
        log.addHandler(screen)
