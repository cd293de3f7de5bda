"""Service: all pservers of one node. One process for every (address, port): real cores, no shared lock.

On every address, the dense shards have ports ``port`` to ``port + ports_num - 1`` and the sparse ones the
``ports_num_for_sparse`` ports that follow. It must never know a parameter.

Guarantee: either all ports are served or none; no process is left when ``serve`` returns. Where snapshots
are kept, a shard whose process is killed is started again on the same port and goes on from its newest one.
"""

from __future__ import annotations

import logging
import secrets
import socket
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from paddle._pserver.options import ServerOptions, SnapshotOptions
from paddle._pserver.service.children import Children
from paddle._pserver.service.orders import cut_memory_for, memory_for, orders
from paddle._pserver.service.ports import listen
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import Token
from paddle._pserver.trust.tls import Certificate
from paddle._pserver.watcher import Unwatched, Watcher

__all__ = ["ServerOptions", "SnapshotOptions", "serve"]

_log = logging.getLogger("paddle.pserver")


def serve(
    options: ServerOptions,
    on_ready: Callable[[list[tuple[str, int]]], None],
    watcher: Watcher | None = None,
    token: Token | None = None,
    certificate: Certificate | None = None,
    news: int | None = None,
) -> int:
    """Serve until the job is over; returns the exit status: 0 only if all went well. ``token``: trainers must
    have it. ``certificate``: it is shown to them, and what comes over TCP is encrypted. ``news``: where
    whoever runs the job's processes says what becomes of them (ear.py).

    To be called in the main thread. ``on_ready`` gets all (address, port), once all are served. Raises
    PortInUse before anything is served. SIGINT, SIGTERM and SIGHUP end all processes.
    """
    watcher = watcher or Unwatched()
    listeners = _listeners(options)
    children = Children(
        on_death=lambda name, how: watcher.broken(name, how, (), is_own=True),
        on_restart=watcher.restarted,
        news=news,
    )
    serving = options.serving or secrets.token_hex(8)
    for index, (address, port, _) in enumerate(options.places):
        work = partial(_shard, options, index, listeners, watcher, token, certificate, serving, children)
        children.fork(f"{address}:{port}", work, restarts=options.restarts if options.snapshots else 0)
    if not options.snapshots:  # else a shard that is started again needs its own
        _close(listeners)
    return children.wait(lambda: on_ready([(address, port) for address, port, _ in options.places]))


def _listeners(options: ServerOptions) -> list[list[socket.socket]]:
    """Those of every shard: that of its TCP port last, so that its name is free before the port is."""
    listeners: list[list[socket.socket]] = []
    try:
        for address, port, _ in options.places:
            listeners.append([listen(address, port)])
    except BaseException:
        _close(listeners)
        raise
    for own, (address, port, _) in zip(listeners, options.places, strict=True):
        near = nearby.beside(own[0]) if options.is_nearby else None
        if near is not None:
            own.insert(0, near)
        elif options.is_nearby:
            text = "another process has the name of its unix socket: all trainers come over TCP"
            _log.warning("%s:%d: %s", address, port, text)
    return listeners


def _close(listeners: Iterable[Sequence[socket.socket]]) -> None:
    for listener in chain.from_iterable(listeners):
        listener.close()


def _shard(
    options: ServerOptions,
    index: int,
    listeners: Sequence[Sequence[socket.socket]],
    watcher: Watcher,
    token: Token | None,
    certificate: Certificate | None,
    serving: str,
    children: Children,
    ready: Callable[[], None],
) -> int:
    """The life of shard number ``index`` of this node, in its own process."""
    _close(other for other in listeners if other is not listeners[index])
    # Loaded here, so that the parent stays small and forks no threads of a numeric library.
    from paddle._pserver.service.process import run

    address, port, role = options.places[index]
    limit_bytes = memory_for(options, len(options.places))
    folder = options.snapshot_folders[index] if options.snapshots else ""
    cut_bytes = cut_memory_for(options, len(options.places))
    own: dict[str, Any] = {
        "min_trainers": options.min_trainers,
        "cut_limit_bytes": cut_bytes,
        "gradient_bytes": options.gradient_bytes_of_each,
    }
    shard = orders(options, role, folder, options.num_gradient_servers, limit_bytes, serving=serving, **own)
    name = f"{role} shard at {address}:{port}"
    ear = children.ear
    return run(shard, listeners[index], name, ready, watcher, options.places, token, certificate, ear)
