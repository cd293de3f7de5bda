"""Admitted: a master's side of the handshake by which trainers show that they have its token.

It must never know a task. Guarantee: of a master with a token nobody gets an answer, on a connection that has
not proved it, but why.
"""

from __future__ import annotations

from weakref import WeakSet

from aiohttp import web

from paddle._pserver.service import door
from paddle._pserver.tasks.errors import MasterNotAuthorized
from paddle._pserver.tasks.handshake import HOW
from paddle._pserver.trust.auth import Gate


class Admitted:
    """The connections that have proved it. ``gate``: None where nobody needs to."""

    def __init__(self, gate: Gate | None) -> None:
        self._gate = gate
        self._transports: WeakSet[object] = WeakSet()

    async def answer(self, request: web.Request) -> web.Response:
        """To GET on ``SESSION``."""
        if self._gate is None:
            return web.Response(status=404, text="this master knows no token\n")
        headers = door.admit(self._gate, request)
        self._transports.add(request.transport)
        return web.Response(text="ok\n", headers=headers)

    def check(self, request: web.Request) -> None:
        """Raise MasterNotAuthorized on a connection that has not proved it."""
        if self._gate is not None and request.transport not in self._transports:
            raise MasterNotAuthorized(f"it serves trainers with a token only. {HOW}")

    def check_look(self, request: web.Request) -> None:
        """Raise an answer for somebody who may not look."""
        if self._gate is not None:
            door.check_look(self._gate, request)
