"""Samples of several readers, each read in a process of its own. See ``paddle.reader.multiprocess_reader``.

It must never know what a sample means. Guarantee: that of ``_data.processes``: an error in a reader, and the
sudden end of its process, reach who iterates, and no process outlives that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any

from paddle._data.processes import End, Processes

Reader = Callable[[], Iterator[Any]]


def read(readers: Sequence[Reader]) -> Iterator[Any]:
    """The samples of all readers, as they come."""
    with Processes(readers, "reader {} of multiprocess_reader".format) as processes:
        yield from _received(processes)


def _received(processes: Processes) -> Iterator[Any]:
    numbers: dict[object, int] = {pipe: number for number, pipe in enumerate(processes.pipes)}
    while numbers:
        for pipe in wait([processes.pipes[number] for number in numbers.values()]):
            sample = processes.heard(numbers[pipe])
            if isinstance(sample, End):
                del numbers[pipe]
            else:
                yield sample
