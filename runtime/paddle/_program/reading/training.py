"""A program, run on all batches of a dataset, by threads.

Rules (decision 0072):
1.  Each thread takes batches of its own stream, makes feeds of them, and runs the program with an executor
    of its own, against the parameters of one scope.
2.  Threads compute at the same time. Gradients are applied, or sent to servers, one after another, each to
    what is there by then (Hogwild); what counts (a metric, steps of a schedule) is done by one thread at a
    time (lowering/counting.py).
3.  Runs take turns where trainers are in step, for a step is all that a trainer has; and where gradients
    depend on what counts. Reading does not.
4.  One thread is the thread that asked. An error of any thread ends all, and is raised when all have ended;
    so does an interrupt, which waits for a batch of each, but not for ever.

It must never know what a batch holds. Guarantee: every batch of the dataset is run once, or an error is
raised.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paddle._data.records import Records
from paddle._program.errors import BadArgument
from paddle._program.lowering.counting import can_count_apart
from paddle._program.reading.dumping import Dump, dump_of, opened
from paddle._program.reading.feeders import of_records

_LEAVING_S = 10.0
"""For so long an interrupt waits for threads to end their batches."""
Run = Callable[[dict[str, Any], list[Any]], list[Any]]


class FetchHandler:
    """Derive, and write ``handler(res_dict)``: it is called every ``period_secs`` with the values of
    ``var_dict``, a dict of names that the program chose to variables."""

    def __init__(
        self,
        var_dict: dict[str, Any] | Sequence[Any] | None = None,
        period_secs: float = 60,
        return_np: bool = True,
        fetch_target_names: Sequence[Any] | None = None,
    ) -> None:
        given = var_dict or fetch_target_names
        if not given:
            raise BadArgument("a FetchHandler needs var_dict: {name: variable, ...}")
        self.is_listed = not isinstance(given, dict)  # as in 1.6
        self.var_dict = given if isinstance(given, dict) else {str(n): each for n, each in enumerate(given)}
        self.period_secs = period_secs

    def handler(self, res_dict: Any) -> None:
        """Prints them, unless it is written. Of a list of variables, as 1.6 took it, it is given a list."""
        for name, value in enumerate(res_dict) if self.is_listed else res_dict.items():
            print(f"{name}: {value}", flush=True)

    @staticmethod
    def help() -> None:
        """Shows how it is used."""
        print(
            "class Shown(fluid.executor.FetchHandler):\n    def handler(self, res_dict):\n"
            "        print(res_dict['auc'])\n\n"
            "exe.train_from_dataset(program, dataset, fetch_handler=Shown({'auc': auc_var}, period_secs=60))"
        )


def _say(line: str) -> None:
    """Print it at once with what ends it, or two threads may print one line."""
    print(f"{line}\n", end="", flush=True)


@dataclass(slots=True, kw_only=True)
class Watch:
    """What is shown of the batches of the first thread, how often."""

    fetch_list: Sequence[Any] = ()
    fetch_info: Sequence[str] = ()
    print_period: int = 100
    handler: FetchHandler | None = None
    clock: Callable[[], float] = time.monotonic
    _shown_s: float = field(init=False)

    def __post_init__(self) -> None:
        if self.print_period < 1:
            raise BadArgument(f"print_period is 1 or more, not {self.print_period}")
        if self.fetch_info and len(self.fetch_info) != len(self.fetch_list):
            raise BadArgument(
                f"fetch_info has {len(self.fetch_info)} texts for {len(self.fetch_list)} variables"
            )
        self._shown_s = self.clock()

    def run(self, run: Run, feed: dict[str, Any], number: int) -> None:
        """One batch, the ``number``-th from 1 on."""
        told = list(self.fetch_list) if number % self.print_period == 0 else []
        handler = self.handler
        asked = list(handler.var_dict.values()) if handler and self._is_time(handler) else []
        found = run(feed, [*told, *asked])
        if told:
            names = self.fetch_info or [getattr(each, "name", str(each)) for each in told]
            values = [_told(name, value) for name, value in zip(names, found, strict=False)]
            _say(f"time: [{time.strftime('%Y-%m-%d %H:%M:%S')}], batch: [{number}], {', '.join(values)}")
        if asked and handler is not None:
            values_of = dict(zip(handler.var_dict, found[len(told) :], strict=True))
            arrays: Any = {name: np.asarray(value) for name, value in values_of.items()}
            handler.handler(list(arrays.values()) if handler.is_listed else arrays)

    def _is_time(self, handler: FetchHandler) -> bool:
        now = self.clock()
        if now - self._shown_s < handler.period_secs:
            return False
        self._shown_s = now
        return True


class Pass:
    """One pass over the streams of a dataset. ``run_of(number)``: how thread ``number`` runs the program;
    ``turn``: what is held meanwhile."""

    def __init__(
        self,
        run_of: Callable[[int], Run],
        turn: AbstractContextManager[Any],
        watch: Watch,
        debug: bool,
        dump: Dump | None = None,
    ) -> None:
        self._run_of, self._turn, self._watch, self._debug = run_of, turn, watch, debug
        self._dump = dump
        self._errors: list[BaseException] = []
        self._is_over = threading.Event()

    def __call__(self, streams: Sequence[Iterator[Records]]) -> None:
        """Run all batches."""
        if len(streams) == 1:
            self._work(0, streams[0])
        else:
            self._in_threads(streams)
        if self._errors:
            raise self._errors[0]

    def _in_threads(self, streams: Sequence[Iterator[Records]]) -> None:
        ended: queue.SimpleQueue[int] = queue.SimpleQueue()

        def work(number: int, stream: Iterator[Records]) -> None:
            try:
                self._work(number, stream)
            finally:
                ended.put(number)

        threads = [
            threading.Thread(target=work, args=(number, stream), name=f"train-{number}", daemon=True)
            for number, stream in enumerate(streams)
        ]
        try:
            for thread in threads:
                thread.start()
            for _ in threads:
                ended.get()  # no join: a thread of which one was interrupted counts as ended (CPython 3.11)
        except BaseException:  # an interrupt
            self._is_over.set()
            _leave(threads)
            raise
        _leave(threads)

    def _work(self, number: int, stream: Any) -> None:
        began_s, batches = time.monotonic(), 0
        try:
            with closing(stream):
                batches = self._batches(number, stream)
        except Exception as error:
            self._errors.append(error)
            self._is_over.set()
        if self._debug:
            _say(f"thread {number}: {batches} batches in {time.monotonic() - began_s:.3f} s")

    def _batches(self, number: int, stream: Iterator[Records]) -> int:
        """Run them; how many there were."""
        run, batches = self._run_of(number), 0
        for batches, records in enumerate(stream, 1):
            if self._is_over.is_set():
                break
            feed = dict(of_records(records))
            told = self._told(run, records, number, batches - 1)
            with self._turn:
                if number == 0:
                    self._watch.run(told, feed, batches)
                else:
                    told(feed, [])
        return batches

    def _told(self, run: Run, records: Records, thread: int, number: int) -> Run:
        """``run``, which dumps what is wanted."""
        if (dump := self._dump) is None:
            return run

        def dumping(feed: dict[str, Any], fetch: list[Any]) -> list[Any]:
            found = run(feed, [*fetch, *dump.names])
            dump.write(records, found[len(fetch) :], thread, number)
            return found[: len(fetch)]

        return dumping


def _leave(threads: Sequence[threading.Thread]) -> None:
    """Wait until they have ended, but not for ever."""
    ends_s = time.monotonic() + _LEAVING_S
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, ends_s - time.monotonic()))


def train(
    executor: Any,
    program: Any,
    dataset: Any,
    scope: Any,
    thread: int,
    debug: bool,
    watch: Watch,
) -> None:
    """Run ``program`` on all batches of ``dataset``, by ``thread`` threads; 0 for as many as it was told."""
    if dataset is None or not hasattr(dataset, "streams"):
        raise RuntimeError(
            "dataset is needed: a QueueDataset or an InMemoryDataset, told its use_var and files"
        )
    streams = dataset.streams(thread if thread > 0 else dataset.thread_num)
    at_once = len(streams) > 1 and runs_at_once(program)
    runners = executor._of_threads(len(streams)) if at_once else [executor]

    def run_of(number: int) -> Run:
        def run(feed: dict[str, Any], fetch: list[Any]) -> list[Any]:
            found: list[Any] = runners[number % len(runners)].run(
                program, feed, fetch, scope=scope, return_numpy=False
            )
            return found

        return run

    turn: Any = nullcontext() if at_once or len(streams) == 1 else threading.Lock()
    with opened(dump := dump_of(program, dataset)):
        Pass(run_of, turn, watch, debug, dump)(streams)


def runs_at_once(program: Any) -> bool:
    """Rules 2 and 3."""
    if program._carrier is not None and program._carrier.cluster.mode.is_in_step:
        return False
    return can_count_apart(program.global_block().ops)


def _told(name: str, value: Any) -> str:
    """A value as the original's log has it, which programs read: ``cost[1]:[0.693754]``, how many and all in
    a row, as C++ prints numbers."""
    values = np.asarray(value).reshape(-1)
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    shown = "{:g}" if values.dtype.kind == "f" else "{}"
    return f"{name}[{values.size}]:[{' '.join(shown.format(each) for each in values.tolist())}]"
