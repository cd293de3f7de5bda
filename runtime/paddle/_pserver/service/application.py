"""Application: the HTTP face of one shard. Health, what can be seen of it, and the door to sessions.

    GET /healthz      200 while the shard serves
    GET /             what can be seen, for people with a browser
    GET /v1/status    the same as JSON
    GET /metrics      the same for Prometheus
    GET /v1/session   with ``Upgrade: paddle-pserver/1``: 101, then frames (framing.py) in both directions

Where there is a gate, a session wants the job's token (auth.py): 401 is a challenge, 403 a wrong answer to
one, 429 too many of them. To look one needs nothing on this machine itself, the view key from elsewhere.

It must never know what is trained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from ipaddress import ip_address

import msgspec
from aiohttp import web

from paddle._pserver.options import Role
from paddle._pserver.protocol.paths import SESSION_PATH, UPGRADE
from paddle._pserver.service import door, metrics, report_page
from paddle._pserver.service.hub import Hub
from paddle._pserver.service.report import Report
from paddle._pserver.trust.auth import Gate

Place = tuple[str, int, Role]
"""Address, port and role of a shard."""


def application(
    hub: Hub,
    places: Sequence[Place] = (),
    gate: Gate | None = None,
    links: Sequence[report_page.Link] = (),
) -> web.Application:
    """The routes of a shard. ``places``: it and those that were started with it; ``links``: the same, where
    they are known."""

    hub.door = partial(door.seen, gate)

    def look(request: web.Request) -> Report:
        door.check_look(gate, request)
        return hub.report()

    async def healthz(request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def show_page(request: web.Request) -> web.Response:
        beside = links or list(_links(places, *door.place_asked(request), request.scheme))
        shown = report_page.html(look(request), beside)
        policy = {"Content-Security-Policy": report_page.POLICY}
        return web.Response(text=shown, content_type="text/html", headers=policy)

    async def show_status(request: web.Request) -> web.Response:
        return web.Response(body=msgspec.json.encode(look(request)), content_type="application/json")

    async def show_metrics(request: web.Request) -> web.Response:
        text = metrics.text(look(request))
        return web.Response(body=text.encode(), headers={"Content-Type": metrics.CONTENT_TYPE})

    async def session(request: web.Request) -> web.Response:
        return await _session(hub, gate, request)

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/", show_page)
    app.router.add_get("/v1/status", show_status)
    app.router.add_get("/metrics", show_metrics)
    app.router.add_get(SESSION_PATH, session)
    return app


def _links(places: Sequence[Place], host: str, port: int, scheme: str = "http") -> Iterator[report_page.Link]:
    """Where the pages of ``places`` are, seen from the one at ``host:port``."""
    for address, at, role in places:
        is_this = at == port and address in (host, "0.0.0.0", "::")
        seen = host if address in ("0.0.0.0", "::") else address
        written = f"[{seen}]" if _is_v6(seen) else seen
        yield f"{role} {written}:{at}", "" if is_this else f"{scheme}://{written}:{at}/"


def _is_v6(address: str) -> bool:
    try:
        return ip_address(address).version == 6
    except ValueError:  # a name
        return False


async def _session(hub: Hub, gate: Gate | None, request: web.Request) -> web.Response:
    """Hand the connection over to a session and wait for its end; what is returned then reaches nobody."""
    proof = door.admit(gate, request)
    if request.headers.get("Upgrade") != UPGRADE:
        raise web.HTTPUpgradeRequired(text=f"this is for trainers, which ask to upgrade to {UPGRADE}\n")
    if hub.crowded:
        raise web.HTTPServiceUnavailable(text="too many connections are waiting to say Hello: try again\n")
    if request.transport is None:
        raise ConnectionResetError("the trainer left before it was let in")
    request.protocol.keep_alive(False)  # else aiohttp's timer closes the connection when it seems idle
    request.transport.write(_switching(proof))
    opened = hub.open(request.transport, request.protocol)
    await opened.closed
    return web.Response()


def _switching(headers: Mapping[str, str]) -> bytes:
    told = {"Upgrade": UPGRADE, "Connection": "Upgrade", **headers}
    lines = ["HTTP/1.1 101 Switching Protocols", *(f"{name}: {value}" for name, value in told.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")
