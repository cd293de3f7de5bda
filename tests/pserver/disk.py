"""A disk in memory that fails or stops at its n-th operation, and what may be left of it then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import compress, product


class Killed(BaseException):
    """The process is gone in the middle of an operation."""


@dataclass
class Content:
    data: bytes = b""
    flushed: bytes = b""


Change = Callable[[dict[str, Content]], object]


@dataclass
class Disk:
    """A Storage (storage.py). ``stop_at``: the number of the operation that raises ``stop``."""

    names_now: dict[str, Content] = field(default_factory=dict)
    names_flushed: dict[str, Content] = field(default_factory=dict)
    unflushed: list[Change] = field(default_factory=list)  # what was done to names since
    operations: int = 0
    stop_at: int = -1
    stop: type[BaseException] = Killed
    where: str = "a disk"

    def _count(self) -> None:
        self.operations += 1
        if self.operations == self.stop_at:
            raise self.stop("no space left on device")

    def names(self) -> list[str]:
        return sorted(self.names_now)

    def _do(self, change: Change) -> None:
        change(self.names_now)
        self.unflushed.append(change)

    def read(self, name: str) -> bytes:
        if name not in self.names_now:
            raise FileNotFoundError(2, "No such file or directory", name)
        return self.names_now[name].data

    def view(self, name: str) -> memoryview:
        return memoryview(self.read(name))

    def reader(self, name: str) -> Callable[[int, int], bytes]:
        data = self.read(name)
        return lambda first, size: data[first : first + size]

    def write(self, name: str, parts: Iterable[memoryview]) -> None:
        self._count()
        content = Content()
        self._do(lambda names: names.update({name: content}))
        for part in parts:
            content.data += bytes(part[: len(part) // 2])
            self._count()  # half of a part is there
            content.data += bytes(part[len(part) // 2 :])
        self._count()

    def flush(self, name: str) -> None:
        self._count()
        self.names_now[name].flushed = self.names_now[name].data
        self._count()

    def rename(self, old: str, new: str) -> None:
        self._count()
        content = self.names_now[old]
        self._do(lambda names: (names.pop(old, None), names.update({new: content})))
        self._count()

    def remove(self, name: str) -> None:
        self._count()
        assert name in self.names_now
        self._do(lambda names: names.pop(name, None))
        self._count()

    def flush_names(self) -> None:
        self._count()
        self.names_flushed = dict(self.names_now)
        self.unflushed.clear()
        self._count()

    # What a restarted process finds.

    def after_kill(self) -> Disk:
        return Disk({name: Content(c.data, c.data) for name, c in self.names_now.items()})

    def after_power_cut(self, *, names_lost: bool, data_lost: bool) -> Disk:
        """The system had written what it was told to; of the rest, perhaps the one or the other."""
        names = self.names_flushed if names_lost else self.names_now
        left = {n: c.flushed if data_lost else c.data for n, c in names.items()}
        return Disk({name: Content(data, data) for name, data in left.items()})

    def leftovers(self) -> list[Disk]:
        return [self.after_kill(), *self._after_power_cuts()]

    def _after_power_cuts(self) -> Iterator[Disk]:
        """Of what was done to names since they were flushed, any part may have lasted: nobody has told the
        system to keep the order."""
        for lasts in product((False, True), repeat=len(self.unflushed)):
            names = dict(self.names_flushed)
            for change in compress(self.unflushed, lasts):
                change(names)
            for data_lost in (False, True):
                left = {name: c.flushed if data_lost else c.data for name, c in names.items()}
                yield Disk({name: Content(data, data) for name, data in left.items()})
