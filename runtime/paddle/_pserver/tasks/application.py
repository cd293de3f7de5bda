"""Application: the HTTP face of a master.

    POST /v1/dataset /v1/task /v1/finished /v1/failed /v1/release /v1/save_model
                      JSON in, JSON out (messages.py); an error is a 4xx or 503 with its name and text
    GET  /v1/session  where there is a token: the proof of it, for the whole connection (handshake.py)
    GET  /v1/status   how many tasks are where, as JSON
    GET  /healthz     200 while the master serves

It must never know what a task is. Guarantee: what is no request gets a 400 and changes nothing; a page in a
browser can send none: they are JSON by their content type, which no page of another site may send, and name
no origin, which a page does even where its own name leads here.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import hdrs, web

from paddle._pserver.tasks import messages
from paddle._pserver.tasks.admitted import Admitted
from paddle._pserver.tasks.errors import BadRequest, MasterError, MasterNotAuthorized, StateNotSaved
from paddle._pserver.tasks.handshake import SESSION
from paddle._pserver.tasks.master import Master
from paddle._pserver.trust.auth import Gate

JSON = "application/json"

_log = logging.getLogger("paddle.master")
_Work = Callable[[Any], Any]


def application(master: Master, gate: Gate | None = None) -> web.Application:
    """The routes of a master. ``gate``: who may ask."""
    admitted = Admitted(gate)

    async def set_dataset(request: web.Request) -> web.Response:
        return await _answer(admitted, request, messages.SetDataset, master.set_dataset)

    async def healthz(request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def status(request: web.Request) -> web.Response:
        admitted.check_look(request)
        return web.json_response(master.queue.counts())

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/v1/status", status)
    app.router.add_get(SESSION, admitted.answer)
    app.router.add_post("/v1/dataset", set_dataset)
    for path, kind, work in (
        ("task", messages.GetTask, master.get_task),
        ("finished", messages.TaskFinished, master.task_finished),
        ("failed", messages.TaskFailed, master.task_failed),
        ("release", messages.GiveBack, master.release),
        ("save_model", messages.RequestSaveModel, master.request_save_model),
    ):
        app.router.add_post(f"/v1/{path}", _handler(admitted, kind, work))
    return app


def _handler(
    admitted: Admitted, kind: type[msgspec.Struct], work: _Work
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def at_once(asked: Any) -> Any:
        return work(asked)

    async def handler(request: web.Request) -> web.Response:
        return await _answer(admitted, request, kind, at_once)

    return handler


async def _answer(
    admitted: Admitted,
    request: web.Request,
    kind: type[msgspec.Struct],
    work: Callable[[Any], Awaitable[Any]],
) -> web.Response:
    try:
        admitted.check(request)
        if request.content_type != JSON:
            raise BadRequest(f"the content type is {request.content_type}, not {JSON}")
        if hdrs.ORIGIN in request.headers:
            raise BadRequest("it comes from a page in a browser")
        answer = await work(_decoded(await request.read(), kind))
        return web.Response(body=msgspec.json.encode(answer), content_type=JSON)
    except MasterError as error:
        if isinstance(error, StateNotSaved):
            _log.error("%s", error)
        problem = messages.Problem(error=type(error).__name__, text=str(error))
        return web.Response(
            status=_STATUS.get(type(error), 409), body=msgspec.json.encode(problem), content_type=JSON
        )


def _decoded(body: bytes, kind: type[msgspec.Struct]) -> msgspec.Struct:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"this is no {kind.__name__}: {error}") from None


_STATUS: dict[type[MasterError], int] = {BadRequest: 400, MasterNotAuthorized: 403, StateNotSaved: 503}
