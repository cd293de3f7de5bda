"""Reader: the batches of passes that a program starts and resets, one for each run of the program.

Rules:
1.  ``start`` begins a pass: its first batch is read. ``reset`` ends it, wherever it is; what was read is
    dropped.
2.  Each run takes one batch. While it computes the next one is read (paddle._data.ahead says by whom).
3.  A run that finds no other batch raises EOFException, and so does each one after it, until the reset.
4.  What the user's generator raises is raised by the run whose batch was to come, as it was; the pass is
    over.

It must never know the program that reads. Guarantee: each batch of a pass comes to one run, in order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from paddle._data.ahead import Source, SourceAhead
from paddle._program.errors import BadArgument
from paddle._program.reading.end import EOFException
from paddle._program.reading.feeders import Feed, Feeder

Batches = Callable[[], Iterable[Any]]


_named: WeakValueDictionary[str, Reader] = WeakValueDictionary()
_numbers = count()


def fresh_name() -> str:
    """One that no reader of this process has, whatever guards there are: a test's network may be named as the
    one that learns, and reads something else."""
    return f"py_reader_{next(_numbers)}"


def named(name: str) -> Reader | None:
    """The last reader made of that name, while somebody has it."""
    return _named.get(name)


class Reader:
    """See the module's text. ``name``: what errors call it."""

    def __init__(self, name: str) -> None:
        self.name = name
        _named[name] = self
        self._batches: Batches | None = None
        self._feeder: Feeder = dict
        self._pass: Source | None = None
        self._opened = ExitStack()
        self._is_over = False
        self._is_computing = False
        self._reads_ahead = True

    def decorate(self, batches: Batches, feeder: Feeder) -> None:
        """Say what is read, and what makes a feed of it."""
        if not callable(batches):
            raise BadArgument(
                f"reader {self.name} is given a {type(batches).__name__}: it takes a function that begins a "
                "pass each time it is called, such as a generator function"
            )
        self._batches, self._feeder = batches, feeder

    def passes(self) -> Iterator[Feed]:
        """A pass for who iterates; the next batch is read meanwhile."""
        with self._source() as source:
            for batch in iter(source.next, None):
                feed = batch.feed()
                source.begin_turn()
                yield feed
                source.end_turn()
        self._learn(source)

    def start(self) -> None:
        """Begin a pass."""
        if self._pass is not None and not self._is_over:
            raise BadArgument(f"reader {self.name} was started already; reset() it before another pass")
        self.reset()
        self._pass = self._opened.enter_context(self._source())

    def reset(self) -> None:
        """End the pass, if there is one."""
        if self._pass is not None:
            self._learn(self._pass)
        self._opened.close()
        self._pass, self._is_over, self._is_computing = None, False, False

    def next(self) -> Feed:
        """The feed of the next run. Raises EOFException, and what the user's generator raised."""
        if self._pass is None:
            raise BadArgument(
                f"reader {self.name} was not started: call its start() before the first run of a pass"
            )
        batch = None
        if not self._is_over:
            try:
                batch = self._pass.next()
            except BaseException:
                self._is_over = True
                raise
        if batch is None:
            self._is_over = True
            raise EOFException(
                f"reader {self.name} has no other batch in this pass; reset() it before the next"
            )
        feed = batch.feed()
        self._pass.begin_turn()
        self._is_computing = True
        return feed

    def size(self) -> int:
        """How many batches of the pass are read and wait for a run: one at most is read ahead."""
        return 0 if self._pass is None else self._pass.waiting()

    def computed(self) -> None:
        """The run that took the last batch is over."""
        if self._pass is not None and self._is_computing:
            self._is_computing = False
            self._pass.end_turn()

    def _source(self) -> Source:
        if self._batches is None:
            raise BadArgument(
                f"reader {self.name} has nothing to read: tell it by set_sample_generator, "
                "set_sample_list_generator or set_batch_generator (decorate_... of a PyReader)"
            )
        kind = SourceAhead if self._reads_ahead else Source
        batches = self._batches
        return kind(lambda: iter(batches()), self._feeder, time.perf_counter)

    def _learn(self, source: Source) -> None:
        if source.pace.batches > 1:
            self._reads_ahead = source.pace.is_worth_a_thread
