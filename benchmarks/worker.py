"""The inside of a contender's process: prepares work when told to, does it, and says what it cost.

Requests and answers are lines of JSON, on standard input and on what was standard output; the contender's own
prints go to standard error. The end of the input ends the process: a runner that dies leaves nothing.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.cputime import cpu_seconds
from benchmarks.machine import library_facts

_LOOK_S, _RESTLESS_S = 0.004, 1.0


def _nothing() -> None:
    pass


def _none() -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """A case, ready to be done: ``run(n)`` does n units of it.

    ``answer`` was computed on the way; contenders that do not all have the same do not do the same work. A
    limit, which stands beside the contenders and does no such work, has None.
    ``servers`` are other processes whose CPU time counts; ``beside`` gives that of those which come and go.
    ``ready`` has things as they are to be before a unit; it is not timed, and each unit is done alone then.
    ``check`` raises where what the last run left is not what it was to leave; it is done after all rounds.
    ``close`` ends whatever ``prepare`` started.
    ``peak``, where the work is done by other processes: the most bytes that one of them had. ``facts``: what
    those are. ``block``: how many units are done at a time; ``run`` is given the number of such blocks.
    """

    run: Callable[[int], None]
    answer: float | None
    servers: tuple[int, ...] = ()
    close: Callable[[], None] = _nothing
    beside: Callable[[], float] = _none
    check: Callable[[], object] = _nothing
    ready: Callable[[], None] | None = None
    peak: Callable[[], int] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    block: int = 1


class Worker:
    """Holds the work of one contender, a case at a time."""

    def __init__(self, module: str):
        self._module = module
        self._work: Work | None = None

    def answer(self, request: Mapping[str, object]) -> dict[str, object]:
        """Do one request: ``prepare`` with settings, ``run`` with a count, or ``check``."""
        if request["do"] == "prepare":
            self.close()
            self._work = importlib.import_module(self._module).prepare(request["settings"])
            answer = self._work.answer
            return {
                "answer": None if answer is None else float(answer),
                "libraries": dict(self._work.facts) or library_facts(),
                "block": self._work.block,
            }
        assert self._work is not None
        if request["do"] == "check":
            self._work.check()
            own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            return {"peak": self._work.peak() if self._work.peak else own}
        return _timed(self._work, int(str(request["count"])))

    def close(self) -> None:
        """End the work at hand."""
        work, self._work = self._work, None
        if work is not None:
            work.close()


def _timed(work: Work, count: int) -> dict[str, object]:
    wall_s = cpu_s = 0.0
    blocks = -(-count // work.block)
    for units in [1] * blocks if work.ready else [blocks]:
        if work.ready:
            work.ready()
        cpu, wall = cpu_seconds(work.servers) + work.beside(), time.perf_counter()
        work.run(units)
        wall_s += time.perf_counter() - wall
        cpu_s += cpu_seconds(work.servers) + work.beside() - cpu
    _come_to_rest()
    done = blocks * work.block
    return {"wall_s": wall_s / done, "cpu_s": cpu_s / done}


def _come_to_rest() -> None:
    """Wait until no thread of this process works any more: OpenMP's spin on behind their last work, some for
    0.2 s, and would take a core from the contender whose turn is next. One that could and has no core, on a
    busy machine, does not rest. Who never rests is not waited for."""
    ends = time.monotonic() + _RESTLESS_S
    while time.monotonic() < ends:
        worked = time.process_time()
        time.sleep(_LOOK_S)
        if time.process_time() - worked < _LOOK_S / 4 and not _others_could_run():
            return


def _others_could_run() -> bool:
    """Whether a thread of this process besides the one that asks is on a core, or waits for one."""
    own = str(threading.get_native_id())
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it has ended
            if thread.name != own and (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R":
                return True
    return False


def main(module: str) -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = Worker(module)
    try:
        for line in sys.stdin:
            try:
                answer = worker.answer(json.loads(line))
            except Exception:
                answer = {"error": traceback.format_exc(limit=-3)}
            print(json.dumps(answer), file=answers)
    finally:
        worker.close()


if __name__ == "__main__":
    main(sys.argv[1])
