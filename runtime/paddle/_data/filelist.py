"""Files -> Records: each file is read once, by whichever thread has nothing to read.

It must never know what is done with a sample. Guarantee: one thread reads the files in their order; every
sample comes once; what goes wrong with a file is raised to who reads, and no other file is begun then.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field

from paddle._data.command import pieces
from paddle._data.lines import Lines
from paddle._data.records import Records, joined
from paddle._data.slot import Slot


@dataclass(slots=True)
class FileList:
    """Hands out ``files`` to threads that read them by ``command`` into records of ``slots``. ``labels``: see
    Lines."""

    files: Sequence[str]
    command: str
    slots: tuple[Slot, ...]
    labels: int = 0
    _begun: int = 0
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def batches(self, size: int) -> Iterator[Records]:
        """Batches of ``size`` samples of the files that this thread is given; the last may be smaller."""
        try:
            yield from self._batches(size)
        except Exception:
            self.stop()
            raise

    def _batches(self, size: int) -> Iterator[Records]:
        held: list[Records] = []
        many = 0
        with closing(self._samples()) as found:
            for records in found:
                held.append(records)
                many += len(records)
                if many >= size:
                    whole = joined(self.slots, held)
                    cut = many - many % size
                    yield from (whole.cut(at, at + size) for at in range(0, cut, size))
                    held, many = [whole.cut(cut, many)], many - cut
        if many:
            yield joined(self.slots, held)

    def _samples(self) -> Generator[Records, None, None]:
        while (number := self._next()) is not None:
            yield from self._records(number)

    def all(self, threads: int) -> Records:
        """All samples in the order of the files, which so many threads read."""
        parts: dict[int, list[Records]] = {}

        def read() -> None:
            try:
                while (number := self._next()) is not None:
                    parts[number] = list(self._records(number))
            except BaseException:
                self.stop()
                raise

        many = max(1, min(threads, len(self.files)))
        with ThreadPoolExecutor(many, thread_name_prefix="dataset") as pool:
            for done in [pool.submit(read) for _ in range(many)]:
                done.result()
        return joined(self.slots, [records for number in sorted(parts) for records in parts[number]])

    def stop(self) -> None:
        """No other file is begun."""
        with self._turn:
            self._begun = len(self.files)

    def _next(self) -> int | None:
        with self._turn:
            if self._begun >= len(self.files):
                return None
            self._begun += 1
            return self._begun - 1

    def _records(self, number: int) -> Generator[Records, None, None]:
        path = self.files[number]
        lines = Lines(self.slots, path, self.labels)
        with closing(pieces(path, self.command)) as texts:
            for text in texts:
                yield lines.read(text)
