"""Leaving: what a trainer says to its shards when it goes.

It must never know what was trained. Guarantee: what failed is told, though the caller may not know it. Where
a newer process has the trainer's place nothing is said, for the job goes on; not all shards may know yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._pserver.errors import FORSAKEN, PserverError, Stale, told
from paddle._pserver.protocol.messages import Goodbye
from paddle._pserver.trainer.line import Line


def leave(lines: Sequence[Line], failure: str | None) -> None:
    """Say goodbye to all shards, and hear them out. ``failure``: with what the trainer ends."""
    failures = [line.failure for line in lines]
    failure = failure or next((told(error) for error in failures if error is not None), None)
    follows = failure is not None and any(isinstance(error, FORSAKEN) for error in failures)
    heard = [error for error in failures if isinstance(error, PserverError)]
    culprits = sorted({culprit for error in heard for culprit in error.culprits})
    is_replaced = any(isinstance(error, Stale) for error in failures)
    for line in () if is_replaced else lines:
        line.say_goodbye(Goodbye(failure, follows, tuple(culprits)))
    for line in lines:
        line.part()
