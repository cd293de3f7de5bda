"""Process: the life of one shard in its own operating system process, from listening sockets to an exit
status.

It must never speak with the other shards.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import secrets
import signal
import socket
from collections.abc import Callable, Sequence
from functools import partial

from aiohttp import web

from paddle._pserver.errors import PserverError
from paddle._pserver.options import ShardOptions
from paddle._pserver.service.application import Place, application
from paddle._pserver.service.conversation import Conversation
from paddle._pserver.service.hub import Hub
from paddle._pserver.service.lobby import Lobby
from paddle._pserver.service.refusals import Refusals
from paddle._pserver.service.wakeful_selector import WakefulSelector
from paddle._pserver.snapshots.recovery import begin
from paddle._pserver.trust.auth import Gate, Token
from paddle._pserver.trust.tls import Certificate
from paddle._pserver.watcher import Watcher

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
) -> int:
    """Serve until the shard is over; returns the exit status. SIGTERM ends it before its time.

    ``places``: this shard and those that were started with it, for people to look at. ``token``: trainers
    must have it. ``certificate``: it is shown to them, and all that comes over TCP is encrypted.
    """
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(WakefulSelector())) as runner:
        return runner.run(_serve(options, listeners, name, on_ready, watcher, places, token, certificate))


async def _serve(
    options: ShardOptions,
    listeners: Sequence[socket.socket],
    name: str,
    on_ready: Callable[[], None],
    watcher: Watcher,
    places: Sequence[Place],
    token: Token | None = None,
    certificate: Certificate | None = None,
) -> int:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # so that idle connections keep no trainer out
    try:
        shard, kept = begin(options, name)
    except (PserverError, OSError) as error:
        _log.error("%s: %s", name, error)
        watcher.broken(name, str(error), (), is_own=True)
        return error.exit_status if isinstance(error, PserverError) else 1
    hub = Hub(shard, name, watcher, kept)
    shown = "" if certificate is None else certificate.name
    gate = None if token is None else Gate(token, partial(secrets.token_bytes, 32), shown)
    runner = web.AppRunner(application(hub, places, gate), handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    assert runner.server is not None
    refusals = Refusals(_log, name)
    speak = partial(Conversation, runner.server, refusals)
    lobby = Lobby(speak, refusals, options.num_gradient_servers, certificate)
    for listener in listeners:
        lobby.open(listener)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, hub.stop, "the pserver was told to stop")
    _log.info("%s: serves %d trainers", name, options.num_gradient_servers)
    on_ready()
    try:
        outcome = await hub.outcome()
    finally:
        await lobby.close()
        await runner.cleanup()
    _log.log(logging.ERROR if outcome.exit_status else logging.INFO, "%s: ends: %s", name, outcome.text)
    return outcome.exit_status
