"""Foundation: what shards of one process stand on, be it one (process.py) or several (endpoint.py): a loop,
who is let in, and the way to each.

It must never know why they end. Guarantee: what a shard begins from is whole, or an error says why there is
none.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial

from aiohttp import web

from paddle._pserver.options import ShardOptions
from paddle._pserver.service import descriptors
from paddle._pserver.service.hub import Hub
from paddle._pserver.service.reception import reception
from paddle._pserver.service.wakeful_selector import WakefulSelector
from paddle._pserver.snapshots.recovery import Kept, begin
from paddle._pserver.trust.auth import Gate, Token
from paddle._pserver.trust.tls import Certificate
from paddle._pserver.watcher import Watcher


def loop() -> asyncio.Runner:
    """What they run in."""
    descriptors.allow_many()
    return asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(WakefulSelector()))


class Foundation:
    """``token``: trainers must have it. ``certificate``: it is shown to them, and all that comes over TCP is
    encrypted."""

    def __init__(self, watcher: Watcher, token: Token | None, certificate: Certificate | None) -> None:
        self.watcher, self._certificate = watcher, certificate
        shown = "" if certificate is None else certificate.name
        self.gate = None if token is None else Gate(token, partial(secrets.token_bytes, 32), shown)

    def hub(self, options: ShardOptions, name: str) -> tuple[Hub, Kept | None]:
        """A shard with its connections, and its snapshots, where it keeps any. Raises as ``begin`` does."""
        shard, kept = begin(options, name)
        return Hub(shard, name, self.watcher, kept), kept

    def open(
        self, app: web.Application, listeners: Sequence[socket.socket], name: str, trainers: int
    ) -> AbstractAsyncContextManager[None]:
        """Let people and trainers in."""
        return reception(app, listeners, name, trainers, self._certificate)
