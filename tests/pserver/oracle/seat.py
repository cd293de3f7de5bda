"""Seat: a trainer's place at a real shard in this process, without threads that run at a time and without
bytes.

What a trainer does runs in a thread that has the floor until it is done, or waits for others; so that a test
sees who waits, and the order of events is its own. It is the exchange that a trainer's part of a mode talks
to, as one over sockets is (remote.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Semaphore, Thread
from typing import Any

import numpy as np

from paddle._engine.exchange import ParameterSpec, StepReport, UpdateSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.protocol.messages import (
    Answer,
    CountChanges,
    Declare,
    Declared,
    EndPass,
    Export,
    Goodbye,
    Mark,
    Pull,
    PullChanges,
    PullRows,
    Push,
    Request,
    Seed,
    Welcome,
)
from paddle._pserver.tables.gradient import NOTHING, Gradient, Rows
from paddle._pserver.trainer import given

from ..talk import Talk

NO_ROWS = np.empty(0, np.int64)
MOST = 64  # rows of an open table in one answer


class OverError(BaseException):
    """The test is, and nobody answers any more."""


class Seat:
    """See the module's text. ``is_waiting``: for an answer; ``is_forgetful``: it loses each connection after
    its question is answered, before it hears that, and has to ask again."""

    def __init__(self, talk: Talk, id: int) -> None:
        self.talk, self.id = talk, id
        self.is_waiting = self.is_forgetful = self.is_over = False
        self.arrays: dict[str, np.ndarray] = {}
        self._floor, self._given_back = Semaphore(0), Semaphore(0)
        self._error: BaseException | None = None
        self._open: tuple[Request, Gradient, Sequence[np.ndarray]] | None = None
        self._first = 0  # reply that may be the answer
        self._answered, self._has_begun = Mark(), False
        self._steps = self._passes = self._pass_id = self._pace = self._next_pass = self._told = 0

    # Whose turn it is.

    def do(self, work: Callable[[], object]) -> None:
        """Until it is done or waits."""
        Thread(target=self._run, args=(work,), daemon=True).start()
        self._hand_over()

    def go_on(self) -> bool:
        """Whether what it waited for has come; then until it is done or waits again."""
        if not self.is_waiting or not (self._replies() or self.is_over):
            return False
        self.is_waiting = False
        self._floor.release()
        self._hand_over()
        return True

    def _hand_over(self) -> None:
        self._given_back.acquire()
        if self._error is not None:
            raise self._error

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except OverError:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self._given_back.release()

    # Questions.

    def ask(
        self, message: Request, gradient: Gradient = NOTHING, ids: Sequence[np.ndarray] = ()
    ) -> tuple[Any, list[np.ndarray]]:
        self._open = message, gradient, ids
        self._put()
        if self.is_forgetful and self._replies():
            self.come()
        while not (replies := self._replies()):
            self.is_waiting = True
            self._given_back.release()
            self._floor.acquire()
            if self.is_over:
                raise OverError
        self._open = None
        assert isinstance(replies[0], (Answer, Declared)), replies
        return replies[0], self.talk.bodies[self.id]

    def _put(self) -> None:
        assert self._open is not None
        message, gradient, ids = self._open
        rows = [Rows(each.ids.copy(), each.values.copy()) for each in gradient.rows]
        self._first = len(self.talk.replies)
        self.talk.ask(self.id, message, Gradient(gradient.dense, rows), ids=ids)

    def _replies(self) -> list[Any]:
        return [reply for to, reply in self.talk.replies[self._first :] if to == self.id]

    def come(self) -> None:
        """On a connection of its own; what was asked on the last one is asked again."""
        self.talk.connect(self.id)
        told = {"next_pass": self._next_pass, "over": self._next_pass, "has_begun": self._has_begun}
        (welcome,) = self.talk.hello(self.id, f"process {self.id}", self._answered, **told)
        assert isinstance(welcome, Welcome), welcome
        if not self._has_begun:
            self._pace = welcome.pace
        self._has_begun = True
        open, self._open = self._open, (self._declare, NOTHING, ())
        self._put()
        if open is not None:
            self._open = open
            self._put()

    # See Exchange.

    def start(
        self, parameters: Sequence[ParameterSpec], update: UpdateSpec, values: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        self._dense = [p for p in parameters if not p.sparse]
        self._tables = [p for p in parameters if p.sparse]
        self._declare = Declare(tuple(parameters), update, 0, 1)
        self._is_in_step = update.mode.is_in_step
        self.come()
        (declared,) = self._replies()
        if declared.seed:
            self._seed(values)
        self.arrays = {p.name: np.zeros(p.shape, np.float32) for p in parameters if not p.is_open}
        self.pull()
        return self.arrays

    def _seed(self, values: Mapping[str, np.ndarray]) -> None:
        tables = self.talk.shard.tables
        assert tables is not None
        for segment in tables.layout.segments:
            tables.values[segment.span] = values[segment.parameter.name].reshape(-1)
        for name, table in tables.packed.items():
            table.values[...] = values[name]
        for part in (None, *tables.rows):
            self.ask(Seed(part))

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        for name, values in self._pulled(rows).items():
            self.arrays[name][rows[name]] = values

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> dict[str, np.ndarray]:
        return self._pulled(ids, peeks=not training)

    def _pulled(self, rows: Mapping[str, np.ndarray], *, peeks: bool = False) -> dict[str, np.ndarray]:
        ids = [rows.get(p.name, NO_ROWS) for p in self._tables]
        _, body = self.ask(PullRows(tuple(len(each) for each in ids), peeks=peeks), ids=ids)
        return {p.name: found for p, found in zip(self._tables, body, strict=True) if p.name in rows}

    def room(self) -> dict[str, np.ndarray]:
        return {}

    def step(self, gradients: given.Gradients, samples: int, *, rate: float | None = None) -> StepReport:
        self._steps, self._pace = self._steps + 1, self._pace + 1
        push = Push(self._steps, self._pass_id, samples, pace=self._pace, rate=rate)
        dense = [given.flat(gradients, p).copy() for p in self._dense]
        merged = [part for _, part in given.all_merged(gradients, self._tables, given=False)]
        answer, body = self.ask(push, Gradient(dense, [Rows(part.ids, part.values) for part in merged]))
        self._answered = Mark(self._steps, self._passes, self._pace)
        self._take(body)
        return StepReport(answer.version, int(answer.dropped))

    def begin_pass(self, pass_id: int) -> None:
        self._pass_id = pass_id

    def end_pass(self, pass_id: int) -> None:
        self._passes, self._pace = self._passes + 1, 0
        _, body = self.ask(EndPass(pass_id, self._passes))
        self._answered, self._next_pass = Mark(self._steps, self._passes), pass_id + 1
        self._take(body)

    def pull(self) -> None:
        self._take(self.ask(Pull())[1])

    def fetch(self) -> None:
        self.pull()
        self._pull_tables(self.arrays, average=False)

    def averages(self) -> dict[str, np.ndarray]:
        found = {name: np.zeros_like(array) for name, array in self.arrays.items()}
        self._take(self.ask(Pull(average=True))[1], found)
        self._pull_tables(found, average=True)
        return found

    def _pull_tables(self, into: dict[str, np.ndarray], *, average: bool) -> None:
        for table in self._tables:
            if not table.is_open:
                (into[table.name][...],) = self.ask(Pull(table.name, average))[1]

    def _take(self, body: list[np.ndarray], into: dict[str, np.ndarray] | None = None) -> None:
        tables = self.talk.shard.tables
        assert tables is not None
        for segment in tables.layout.segments:
            array = (self.arrays if into is None else into)[segment.parameter.name]
            array.reshape(-1)[...] = body[0][segment.span]

    def changes(self) -> Iterator[dict[str, SparseRows]]:
        has_more = bool(self._tables)
        while has_more:
            _, ((*counts, has_more),) = self.ask(CountChanges(self._told))
            _, body = self.ask(PullChanges(tuple(map(int, counts))))
            self._told += 1
            ids, rows = body[: len(counts)], body[len(counts) :]
            parts = zip(self._tables, ids, rows, strict=True)
            yield {p.name: SparseRows(mine, values, p.shape[0]) for p, mine, values in parts}

    def export(self, name: str) -> SparseRows:
        found, after = list[SparseRows](), None
        while True:
            _, ((count,), ids, rows) = self.ask(Export(name, MOST, after))
            found.append(SparseRows(ids[:count], rows.reshape(MOST, -1)[:count], OPEN))
            if count < MOST:
                return SparseRows.concatenate(found)
            after = int(ids[-1])

    def close(self, failure: str | None = None) -> None:
        self.ask(Goodbye(failure))
