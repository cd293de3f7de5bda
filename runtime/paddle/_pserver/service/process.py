"""Process: the life of one shard in its own operating system process, from listening sockets to an exit
status.

It must never speak with the other shards.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence

from paddle._pserver.errors import PserverError
from paddle._pserver.options import ShardOptions
from paddle._pserver.service.application import Place, application
from paddle._pserver.service.ear import Ear
from paddle._pserver.service.foundation import Foundation, loop
from paddle._pserver.service.hub import Hub
from paddle._pserver.trust.auth import Token
from paddle._pserver.trust.tls import Certificate
from paddle._pserver.watcher import Watcher

_WORD_S = 0.1  # a word that was said before a signal, to the parent, is here by then

_log = logging.getLogger("paddle.pserver")


def run(
    options: ShardOptions,
    listeners: Sequence[socket.socket],
    name: str,
    on_ready: Callable[[], None],
    watcher: Watcher,
    places: Sequence[Place],
    token: Token | None = None,
    certificate: Certificate | None = None,
    ear: int | None = None,
) -> int:
    """Serve until the shard is over; returns the exit status. SIGTERM ends it before its time.

    ``places``: this shard and those that were started with it, for people to look at. ``token``: trainers
    must have it. ``certificate``: it is shown to them, and all that comes over TCP is encrypted. ``ear``: a
    descriptor on which it is told what becomes of the job's processes.
    """
    with loop() as runner:
        ground = Foundation(watcher, token, certificate)
        return runner.run(_serve(options, listeners, name, on_ready, watcher, places, ground, ear))


async def _serve(
    options: ShardOptions,
    listeners: Sequence[socket.socket],
    name: str,
    on_ready: Callable[[], None],
    watcher: Watcher,
    places: Sequence[Place],
    ground: Foundation,
    ear: int | None,
) -> int:
    try:
        hub, _ = ground.hub(options, name)
    except (PserverError, OSError) as error:
        _log.error("%s: %s", name, error)
        watcher.broken(name, str(error), (), is_own=True)
        return error.exit_status if isinstance(error, PserverError) else 1
    trainers = options.num_gradient_servers
    async with ground.open(application(hub, places, ground.gate), listeners, name, trainers):
        news = Ear(ear, hub.hear)
        hub.hear_all = news.read
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _heed, news, hub, os.getppid())
        news.listen()
        _log.info("%s: serves %d trainers", name, trainers)
        on_ready()
        outcome = await hub.outcome()
    _log.log(logging.ERROR if outcome.exit_status else logging.INFO, "%s: ends: %s", name, outcome.text)
    return outcome.exit_status


def _heed(news: Ear, hub: Hub, parent: int) -> None:
    """Told to stop: whoever runs the job says why before it, by way of the parent, which may be slower. One
    that is gone says nothing: then the shard answers nobody any more."""

    def stop() -> None:
        news.read()
        hub.stop("the pserver was told to stop")

    if os.getppid() != parent:
        stop()
    else:
        asyncio.get_running_loop().call_later(_WORD_S, stop)
