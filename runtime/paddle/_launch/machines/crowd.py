"""The same done with many nodes at once, so many at a time; what each says meanwhile is heard as it comes.

It must never know what is done. Guarantee: it comes back when all have ended, or at the deadline where there
is one; what fails with one node keeps no other from being done, and is given as a value. The thread that
calls only waits and hears, so Ctrl+C ends it at any time, and with it all.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from paddle._launch.agent.halves import SIGNALS
from paddle._launch.errors import LaunchError
from paddle._launch.machines import refusals
from paddle._launch.machines.patience import AT_ONCE

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Bytes:
    """How many bytes of something are sent, of how many."""

    what: str
    sent: int
    total: int


Say = Callable[[str | Bytes], None]


def crowd(
    tasks: Mapping[Key, Callable[[Say], Value]],
    hear: Callable[[Key, str | Bytes], None],
    parallel: int = AT_ONCE,
    deadline_s: float | None = None,
) -> dict[Key, Value | LaunchError]:
    """Do all of it; gives what came of each, in the order of ``tasks``. ``hear``: in this thread."""
    waiting: SimpleQueue[Key] = SimpleQueue()
    said: SimpleQueue[tuple[Key, str | Bytes | None, Any]] = SimpleQueue()
    for key in tasks:
        waiting.put(key)
    for _ in range(min(parallel, len(tasks))):
        threading.Thread(target=_work, args=(tasks, waiting, said), daemon=True).start()
    done: dict[Key, Value | LaunchError] = {}
    end = None if deadline_s is None else time.monotonic() + deadline_s
    while len(done) < len(tasks):
        try:
            key, news, outcome = said.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
        except Empty:
            return {key: done.get(key, refusals.late(deadline_s or 0.0)) for key in tasks}
        if news is not None:
            hear(key, news)
        else:
            done[key] = outcome
    return {key: done[key] for key in tasks}


def together(
    tasks: Mapping[Key, Callable[[], Value]], deadline_s: float, parallel: int = AT_ONCE
) -> tuple[dict[Key, Value], dict[Key, LaunchError]]:
    """As :func:`crowd`, where nothing is said meanwhile; gives apart what came of it, and why it failed."""
    done = crowd(
        {key: partial(_silently, task) for key, task in tasks.items()}, _unheard, parallel, deadline_s
    )
    failed = {key: one for key, one in done.items() if isinstance(one, LaunchError)}
    return {key: one for key, one in done.items() if not isinstance(one, LaunchError)}, failed


def _silently(task: Callable[[], Value], say: Say) -> Value:
    return task()


def _unheard(key: object, news: object) -> None:
    pass


def _work(
    tasks: Mapping[Key, Callable[[Say], Any]],
    waiting: SimpleQueue[Key],
    said: SimpleQueue[tuple[Key, str | Bytes | None, Any]],
) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they are for the thread that waits
    while True:
        try:
            key = waiting.get_nowait()
        except Empty:
            return
        said.put((key, None, outcome(partial(tasks[key], partial(_pass_on, said.put, key)))))


def _pass_on(put: Callable[[Any], None], key: object, news: str | Bytes) -> None:
    put((key, news, None))


def outcome(task: Callable[[], Value]) -> Value | LaunchError:
    """Do one; what fails is a value."""
    try:
        return task()
    except LaunchError as error:
        return error
    except Exception as error:  # whatever it is, the others go on, and nobody waits for this one for ever
        return LaunchError(f"{type(error).__name__}: {error}")
