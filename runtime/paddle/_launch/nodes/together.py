"""The same done with many nodes at once: a thread for each, and one deadline for all.

It must never know what is done. Guarantee: it comes back when all have ended, or at the deadline; what failed
with one node keeps no other from being done, and is given as a value. The thread that calls only waits, so
Ctrl+C ends it at any time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import TypeVar

from paddle._launch.errors import LaunchError, NodeLost

Key = TypeVar("Key")
Value = TypeVar("Value")


def together(
    tasks: Mapping[Key, Callable[[], Value]], deadline_s: float, most: int = 1 << 16
) -> tuple[dict[Key, Value], dict[Key, LaunchError]]:
    """Do all of it, no more than ``most`` at a time; gives what came of it, and of those that failed why, in
    the order of ``tasks``."""
    ended: SimpleQueue[tuple[Key, Value | None, LaunchError | None]] = SimpleQueue()
    gate = threading.BoundedSemaphore(most)
    for key, task in tasks.items():
        threading.Thread(target=_do, args=(key, task, ended, gate), daemon=True).start()
    values: dict[Key, Value] = {}
    errors: dict[Key, LaunchError] = {}
    end = time.monotonic() + deadline_s
    waiting = set(tasks)
    while waiting:
        try:
            key, value, error = ended.get(timeout=max(0.0, end - time.monotonic()))
        except Empty:
            late = f"it did not answer within {deadline_s:.0f} s. Try again, or look what keeps it busy."
            errors |= {key: NodeLost(late) for key in waiting}
            break
        waiting.discard(key)
        if error is not None:
            errors[key] = error
        else:
            values[key] = value  # type: ignore[assignment]  # it may be None where Value is
    return {key: values[key] for key in tasks if key in values}, {
        key: errors[key] for key in tasks if key in errors
    }


def _do(
    key: Key,
    task: Callable[[], Value],
    ended: SimpleQueue[tuple[Key, Value | None, LaunchError | None]],
    gate: threading.BoundedSemaphore,
) -> None:
    try:
        with gate:
            ended.put((key, task(), None))
    except LaunchError as error:
        ended.put((key, None, error))
    except Exception as error:  # whatever it is, nobody must wait for this one for ever
        ended.put((key, None, LaunchError(f"{type(error).__name__}: {error}")))
