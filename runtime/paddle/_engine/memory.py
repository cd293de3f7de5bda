"""Memory of a plan: which storages exist, how long each is in use, and where it lies in one arena.

It must never know operators or arrays: it sees names, sizes in bytes and times, which are positions in a
list of operators.

Rules:
1. A storage is in use from the time it is first written to the time any of its members is last read.
2. A view joins the storage of what it views, which so lives as long as either.
3. An operator may overwrite an input only if that input's storage is ours and is not read later.
4. What is not ours may change after a time that we are told; what is read later than that never views it.
5. Storages whose uses overlap in time never overlap in the arena.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""Bytes: one cache line, and the widest vector register."""


@dataclass(slots=True, eq=False)
class Storage:
    """A piece of memory. An ``owned`` one lies in the arena; parameters and feeds are somebody else's.

    ``until``: the last time at which one that is not owned still holds its value, None for ever.
    """

    nbytes: int
    first: int
    last: int
    owned: bool = True
    until: int | None = None
    offset: int = 0


class Memory:
    """The storages of one plan. ``last_read`` tells when each name is read for the last time."""

    def __init__(self, last_read: Mapping[str, int]):
        self._last_read = last_read
        self._storages: dict[str, Storage] = {}

    def __getitem__(self, name: str) -> Storage:
        return self._storages[name]

    def __contains__(self, name: str) -> bool:
        return name in self._storages

    def adopt(self, name: str, nbytes: int, until: int | None = None) -> None:
        """A storage that is not ours: never overwritten or moved. Its owner may change it after ``until``."""
        self._storages[name] = Storage(nbytes, -1, self._last(name, -1), owned=False, until=until)

    def new(self, name: str, nbytes: int, time: int) -> None:
        """A storage of its own for ``name``, which is written at ``time``."""
        self._storages[name] = Storage(nbytes, time, self._last(name, time))

    def view(self, name: str, of: str, nbytes: int, time: int) -> bool:
        """Let ``name`` be the same memory as ``of``; False if that changes before ``name`` is last read."""
        storage = self._shared(name, of, nbytes)
        if storage.until is not None and self._last(name, time) > storage.until:
            return False
        self._join(name, storage, time)
        return True

    def overwrite(self, name: str, of: str, nbytes: int, time: int, read: Iterable[str]) -> bool:
        """Let ``name`` overwrite ``of`` if nobody minds. ``read``: all that is read at that time."""
        storage = self._shared(name, of, nbytes)
        others = [other for other in read if other != of and self._storages[other] is storage]
        if not storage.owned or storage.last > time or others:
            return False
        self._join(name, storage, time)
        return True

    def arrange(self) -> int:
        """Give every owned storage its offset; returns the size of the arena."""
        owned = {id(storage): storage for storage in self._storages.values() if storage.owned}
        return arrange(list(owned.values()))

    def _shared(self, name: str, of: str, nbytes: int) -> Storage:
        """The storage of ``of``; that ``name`` fits is the caller's to know, and never guessed from sizes."""
        storage = self._storages[of]
        if storage.nbytes != nbytes:
            raise ValueError(f"{name!r} ({nbytes} bytes) cannot share {of!r} ({storage.nbytes} bytes)")
        return storage

    def _join(self, name: str, storage: Storage, time: int) -> None:
        self._storages[name] = storage
        storage.last = max(storage.last, self._last(name, time))

    def _last(self, name: str, time: int) -> int:
        return max(self._last_read.get(name, time), time)


def arrange(storages: Sequence[Storage]) -> int:
    """Set offsets by first fit, the largest storage first; returns the size of the whole."""
    placed: list[Storage] = []
    for storage in sorted(storages, key=lambda each: (-each.nbytes, each.first)):
        alive = [other for other in placed if other.first <= storage.last and storage.first <= other.last]
        storage.offset = 0
        for other in sorted(alive, key=lambda each: each.offset):
            if storage.offset + storage.nbytes <= other.offset:
                break
            storage.offset = max(storage.offset, aligned(other.offset + other.nbytes))
        placed.append(storage)
    return max((each.offset + each.nbytes for each in placed), default=0)


def aligned(size: int) -> int:
    """A size, rounded up to where the next storage may begin."""
    return -(-size // ALIGNMENT) * ALIGNMENT
