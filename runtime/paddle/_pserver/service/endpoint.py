"""Endpoint: a parameter server behind one port, in the process that calls: a dense and a sparse shard for
each group of parameters that has a rule of its own.

The first dense shard has the paths that every shard has; the others have them below ``/sparse``, ``/1``,
``/1/sparse``... Each is a shard like any other: with sessions, a clock, a page and snapshots of its own.

1.  It is over when all shards are to which a trainer ever came: one without sparse parameters goes to dense
    shards only, and most jobs have one group.
2.  Where one of them ends badly the others are stopped, and tell their trainers why.
3.  Where who runs another process of the job says that it has fallen, all are stopped, and tell their
    trainers which one, and how. It is the job's end also where no trainer has come yet.
4.  SIGINT and SIGTERM, where this is the main thread, stop all: trainers are told, and what was written
    stays. That is how people and launchers end a server, and no failure.

It must never know who calls. Guarantee: when ``serve`` returns, or raises, the port is free, all connections
are closed, and signals mean what they meant before.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from paddle._pserver.errors import JobFailed
from paddle._pserver.memory.claims import Claims
from paddle._pserver.options import Role, SnapshotOptions
from paddle._pserver.protocol.messages import Fallen
from paddle._pserver.protocol.paths import MOST_GROUPS, prefix
from paddle._pserver.service.application import application
from paddle._pserver.service.ear import Ear
from paddle._pserver.service.foundation import Foundation, loop
from paddle._pserver.service.hub import Hub
from paddle._pserver.service.orders import cut_memory_for, memory_for, orders
from paddle._pserver.service.ports import listen
from paddle._pserver.shard.ending import Outcome
from paddle._pserver.shard.roster import Standing
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import Token
from paddle._pserver.trust.tls import Certificate
from paddle._pserver.watcher import Unwatched, Watcher
from paddle._visible import paragraph

_ROLES: tuple[Role, ...] = ("dense", "sparse")
_STOPPING = (signal.SIGINT, signal.SIGTERM)

_log = logging.getLogger("paddle.pserver")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """What an endpoint is told. ``address``: a name or number of this machine; ``port``: 0 for any that is
    free. ``snapshots``: its folder has one for each shard; ``tables``, ``arrays``: see ShardOptions; the
    others: see ServerOptions."""

    address: str
    port: int
    trainers: int = 1
    barrier_timeout_s: float = 600.0
    log_period_server: int = 500
    memory_limit_bytes: int = 0
    snapshots: SnapshotOptions | None = None
    is_nearby: bool = True
    tables: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    arrays: Mapping[str, tuple[Any, int]] = field(default_factory=dict)


def serve(
    options: EndpointOptions,
    on_ready: Callable[[str, int], None] = lambda address, port: None,
    watcher: Watcher | None = None,
    token: Token | None = None,
    certificate: Certificate | None = None,
    news: int | None = None,
) -> bool:
    """Serve until all trainers have said goodbye or are gone for good; whether that was so, and no signal
    ended it before.

    ``on_ready``: told where it listens, once it does. ``news``: a descriptor on which whoever runs the job's
    processes says what becomes of them (ear.py). Raises PortInUse, NotOurs, and JobFailed, which says why,
    where the job did not end well.
    """
    with contextlib.ExitStack() as endings:
        listener = endings.enter_context(listen(options.address, options.port))
        port = listener.getsockname()[1]
        listeners = [listener]
        near = nearby.beside(listener) if options.is_nearby else None
        if near is not None:  # its name is free before the port is
            listeners.insert(0, endings.enter_context(near))
        ready = partial(on_ready, options.address, port)
        own = replace(options, port=port)
        ground = Foundation(watcher or Unwatched(), token, certificate)
        with _signals_kept(), loop() as runner:
            served = _Served(own, ground, endings, news)
            outcome = runner.run(served.run(listeners, ready))
    if outcome.exit_status and not served.was_stopped:
        raise JobFailed(f"the parameter server at {options.address}:{port} ended: {outcome.text}")
    return not served.was_stopped


class _Served:
    """The shards of one endpoint. ``endings``: has what they hold as long as they serve."""

    def __init__(
        self, options: EndpointOptions, ground: Foundation, endings: contextlib.ExitStack, news: int | None
    ) -> None:
        self._options, self._ground, self._endings = options, ground, endings
        self._ear = Ear(news, lambda word: self._hear_of(Fallen(word.text, word.trainer, word.other)))
        self._where = f"{options.address}:{options.port}"
        self._serving, self._limit_bytes = secrets.token_hex(8), memory_for(options)
        self._claims = Claims(self._limit_bytes)
        keys: Iterable[tuple[Role, int]] = ((role, group) for group in range(MOST_GROUPS) for role in _ROLES)
        self._hubs = {(role, group): self._hub(role, group) for role, group in keys}
        self.was_stopped = False
        self._fallen: Outcome | None = None
        for hub in self._hubs.values():
            hub.on_fallen, hub.hear_all = self._hear_of, self._ear.read

    def _hub(self, role: Role, group: int) -> Hub:
        options, name = self._options, _name(role, group, self._where)
        folder = "" if options.snapshots is None else Path(options.snapshots.folder, f"{role}-{group}")
        told = orders(
            options,
            role,
            folder,
            options.trainers,
            self._limit_bytes,
            cut_limit_bytes=cut_memory_for(options, len(_ROLES)),
            claims=self._claims,
            name=name,
            serving=self._serving,
            ends_with_all=True,
            tables=options.tables,
            arrays=options.arrays,
        )
        hub, kept = self._ground.hub(told, name)
        if kept is not None:
            self._endings.callback(kept.release)
        return hub

    async def run(self, listeners: Sequence[socket.socket], ready: Callable[[], None]) -> Outcome:
        """Serve on ``listeners`` until both are over."""
        options, name = self._options, f"pserver at {self._where}"
        first, *others = self._hubs
        gate = self._ground.gate
        app = application(self._hubs[first], links=self._links(first), gate=gate)
        for key in others:
            app.add_subapp(prefix(*key), application(self._hubs[key], links=self._links(key), gate=gate))
        async with self._ground.open(app, listeners, name, options.trainers):
            self._heed_signals()
            self._ear.listen()
            _log.info("%s: serves %d trainers", name, options.trainers)
            ready()
            outcome = await self._outcome()
        _log.info("%s: ends: %s", name, outcome.text)  # where it failed, the error says so
        return outcome

    def _links(self, own: tuple[Role, int]) -> list[tuple[str, str]]:
        """Of the first group: others are seldom there."""
        keys: list[tuple[Role, int]] = [(role, 0) for role in _ROLES]
        shown = keys if own in keys else [*keys, own]
        names = [f"{role} {self._where}{f' ({group})' * bool(group)}" for role, group in shown]
        return [
            (name, "" if key == own else f"{prefix(*key)}/") for key, name in zip(shown, names, strict=True)
        ]

    def _heed_signals(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in _STOPPING:
                asyncio.get_running_loop().add_signal_handler(number, self._stop, number)

    def _stop(self, number: signal.Signals) -> None:
        self._ear.read()  # perhaps it says why
        self.was_stopped = True
        _end(self._hubs.values(), f"the pserver was told to stop by {number.name}")

    def _hear_of(self, fallen: Fallen) -> None:
        """Rule 3; what broke the job first counts."""
        if self.was_stopped or self._fallen or any(hub.shard.broken for hub in self._hubs.values()):
            return
        is_known = fallen.trainer is not None and fallen.trainer < self._options.trainers
        culprits = (fallen.trainer,) if is_known and fallen.trainer is not None else ()
        reason = paragraph(fallen.text)
        self._fallen = Outcome(1, f"the job is broken: {reason}")
        other = paragraph(fallen.other)
        self._ground.watcher.broken(f"pserver at {self._where}", reason, culprits, is_own=False, other=other)
        _end(self._hubs.values(), reason, *culprits)

    async def _outcome(self) -> Outcome:
        """Rules 1, 2 and 3."""
        loop = asyncio.get_running_loop()
        waiting = {loop.create_task(hub.outcome()): hub for hub in self._hubs.values()}
        outcomes = [Outcome(0, "no trainer has come")]
        while waiting:
            ended, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            outcomes += [task.result() for task in ended if _has_ever_been_met(waiting.pop(task))]
            worst = max(reversed(outcomes), key=lambda each: each.exit_status)
            if worst.exit_status or not any(map(_has_ever_been_met, waiting.values())):
                _end(waiting.values(), worst.text)
        return self._fallen or worst


def _end(hubs: Iterable[Hub], why: str, *culprits: int) -> None:
    """Stop those to which trainers came, which tell them why, and leave the others."""
    for hub in hubs:
        if _has_ever_been_met(hub):
            hub.stop(why, *culprits)
        else:
            hub.leave()


def _has_ever_been_met(hub: Hub) -> bool:
    shard = hub.shard
    return shard.broken is not None or len(shard.roster.ids(Standing.EXPECTED)) < len(shard.roster.trainers)


def _name(role: Role, group: int, where: str) -> str:
    return f"{role} shard at {where}{f', group {group}' * bool(group)}"


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Signals mean afterwards what they mean now."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[signal.Signals, Any] = {number: signal.getsignal(number) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
