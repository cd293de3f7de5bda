"""Application: the HTTP face of one shard. Health, status, and the door to sessions.

    GET /healthz      200 while the shard serves
    GET /v1/status    its state as JSON
    GET /v1/session   with ``Upgrade: paddle-pserver/1``: 101, then frames (framing.py) in both directions

It must never know what is trained.
"""

from __future__ import annotations

import time

from aiohttp import web

from paddle._pserver.hub import Hub
from paddle._pserver.link import SESSION_PATH, UPGRADE
from paddle._pserver.status import status

_SWITCHING = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\nConnection: Upgrade\r\n\r\n".encode(
    "ascii"
)


def application(hub: Hub) -> web.Application:
    """The routes of a shard."""

    async def healthz(request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def show_status(request: web.Request) -> web.Response:
        shown = {"name": hub.name, "damaged_frames": hub.damaged_frames}
        return web.json_response(shown | status(hub.shard, time.monotonic()))

    async def session(request: web.Request) -> web.Response:
        return await _session(hub, request)

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/v1/status", show_status)
    app.router.add_get(SESSION_PATH, session)
    return app


async def _session(hub: Hub, request: web.Request) -> web.Response:
    """Hand the connection over to a session and wait for its end; what is returned then reaches nobody."""
    if request.headers.get("Upgrade") != UPGRADE:
        raise web.HTTPUpgradeRequired(text=f"this is for trainers, which ask to upgrade to {UPGRADE}\n")
    if hub.crowded:
        raise web.HTTPServiceUnavailable(text="too many connections are waiting to say Hello: try again\n")
    if request.transport is None:
        raise ConnectionResetError("the trainer left before it was let in")
    request.protocol.keep_alive(False)  # else aiohttp's timer closes the connection when it seems idle
    request.transport.write(_SWITCHING)
    opened = hub.open(request.transport, request.protocol)
    await opened.closed
    return web.Response()
