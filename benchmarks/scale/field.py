"""Field: real runs. A process that forks pservers and trainers as it is told, and says how they fared.

Requests and answers are lines of JSON, as in :mod:`benchmarks.worker`; the end of the input ends it. All are
forked from this process, which has loaded what they need, so that a run begins within a fraction of a second.
They speak TCP on the loopback device, as between machines, whatever is nearer.

Guarantee: no process of a run is left when its answer is given.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.cputime import cpu_of, family, machine_busy_s
from benchmarks.scale.recruit import Recruit
from paddle._pserver.service.service import ServerOptions, serve

_FIRST_PORT, _LAST_PORT = 21_000, 31_000
_PATIENCE_S = 60.0
_HOST = "127.0.0.1"


def run(order: Mapping[str, Any]) -> dict[str, Any]:
    """All trainers train: see :class:`benchmarks.scale.orders.Order`, of which ``order`` has the fields."""
    with _Party(order) as party:
        before, busy, began = [cpu_of(shard) for shard in party.shards], machine_busy_s(), time.monotonic()
        told = party.do("run")
        took, busy = time.monotonic() - began, machine_busy_s() - busy
        after = [cpu_of(shard) for shard in party.shards]
    shard_cpu = [late - early for early, late in zip(before, after, strict=True)]
    ours = sum(shard_cpu) + sum(one["cpu_s"] + one["computed_s"] for one in told)
    others = max(0.0, busy - ours) / took / len(os.sched_getaffinity(0))
    return {"began": began, "shard_cpu_s": shard_cpu, "trainers": told, "others": others}


def probe(order: Mapping[str, Any]) -> dict[str, Any]:
    """One trainer does ``parts``, each for ``for_s``."""
    with _Party(order) as party:
        (told,) = party.do("probe", order["parts"], order["for_s"], party.shards)
    return dict(told)


class _Party:
    """Pservers and trainers that are ready; in the end all part. ``shards``: their processes."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._order = order
        self._children: list[int] = []
        self._trainers: list[Connection] = []
        self.shards: list[int] = []

    def __enter__(self) -> _Party:
        order = self._order
        port = _free_ports(order["dense"] + order["sparse"])
        try:
            self.shards = _start_pservers(order, port, self._children)
            for id in range(order["trainers"]):
                self._trainers.append(_start_trainer(order, id, port, self._children))
            _hear_all(self._trainers)
        except BaseException:
            _end(self._children)
            raise
        return self

    def do(self, what: str, *arguments: Any) -> list[Any]:
        """Have all trainers do it; what each says of it."""
        for trainer in self._trainers:
            trainer.send((what, arguments))
        return _hear_all(self._trainers)

    def __exit__(self, *exc: object) -> None:
        try:
            if exc[0] is None:
                for trainer in self._trainers:
                    trainer.send(("close", ()))
                _wait(self._children)
        finally:
            _end(self._children)


def _start_pservers(order: Mapping[str, Any], port: int, children: list[int]) -> list[int]:
    """Serve; the ids of the shards' processes, in the order of their ports."""
    ours, theirs = Pipe()
    options = ServerOptions(
        addresses=(_HOST,),
        port=port,
        ports_num=order["dense"],
        ports_num_for_sparse=order["sparse"],
        num_gradient_servers=order["trainers"],
        log_period_server=1 << 40,
        is_nearby=False,
    )
    parent = _fork(lambda: serve(options, lambda ports: theirs.send("ready")), children)
    _hear_all([ours])
    return sorted(family(parent)[1:])


def _start_trainer(order: Mapping[str, Any], id: int, port: int, children: list[int]) -> Connection:
    ours, theirs = Pipe()

    def work() -> int:
        recruit = Recruit(order, id, _HOST, port)
        recruit.warm()
        theirs.send("ready")
        what = ""
        while what != "close":
            what, arguments = theirs.recv()
            theirs.send(getattr(recruit, what)(*arguments))
        return 0

    _fork(work, children)
    theirs.close()
    return ours


def _fork(work: Callable[[], int], children: list[int]) -> int:
    pid = os.fork()
    if pid:
        children.append(pid)
        return pid
    status = 1
    try:
        status = work()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _hear_all(others: Sequence[Connection]) -> list[Any]:
    deadline = time.monotonic() + _PATIENCE_S
    for other in others:
        if not other.poll(max(0.0, deadline - time.monotonic())):
            raise TimeoutError("a process of the run did not answer")
    return [other.recv() for other in others]


def _wait(children: list[int]) -> None:
    """Until all have ended, well."""
    deadline = time.monotonic() + _PATIENCE_S
    while children:
        pid, status = os.waitpid(children[-1], os.WNOHANG)
        if pid:
            children.pop()
            if status:
                raise ChildProcessError(f"a process of the run ended with {status}")
        elif time.monotonic() > deadline:
            raise TimeoutError("a process of the run did not end")
        else:
            time.sleep(0.005)


def _end(children: list[int]) -> None:
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _free_ports(count: int) -> int:
    """The first of so many neighbouring ports that nobody has."""
    span = _LAST_PORT - _FIRST_PORT
    for attempt in range(1000):
        first = _FIRST_PORT + (os.getpid() * 37 + attempt * 16) % span
        if all(_is_free(first + offset) for offset in range(count)):
            return first
    raise OSError(f"no {count} neighbouring ports are free between {_FIRST_PORT} and {_LAST_PORT}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    from benchmarks.scale import counting, warming

    warming.load()
    work = {"run": run, "probe": probe, "count": counting.count, "hear": counting.hear}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = work[request.pop("do")](request)
        except Exception:
            answer = {"error": traceback.format_exc(limit=-3)}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
