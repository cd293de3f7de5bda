"""A thread's visit to the network of another process."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def network(pid: int) -> Iterator[None]:
    """Sockets that this thread makes meanwhile are in the network of ``pid``, and stay there."""
    with _opened("/proc/thread-self/ns/net") as here:
        with _opened(f"/proc/{pid}/ns/net") as there:
            _enter(there)
        try:
            yield
        finally:
            _enter(here)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET):  # os.setns is there from Python 3.12 on
        raise OSError(ctypes.get_errno(), "setns")
