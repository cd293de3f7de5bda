"""A disk in memory that fails or stops at its n-th operation, and what may be left of it then."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


class Killed(BaseException):
    """The process is gone in the middle of an operation."""


@dataclass
class Content:
    data: bytes = b""
    flushed: bytes = b""


@dataclass
class Disk:
    """A Storage (storage.py). ``stop_at``: the number of the operation that raises ``stop``."""

    names_now: dict[str, Content] = field(default_factory=dict)
    names_flushed: dict[str, Content] = field(default_factory=dict)
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

    def read(self, name: str) -> bytes:
        return self.names_now[name].data

    def view(self, name: str) -> memoryview:
        return memoryview(self.names_now[name].data)

    def reader(self, name: str) -> Callable[[int, int], bytes]:
        data = self.names_now[name].data
        return lambda first, size: data[first : first + size]

    def write(self, name: str, parts: Iterable[memoryview]) -> None:
        self._count()
        content = self.names_now[name] = Content()
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
        self.names_now[new] = self.names_now.pop(old)
        self._count()

    def remove(self, name: str) -> None:
        self._count()
        del self.names_now[name]
        self._count()

    def flush_names(self) -> None:
        self._count()
        self.names_flushed = dict(self.names_now)
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
        cuts = [(names, data) for names in (False, True) for data in (False, True)]
        return [self.after_kill(), *(self.after_power_cut(names_lost=n, data_lost=d) for n, d in cuts)]
