"""Conversation: aiohttp's side of one connection, which answers what is no HTTP in few words.

By itself aiohttp says it all back, and writes a traceback to the log for each: who has no token could fill a
disk with them. It must never know what is served. Guarantee: of what is wrong with a request the answer and
the log have the kind only, and the log as often as a purse allows (refusals.py).
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from aiohttp import web

from paddle._pserver.service.refusals import Refusals
from paddle._pserver.trust.auth import host_of


class Conversation(web.RequestHandler):
    """See the module's text. ``server``: to which it belongs."""

    def __init__(self, server: web.Server, refusals: Refusals, **options: Any) -> None:
        super().__init__(server, loop=asyncio.get_running_loop(), **(options | {"access_log": None}))
        self._refusals = refusals

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer a request that does not read, or whose handler failed."""
        is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        why = f"internal error: {exc!r}" if is_ours else f"it speaks no HTTP: {type(exc).__name__}"
        self._refusals.tell(host_of(request.remote or ""), why, exc if is_ours else None)
        if request.writer.output_size > 0:
            raise ConnectionError("a part of the answer is sent already")
        answer = web.Response(status=status, text=f"{HTTPStatus(status).phrase}\n")
        answer.force_close()
        return answer
