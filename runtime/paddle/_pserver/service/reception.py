"""Reception: HTTP on listening sockets, from the first connection until it is closed.

It must never know what is behind a path. Guarantee: when it is over no socket of it is left.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from aiohttp import web

from paddle._pserver.service.conversation import Conversation
from paddle._pserver.service.lobby import Lobby
from paddle._pserver.service.refusals import Refusals
from paddle._pserver.trust.tls import Certificate

_log = logging.getLogger("paddle.pserver")


@asynccontextmanager
async def reception(
    app: web.Application,
    listeners: Sequence[socket.socket],
    name: str,
    trainers: int,
    certificate: Certificate | None = None,
) -> AsyncIterator[None]:
    """Serve ``app`` on ``listeners``, which belong to this then. ``name``: for people; ``certificate``: it is
    shown to ``trainers``, and all that comes over TCP is encrypted."""
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    assert runner.server is not None
    refusals = Refusals(_log, name)
    lobby = Lobby(partial(Conversation, runner.server, refusals), refusals, trainers, certificate)
    for listener in listeners:
        lobby.open(listener)
    try:
        yield
    finally:
        await lobby.close()
        await runner.cleanup()
