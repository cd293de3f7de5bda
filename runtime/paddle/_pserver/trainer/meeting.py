"""Meeting: a trainer comes to all its shards, and is let in by each.

It comes to them at once, by a thread each, for what takes time is the way: so many shards are met as soon as
one. They are heard in their order. A shard that was started again may not know whose place this trainer took
where others knew; it is told once these have said so, for it may have let in the one before, which woke up
just then, in its stead. It must never know what is said afterwards.

Guarantee: once one of them cannot be met, nobody waits for the others any longer than it takes them to
notice, and that one's reason is told.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from paddle._pserver.errors import DuplicateTrainer
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.line import Line

_NOTICE_S = 1.0


def meet(lines: Sequence[Line], within_s: float) -> None:
    """Connect ``lines``, and hear of each whether this trainer is let in."""
    _come(lines, within_s)
    refused = {line: error for line in lines if (error := _refusal(line)) is not None}
    for line in lines:
        if not line.greet_again() and line in refused:
            raise refused[line]


def _refusal(line: Line) -> DuplicateTrainer | None:
    """Why a shard does not let this trainer in for that it has another; other errors are raised."""
    try:
        line.greet()
    except DuplicateTrainer as error:
        return error
    return None


def _come(lines: Sequence[Line], within_s: float) -> None:
    outcomes: SimpleQueue[Exception | None] = SimpleQueue()
    deadlines = [Deadline(within_s) for _ in lines]
    for line, deadline in zip(lines, deadlines, strict=True):
        threading.Thread(target=_connect, args=(line, deadline, outcomes), daemon=True).start()
    come = 0
    try:
        while come < len(lines):
            failed = outcomes.get()
            come += 1
            if failed is not None:
                raise failed
    finally:  # also where a signal ends the waiting
        for deadline in deadlines:
            deadline.end()
        _let_notice(outcomes, len(lines) - come)


def _connect(line: Line, deadline: Deadline, outcomes: SimpleQueue[Exception | None]) -> None:
    try:
        line.connect(deadline)
    except Exception as error:  # whatever it is, somebody waits for it
        outcomes.put(error)
    else:
        outcomes.put(None)


def _let_notice(outcomes: SimpleQueue[Exception | None], most: int) -> None:
    """Let the others come to their end, so that who is closed next is nobody's any more; but not for long."""
    end = Deadline(_NOTICE_S)
    for _ in range(most):
        try:
            outcomes.get(timeout=end.left_s())
        except Empty:
            return
