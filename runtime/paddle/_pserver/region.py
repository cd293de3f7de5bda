"""Region: memory of one process that another of its machine and user maps, too.

A region is an anonymous file (memfd). It has no name and takes no room of /dev/shm; other processes open it
under /proc, by its descriptor in the process that made it; it goes with the last one that holds it.

1.  All of it is there from the beginning, and it is sealed: nobody can make it shorter or longer. So no
    access to it fails, as one to a file that was cut off would (SIGBUS).
2.  Who opens another's looks at what it got before it maps it: a regular file, the one that was told of,
    sealed, and as long as was said. It is mapped for reading alone.
3.  Where one is not to be had there is none, and that is no error: no memory, a limit, a process that is not
    seen from here, or belongs to another user.

It must never know what lies in it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import stat
import weakref
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paddle._pserver import memory
from paddle._pserver.messages import Lies

_SHARE = 2  # of the memory that nobody has, half at most
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


@dataclass(frozen=True, slots=True)
class Region:
    """Mapped memory. ``lies``: how others find it, as long as its maker holds it."""

    mapped: mmap.mmap
    lies: Lies | None = None

    def array(self, kind: type, offset: int, count: int) -> np.ndarray:
        """``count`` numbers that begin ``offset`` bytes from its beginning."""
        array: np.ndarray = np.frombuffer(self.mapped, kind, count, offset)
        return array


def make(size_bytes: int) -> Region | None:
    """A new region, all zeros, that this process may write to."""
    if not 0 < size_bytes <= memory.available_bytes() // _SHARE:
        return None  # the kernel would rather kill processes than say that there is no room
    try:
        descriptor = os.memfd_create("paddle", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        return None
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        mapped = mmap.mmap(descriptor, size_bytes)
        weakref.finalize(mapped, os.close, descriptor)
        return Region(mapped, Lies(descriptor, os.fstat(descriptor).st_ino, size_bytes))
    except OSError:
        os.close(descriptor)
        return None


def find(process: int, lies: Lies) -> Region | None:
    """The region of another process, for reading."""
    path = Path(f"/proc/{process}/fd/{lies.descriptor}")
    try:
        if not _is_told_of(path.stat(), lies):  # before it is opened: what else may lie there could block
            return None
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
            if seals & _SEALS != _SEALS or not _is_told_of(os.fstat(descriptor), lies):
                return None
            return Region(mmap.mmap(descriptor, lies.size_bytes, mmap.MAP_SHARED, mmap.PROT_READ))
        finally:
            os.close(descriptor)
    except (OSError, OverflowError):
        return None


def _is_told_of(found: os.stat_result, lies: Lies) -> bool:
    is_file = stat.S_ISREG(found.st_mode)
    return is_file and found.st_ino == lies.inode and 0 < found.st_size == lies.size_bytes
