"""The processes of a machine as /proc shows them: who descends from whom, how to signal one and no other."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

GIVE_UP_S = 3.0  # after SIGKILL: what still lives is uninterruptible, or belongs to another user
_PR_SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """One process for good: ``start`` (clock ticks since boot) tells it from a later one of the same pid."""

    pid: int
    start: int


def look_up(pid: int) -> tuple[int, Process] | None:
    """Parent's pid and identity of a living process; None when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # Fields from the third on: the second is a name in brackets, which may hold anything.
    fields = stat.rpartition(b")")[2].split()
    state, parent, threads, start = fields[0], fields[1], fields[17], fields[19]
    # The dead keep an entry until they are reaped. With threads left, only the first thread has ended.
    if state in (b"Z", b"X") and int(threads) <= 1:
        return None
    return int(parent), Process(pid, int(start))


def descendants(root: int) -> list[Process]:
    """Every living process below ``root``."""
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  names are enough, hundreds of them at every scan
        if name.isdigit() and (found := look_up(int(name))):
            children.setdefault(found[0], []).append(found[1])
    below: list[Process] = []
    todo = [root]
    while todo:
        born = children.get(todo.pop(), [])
        below += born
        todo += [process.pid for process in born]
    return below


def send_signal(process: Process, signum: int) -> None:
    """Signal this very process; one that has ended, or has got its pid since, is left alone."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    except OSError:  # a kernel before 5.3, or a sandbox without the call: a check just before must do
        handle = -1
    try:
        found = look_up(process.pid)
        if found is None or found[1] != process:
            return
        if handle >= 0:
            signal.pidfd_send_signal(handle, signum)
        else:
            os.kill(process.pid, signum)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        if handle >= 0:
            os.close(handle)


def kill(process: Process) -> None:
    """SIGKILL this very process until it is gone, with all that it holds, or does not die in time."""
    end = time.monotonic() + GIVE_UP_S
    while (found := look_up(process.pid)) and found[1] == process and time.monotonic() < end:
        send_signal(process, signal.SIGKILL)
        time.sleep(0.01)


def become_subreaper() -> None:
    """Be the new parent of every process below whose own parent dies, so that ``descendants`` finds it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def sweep(root: int, concerns: Callable[[Process], bool] = lambda process: True) -> list[Process]:
    """SIGKILL all below ``root``, or those that it ``concerns``, until none is left; gives those that did not
    die in time."""
    end = time.monotonic() + GIVE_UP_S
    while (left := list(filter(concerns, descendants(root)))) and time.monotonic() < end:
        for process in left:
            send_signal(process, signal.SIGKILL)
        time.sleep(0.01)
    return left
