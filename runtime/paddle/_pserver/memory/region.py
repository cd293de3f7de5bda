"""Region: memory of one process that another of its machine and user maps, too.

A region is an anonymous file (memfd). It has no name and takes no room of /dev/shm; other processes open it
under /proc, by its descriptor in the process that made it; it goes with the last one that holds it.

1.  All of it is there from the beginning, and it is sealed: nobody can make it shorter or longer. So no
    access to it fails, as one to a file that was cut off would (SIGBUS).
2.  Who opens another's looks at what it got before it maps it: a regular file, the one that was told of,
    sealed, and as long as was said. It is mapped for reading alone.
3.  A large one lies in large pages where the system has them: with small ones, simple arithmetic takes up to
    a quarter longer.
4.  Where one is not to be had there is none, and that is no error: no memory, a limit, a process that is not
    seen from here, or belongs to another user.

It must never know what lies in it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import stat
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paddle._pserver.memory import memory
from paddle._pserver.protocol.messages import Lies

_SHARE = 2  # of the memory that nobody has, half at most
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_HUGE = 2 << 20  # a page that the processor finds with one lookup
_WORTH_IT = 2 * _HUGE
_MADV_COLLAPSE = 25  # of Linux 6.1, which the mmap module does not name


@dataclass(frozen=True, slots=True)
class Region:
    """Mapped memory of ``size_bytes``, which begin ``start`` bytes from where the map does. ``lies``: how
    others find it, as long as its maker holds it."""

    mapped: mmap.mmap
    start: int
    size_bytes: int
    lies: Lies | None = None

    def array(self, kind: type, offset: int, count: int) -> np.ndarray:
        """``count`` numbers that begin ``offset`` bytes from its beginning."""
        if not 0 <= offset <= offset + count * np.dtype(kind).itemsize <= self.size_bytes:
            raise ValueError(f"{count} numbers at {offset} of a region of {self.size_bytes} bytes")
        array: np.ndarray = np.frombuffer(self.mapped, kind, count, self.start + offset)
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
        edge = _edge(size_bytes)
        os.ftruncate(descriptor, size_bytes + 2 * edge)
        os.posix_fallocate(descriptor, edge, size_bytes)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        mapped, start = _map(descriptor, size_bytes, mmap.PROT_READ | mmap.PROT_WRITE)
        weakref.finalize(mapped, os.close, descriptor)
    except OSError:
        os.close(descriptor)
        return None
    if edge:
        with suppress(OSError):
            mapped.madvise(_MADV_COLLAPSE, 0, len(mapped) - len(mapped) % _HUGE)
    return Region(mapped, start, size_bytes, Lies(descriptor, os.fstat(descriptor).st_ino, size_bytes))


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
            return Region(*_map(descriptor, lies.size_bytes, mmap.PROT_READ), lies.size_bytes)
        finally:
            os.close(descriptor)
    except (OSError, OverflowError):
        return None


def _is_told_of(found: os.stat_result, lies: Lies) -> bool:
    is_file = stat.S_ISREG(found.st_mode) and found.st_ino == lies.inode
    return is_file and 0 < lies.size_bytes == found.st_size - 2 * _edge(lies.size_bytes)


def _edge(size_bytes: int) -> int:
    """How much of the file lies unused before and behind, so that a map can begin where it is aligned."""
    return _HUGE if size_bytes >= _WORTH_IT else 0


def _map(descriptor: int, size_bytes: int, access: int) -> tuple[mmap.mmap, int]:
    """The map, and where the region begins in it.

    A large page needs an address that is to its multiples as the place in the file is. The system chooses
    the address, and the same one for maps of one length: so the place is chosen by it.
    """
    edge = _edge(size_bytes)
    mapped = mmap.mmap(descriptor, size_bytes + edge, mmap.MAP_SHARED, access)
    shift = np.frombuffer(mapped, np.uint8, 1).ctypes.data % _HUGE if edge else 0
    if shift:
        mapped.close()
        mapped = mmap.mmap(descriptor, size_bytes + edge, mmap.MAP_SHARED, access, offset=shift)
    return mapped, edge - shift
