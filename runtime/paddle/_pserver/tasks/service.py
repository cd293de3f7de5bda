"""Service: the process of a master, from its addresses to an exit status.

It must never know how it was called. Guarantee: all addresses are served or none; a signal ends it with
128 and the signal's number, and with a state file loses nothing, as ``kill -9`` does not.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from paddle._pserver.service.conversation import Conversation
from paddle._pserver.service.ports import listen
from paddle._pserver.service.refusals import Refusals
from paddle._pserver.tasks.application import application
from paddle._pserver.tasks.master import Master
from paddle._pserver.tasks.queue import QueueOptions
from paddle._pserver.tasks.state_file import StateFile
from paddle._pserver.trust.auth import Gate, Token

__all__ = ["MasterOptions", "QueueOptions", "serve"]

_log = logging.getLogger("paddle.master")


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterOptions:
    """Where a master listens, what it hands out, and where it keeps its state: nowhere if ``state_file`` is
    empty."""

    addresses: tuple[str, ...]
    port: int
    queue: QueueOptions
    state_file: str = ""


def serve(
    options: MasterOptions,
    on_ready: Callable[[list[tuple[str, int]]], None],
    token: Token | None = None,
) -> int:
    """Serve until a signal comes. Raises PortInUse or StateNotSaved before anything is served. ``token``:
    trainers must have it."""
    with ExitStack() as opened:
        listeners = [opened.enter_context(listen(address, options.port)) for address in options.addresses]
        return asyncio.run(_serve(options, listeners, on_ready, token))


async def _serve(
    options: MasterOptions,
    listeners: list[socket.socket],
    on_ready: Callable[[list[tuple[str, int]]], None],
    token: Token | None,
) -> int:
    gate = None if token is None else Gate(token, partial(secrets.token_bytes, 32))
    runner = web.AppRunner(application(_master(options), gate), handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    assert runner.server is not None
    speak = partial(Conversation, runner.server, Refusals(_log, "master"))
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(speak, sock=listener) for listener in listeners]
    ended = _first_signal()
    on_ready([listener.getsockname()[:2] for listener in listeners])
    try:
        return 128 + await ended
    finally:
        for server in servers:
            server.close()
        await runner.cleanup()


def _master(options: MasterOptions) -> Master:
    file = StateFile(options.state_file) if options.state_file else None
    state = file.open() if file else None
    master = Master(options.queue, time.monotonic, file, state)
    if file and state:
        _log.info("goes on from %s: %s", file.path, master.queue.counts())
    return master


def _first_signal() -> asyncio.Future[int]:
    """The number of the first signal that is to end this; a SIGHUP that was ignored, by nohup, stays so."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not ended.done():
            ended.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:
            loop.add_signal_handler(number, end, number)
    return ended
