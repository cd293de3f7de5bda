"""Reading ahead: the next batch is read, and made into arrays, while a step is computed.

Rules:
1.  A pass is read by one thread from its first batch to its last, with the trainer's context variables.
2.  It reads in turns: one batch before the first step, and one during each. Turns are over before the
    program's event handlers are called, so reader and handlers never run at one time: what both draw from one
    generator they draw in one order, whatever takes how long.
3.  But a handler waits for a turn no longer than PATIENCE_S: the reader may be waiting for that handler, or
    for data that come seldom.
4.  What goes wrong in the reader is raised where its batch was to come, what does in making arrays behind it.
    After an end or an error nothing is read.
5.  Where a pass is left before its end no other batch is read, and the reader is let go of: generators that
    nobody else holds are closed. That is waited for no longer than PATIENCE_S.
6.  Where reading or computing takes less than it costs to hand over, a pass is read by the trainer's thread:
    in the same order, at the end of each step.

It must never know what a batch holds, or what is done with it. Guarantee: batches come in the order of the
reader, each once, and no more than one has been read that was not asked for.
"""

from __future__ import annotations

import contextvars
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from paddle._data.turn import reads_ahead

PATIENCE_S = 1.0
WORTH_S = 2e-4
"""To hand a batch over takes a tenth of that, more where the machine is busy."""

Reader = Callable[[], Iterator[Sequence[Any]]]
Feed = Mapping[str, np.ndarray]
Clock = Callable[[], float]

_log = logging.getLogger("paddle.trainer")


class Batch(NamedTuple):
    """So many ``samples``, and their arrays or why there are none."""

    samples: int
    arrays: Feed | Exception

    def feed(self) -> Feed:
        """The arrays; raises what was wrong with the rows."""
        if isinstance(self.arrays, Exception):
            raise self.arrays
        return self.arrays


@dataclass(frozen=True, slots=True)
class _End:
    """There is no other batch, because of an ``error`` if there was one."""

    error: BaseException | None = None


@dataclass(slots=True)
class Pace:
    """Seconds that the batches of a pass took."""

    batches: int = 0
    reading_s: float = 0.0
    computing_s: float = 0.0

    @property
    def is_worth_a_thread(self) -> bool:
        """Whether a thread that reads saves more than it costs."""
        return min(self.reading_s, self.computing_s) >= WORTH_S * self.batches


class Source:
    """The batches of one pass, of which ``passed_over`` are read and left out; read in this thread."""

    def __init__(
        self, reader: Reader, feeder: Callable[[Any], Feed], clock: Clock, passed_over: int = 0
    ) -> None:
        self.pace = Pace()
        self._reader, self._feeder, self._clock = reader, feeder, clock
        self._passed_over = passed_over
        self._batches: Iterator[Any] | None = None
        self._next: Batch | _End | None = None
        self._began_s = 0.0

    def __enter__(self) -> Source:
        self._next = self._read()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._batches = None

    def next(self) -> Batch | None:
        """The next batch, None at the end of the pass."""
        found = self._next
        if isinstance(found, Batch):
            return found
        if found is not None and found.error is not None:
            raise found.error
        return None

    def waiting(self) -> int:
        """How many batches are read and not taken."""
        return int(isinstance(self._next, Batch))

    def begin_turn(self) -> None:
        """The step of the last batch begins."""
        self._began_s = self._clock()

    def end_turn(self) -> None:
        """It is over."""
        self.pace.computing_s += self._clock() - self._began_s
        self._next = self._read()

    def _read(self) -> Batch | _End:
        began_s = self._clock()
        try:
            if self._batches is None:
                self._batches = islice(self._reader(), self._passed_over, None)
            for rows in self._batches:
                return self._made(rows)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            return _End(error)
        finally:
            self.pace.batches += 1
            self.pace.reading_s += self._clock() - began_s
        return _End()

    def _made(self, batch: Any) -> Batch:
        rows = batch if hasattr(batch, "__len__") else list(batch)
        try:
            arrays = self._feeder(rows)
        except Exception as error:
            return Batch(0, error)
        return Batch(len(rows), arrays)


class SourceAhead(Source):
    """The same, read in a thread of its own."""

    def __enter__(self) -> SourceAhead:
        self._turns: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._read_by_now: queue.SimpleQueue[Batch | _End] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._is_computing = self._is_left = False
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._read_turns,), name="reader", daemon=True)
        self._thread.start()
        self._turns.put(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._is_left = True
            self._changed.notify_all()
        self._turns.put(False)
        self._thread.join(PATIENCE_S)
        if self._thread.is_alive():
            _log.warning("the reader is still reading a batch that nobody waits for: it is left alone")

    def next(self) -> Batch | None:
        """See Source."""
        if self._next is None:
            self._next = self._read_by_now.get()
        return super().next()

    def waiting(self) -> int:
        """See Source."""
        if self._next is None:
            with suppress(queue.Empty):
                self._next = self._read_by_now.get_nowait()
        return super().waiting()

    def begin_turn(self) -> None:
        """See Source."""
        super().begin_turn()
        self._next = None
        self._is_computing = True
        self._turns.put(True)

    def end_turn(self) -> None:
        """See Source."""
        self.pace.computing_s += self._clock() - self._began_s
        with self._changed:
            self._is_computing = False
            self._changed.notify_all()
        with suppress(queue.Empty):
            self._next = self._read_by_now.get(timeout=PATIENCE_S)

    def _read_turns(self) -> None:
        reads_ahead(self._wait_for_step)
        try:
            while self._turns.get():
                self._read_by_now.put(read := self._read_for_another())
                if isinstance(read, _End):
                    break
        finally:
            self._batches = None

    def _read_for_another(self) -> Batch | _End:
        try:
            return self._read()
        except BaseException as error:  # raised by the reader itself, or nobody is there any more
            return _End(error)

    def _wait_for_step(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_left or not self._is_computing)
        if self._is_left:
            raise GeneratorExit
