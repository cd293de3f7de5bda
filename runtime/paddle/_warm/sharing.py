"""Sharing: work that several processes do, each part by one of them, all of which end with who waits for it;
and of those who have the same to do, one at a time.

It must never know what the work is.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

MOST_PARTS = 256
_PR_SET_PDEATHSIG = 1


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until nobody else is alone with ``folder``, also on other machines that see it, and then be that.
    Where a folder cannot be locked, all go on at once."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def share(parts: int, processes: int, do: Callable[[int], object]) -> None:
    """Have so many processes call ``do`` with the numbers of all parts, in their order; at most MOST_PARTS.
    One that fails leaves the others to go on, and says nothing."""
    queue, numbers = os.pipe()
    os.write(numbers, bytes(range(parts)))
    os.close(numbers)
    parent = os.getpid()
    children = [os.fork() or _work(queue, parent, do) for _ in range(processes)]
    os.close(queue)
    for child in children:
        os.waitpid(child, 0)


def _work(queue: int, parent: int, do: Callable[[int], object]) -> NoReturn:
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        while os.getppid() == parent and (number := os.read(queue, 1)):
            do(number[0])
    finally:
        os._exit(0)
