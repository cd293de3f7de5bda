"""Pservers for tests: the real service on real loopback sockets, in a thread of this process."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from paddle._engine.exchange import Exchange, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.errors import PortInUse
from paddle._pserver.options import ShardOptions, SnapshotOptions
from paddle._pserver.service.application import application
from paddle._pserver.service.conversation import Conversation
from paddle._pserver.service.hub import Hub
from paddle._pserver.service.lobby import Lobby
from paddle._pserver.service.ports import listen
from paddle._pserver.service.refusals import Refusals
from paddle._pserver.shard.ending import Outcome
from paddle._pserver.shard.roster import Standing
from paddle._pserver.shard.shard import Shard
from paddle._pserver.snapshots.recovery import Kept
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import Gate, Token
from paddle._pserver.trust.tls import Certificate
from tests.ports import LOOKED_AMONG, are_held, hold
from tests.waiting import PATIENCE_S, until

from .hurried import Hurried

HOSTS = ("127.0.0.1", "127.0.0.2")
TIMEOUT_S = PATIENCE_S
DENSE_ONLY = (ParameterSpec(name="w", shape=(300,)),)
ONES = {"w": np.ones(300, np.float32)}


@dataclass
class Pservers:
    """Running pservers: what a trainer must know to find them, and their shards."""

    hosts: tuple[str, ...]
    port: int
    ports_num: int
    ports_num_for_sparse: int
    num_gradient_servers: int
    hubs: list[Hub] = field(default_factory=list)
    outcomes: list[asyncio.Task[Outcome]] = field(default_factory=list)
    runners: list[web.AppRunner] = field(default_factory=list)
    lobbies: list[Lobby] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def exchange(
        self, trainer_id: int, kind: Callable[..., RemoteExchange] = RemoteExchange, **options: Any
    ) -> RemoteExchange:
        known: dict[str, Any] = {
            "port": self.port,
            "ports_num": self.ports_num,
            "ports_num_for_sparse": self.ports_num_for_sparse,
            "num_gradient_servers": self.num_gradient_servers,
            "trainer_id": trainer_id,
            "connect_timeout_s": TIMEOUT_S,
            "call_timeout_s": TIMEOUT_S,
            "notice": lambda text: None,
        }
        return kind(self.hosts, **(known | options))

    def train(self, *trainers: Callable[[RemoteExchange], Any], **options: Any) -> list[Any]:
        """What the trainers return, each run in a thread with its exchange and closed after it."""

        def run(trainer_id: int) -> Any:
            exchange = self.exchange(trainer_id, **options)
            try:
                result = trainers[trainer_id](exchange)
            except BaseException as error:
                exchange.close(f"{type(error).__name__}: {error}")
                raise
            exchange.close()
            return result

        with ThreadPoolExecutor(len(trainers)) as pool:
            futures: list[Future[Any]] = [pool.submit(run, id) for id in range(len(trainers))]
            return [future.result(TIMEOUT_S) for future in futures]

    def statuses(self) -> list[int]:
        """The exit statuses of all shards, once they are over."""

        async def gather() -> list[Outcome]:
            return await asyncio.gather(*self.outcomes)

        return [outcome.exit_status for outcome in self._on_loop(gather())]

    def connections(self) -> int:
        """How many aiohttp believes to have."""
        return sum(len(runner.server.connections) for runner in self.runners if runner.server is not None)

    def _on_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(TIMEOUT_S)

    def call(self, work: Callable[[], Any]) -> Any:
        """Run ``work`` where the shards live."""

        async def run() -> Any:
            return work()

        return self._on_loop(run())

    def lose_patience(self, hub: Hub) -> None:
        """Let ``barrier_timeout_s`` pass for its shard, once a trainer waits there for one that was lost. So
        no test depends on how fast trainers came so far."""
        shard = hub.shard

        def is_waiting() -> bool:
            return bool(shard.barrier) and bool(shard.roster.ids(Standing.LOST))

        until(lambda: self.call(is_waiting), f"{hub.name} to wait for a trainer that was lost")
        self.call(lambda: hub._do(shard.tick(time.monotonic() + shard.options.barrier_timeout_s)))


Start = Callable[..., Pservers]


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Hurried:
    """Trainers come to shards by such a time."""
    made = Hurried()
    monkeypatch.setattr("paddle._pserver.trainer.approach.time", made)
    monkeypatch.setattr("paddle._pserver.trainer.meeting.Deadline", partial(Deadline, read=made.monotonic))
    return made


@pytest.fixture
def start_pservers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """``start(hosts=1, ports_num=1, ports_num_for_sparse=0, num_gradient_servers=1,
    barrier_timeout_s=...)``. A shard that has a name is met by it, however slow the machine is."""
    monkeypatch.setattr("paddle._pserver.trainer.approach.NEAR_S", TIMEOUT_S)
    with ExitStack() as stack:

        def start(
            hosts: int = 1,
            ports_num: int = 1,
            ports_num_for_sparse: int = 0,
            num_gradient_servers: int = 1,
            barrier_timeout_s: float = TIMEOUT_S,
            keepalive_timeout: float = 60.0,
            token: Token | None = None,
            is_nearby: bool = False,
            certificate: Certificate | None = None,
            log_period_server: int = 500,
            kept: Kept | None = None,
            cut_limit_bytes: int | None = None,
            gradient_bytes: int | None = None,
        ) -> Pservers:
            used = HOSTS[:hosts]
            listeners = free_ports(used, ports_num + ports_num_for_sparse)
            port = listeners[0].getsockname()[1]
            running = Pservers(used, port, ports_num, ports_num_for_sparse, num_gradient_servers)
            for index, _ in enumerate(listeners):
                role = "dense" if index % (ports_num + ports_num_for_sparse) < ports_num else "sparse"
                options = ShardOptions(
                    num_gradient_servers=num_gradient_servers,
                    roles=frozenset({role}),
                    barrier_timeout_s=barrier_timeout_s,
                    is_shown=is_nearby,
                    log_period_server=log_period_server,
                    snapshots=None
                    if kept is None
                    else SnapshotOptions(folder="nowhere", period=1, memory_bytes=cut_limit_bytes),
                    gradient_bytes=gradient_bytes,
                    cut_limit_bytes=1 << 62 if cut_limit_bytes is None else cut_limit_bytes,
                )
                running.hubs.append(Hub(Shard(options), f"{role} shard {index}", kept=kept))
            near = [nearby.beside(listener) if is_nearby else None for listener in listeners]
            stack.enter_context(serving(running, listeners, keepalive_timeout, token, near, certificate))
            return running

        yield start


def free_ports(hosts: Sequence[str], count: int, *, is_given: bool = False) -> list[socket.socket]:
    """Listening sockets on ``count`` consecutive ports, the same on every host.

    ``is_given``: a test will close them and start a process there, so they are held (ports.py), as they are
    not for as many as tests want for themselves. None is one of those that the system gives to connections,
    of which any could have it by then.
    """
    while True:
        first = secrets.choice(LOOKED_AMONG[:-count])
        sockets: list[socket.socket] = []
        with suppress(PortInUse):
            for host in hosts:
                sockets += [listen(host, port) for port in range(first, first + count)]
            ports = range(first, first + count)
            if hold(ports) if is_given else not are_held(ports):
                return sockets
        for taken in sockets:
            taken.close()


class serving:  # noqa: N801 - used as a function
    """Runs the hubs' applications on a loop in a thread."""

    def __init__(
        self,
        running: Pservers,
        listeners: Sequence[socket.socket],
        keepalive_timeout: float,
        token: Token | None = None,
        near: Sequence[socket.socket | None] = (),
        certificate: Certificate | None = None,
    ) -> None:
        self.near = near or [None] * len(listeners)
        self.running, self.listeners, self.keepalive_timeout = running, listeners, keepalive_timeout
        self.token, self.certificate = token, certificate
        self.thread = threading.Thread(target=running.loop.run_forever, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()
        self.running._on_loop(self._start())

    def __exit__(self, *error: object) -> None:
        self.running._on_loop(self._stop())
        self.running.loop.call_soon_threadsafe(self.running.loop.stop)
        self.thread.join(TIMEOUT_S)
        self.running.loop.close()

    async def _start(self) -> None:
        for hub, listener, near in zip(self.running.hubs, self.listeners, self.near, strict=True):
            shown = "" if self.certificate is None else self.certificate.name
            gate = Gate(self.token, partial(secrets.token_bytes, 32), shown) if self.token else None
            runner = web.AppRunner(application(hub, gate=gate), shutdown_timeout=1.0)
            await runner.setup()
            refusals = Refusals(logging.getLogger("paddle.pserver"), hub.name)
            speak = partial(Conversation, runner.server, refusals, keepalive_timeout=self.keepalive_timeout)
            lobby = Lobby(speak, refusals, self.running.num_gradient_servers, self.certificate)
            for opened in filter(None, (listener, near)):
                lobby.open(opened)
            self.running.lobbies.append(lobby)
            self.running.runners.append(runner)
            self.running.outcomes.append(asyncio.create_task(hub.outcome()))

    async def _stop(self) -> None:
        for hub in self.running.hubs:
            hub.stop("the test is over")
        await asyncio.gather(*self.running.outcomes)
        for lobby in self.running.lobbies:
            await lobby.close()
        for runner in self.running.runners:
            await runner.cleanup()
        await (
            self.running.loop.shutdown_default_executor()
        )  # threads that write snapshots ask the loop for pieces


# A model with everything in it, and gradients for it.

DENSE = ParameterSpec(name="w", shape=(70, 60), l2_rate=0.01)
BIAS = ParameterSpec(name="b", shape=(60,), learning_rate=2.0)
TABLE = ParameterSpec(name="emb", shape=(50, 6), sparse=True, l2_rate=0.02)
OTHER_TABLE = ParameterSpec(name="emb2", shape=(7, 3), sparse=True)
MODEL = (DENSE, TABLE, BIAS, OTHER_TABLE)


def update(rule: str = "sgd", **changes: Any) -> UpdateSpec:
    schedule = ScheduleSpec(name="discexp", learning_rate=0.1, decay_a=0.9, decay_b=20)
    return UpdateSpec(rule=RuleSpec(name=rule), schedule=schedule, **changes)


def values_of(model: Sequence[ParameterSpec], seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {p.name: random.standard_normal(p.shape).astype(np.float32) for p in model}


def start(exchange: Exchange) -> Any:
    return exchange.start(DENSE_ONLY, update(), ONES)
