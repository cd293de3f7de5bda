"""Host: a process of the job in which the others meet, on a thread of its own.

    POST /v1/round   what a process tells; answered when all have told, with what they told it, or, when its
                     time is over, with whom it waits for
    POST /v1/here    it is alive
    POST /v1/leave   it comes no more
    GET  /v1/session where there is a token: the proof of it, for the whole connection

An answer of 409 says who is gone, one of 422 that processes were told different numbers of each other.

It must never know what is told. Guarantee: who waits is answered when all have come, when one that lacks has
left or is heard of no more, or when its time is over; who has not the job's token is told nothing. Who runs
the job may say that it goes on without a trainer (service/ear.py): that one is waited for no more.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import ref

import msgspec
from aiohttp import web

from paddle._pserver.errors import PserverError
from paddle._pserver.parley.errors import OtherWorld, ParleyError, RankMissing
from paddle._pserver.parley.messages import Heard, Here, Leave, Seat, Tell, Told, Waiting
from paddle._pserver.parley.presence import LEASE_S
from paddle._pserver.parley.rounds import Rounds
from paddle._pserver.service.ear import Ear, Word
from paddle._pserver.service.ports import listen
from paddle._pserver.tasks.admitted import Admitted
from paddle._pserver.tasks.handshake import SESSION
from paddle._pserver.trust.auth import Gate, Token

MOST_BYTES = 1 << 31
_AHEAD = (
    "has met the others more often, and comes to this meeting no more: a process that is started again "
    "counts its meetings from the first. Begin the whole job again"
)
_SILENT = "was there, and is not heard of for {:g} s: it hangs, or its machine is cut off"
LINGER_S = 3.0
"""How long the others are waited for when this process ends."""


class Host:
    """Serves from ``open`` to ``close``. ``lease_s``: who was heard of, and is not for so long, is gone.
    ``news``: where who runs the job speaks; None: nobody does. ``seats_of``: of a trainer, by its number."""

    def __init__(
        self,
        token: Token | None = None,
        lease_s: float = LEASE_S,
        clock: Callable[[], float] = time.monotonic,
        *,
        news: int | None = None,
        seats_of: Callable[[int], Iterable[Seat]] = lambda trainer: (),
    ) -> None:
        gate = None if token is None else Gate(token, partial(secrets.token_bytes, 32))
        self._rounds, self._lease_s, self._clock = Rounds(), lease_s, clock
        self._admitted = Admitted(gate)
        self._ear, self._seats_of = Ear(news, self._hear), seats_of
        self._loop = asyncio.new_event_loop()
        self._changed, self._stopped = asyncio.Condition(), asyncio.Event()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._saying: asyncio.Task[None] | None = None  # held, or it might be collected

    def open(self, address: str, port: int) -> tuple[str, int]:
        """Where it is met, now. Raises PortInUse or NotOurs."""
        listener = listen(address, port)
        os.register_at_fork(after_in_child=partial(_hang_up, ref(listener)))  # or it would hold the port
        self._thread = threading.Thread(target=self._serve, args=(listener,), name="parley", daemon=True)
        found: tuple[str, int] = listener.getsockname()[:2]
        self._thread.start()
        return found

    def close(self, linger_s: float = LINGER_S) -> None:
        """When all have left, or at the latest after ``linger_s``."""
        if self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._look)
        self._over.wait(linger_s)
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()
        self._thread = None

    def _serve(self, listener: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serving(listener))
        self._loop.close()

    async def _serving(self, listener: socket.socket) -> None:
        self._ear.listen()
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_get(SESSION, self._admitted.answer)
        app.router.add_post("/v1/round", self._handler(Tell, self._told))
        app.router.add_post("/v1/here", self._handler(Here, self._here))
        app.router.add_post("/v1/leave", self._handler(Leave, self._left))
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.5, access_log=None)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        await self._stopped.wait()
        await runner.cleanup()

    def _handler(
        self, kind: type[Any], work: Callable[[Any], Awaitable[msgspec.Struct]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handler(request: web.Request) -> web.Response:
            try:
                self._admitted.check(request)
                answer = await work(msgspec.msgpack.decode(await request.read(), type=kind))
            except msgspec.DecodeError as error:
                return web.Response(status=400, text=f"this is no {kind.__name__}: {error}")
            except OtherWorld as error:
                return web.Response(status=422, text=str(error))
            except PserverError as error:
                return web.Response(status=409 if isinstance(error, ParleyError) else 403, text=str(error))
            return web.Response(body=msgspec.msgpack.encode(answer))

        return handler

    async def _told(self, told: Tell) -> Told | Waiting:
        place = told.seat.world, told.round
        async with self._changed:
            self._rounds.tell(told.seat, told.round, told.parts, self._clock())
            self._changed.notify_all()
            with suppress(TimeoutError):
                await asyncio.wait_for(
                    self._changed.wait_for(
                        lambda: not self._rounds.missing(*place) or self._lost(*place, told.seat.rank)
                    ),
                    told.wait_s,
                )
            if not (missing := self._rounds.missing(*place)):
                return Told(self._rounds.answer(*place, told.seat.rank))
            if lost := self._lost(*place, told.seat.rank):
                raise RankMissing(lost)
            if gone := self._rounds.gone(*place, self._clock() - self._lease_s):
                raise RankMissing(_of(told.seat.world, gone, _SILENT.format(self._lease_s)))
            return Waiting(missing, self._rounds.unseen(*place))

    def _lost(self, world: str, round: int, rank: int) -> str:
        """Why a round will not be whole; empty while it may."""
        if lost := self._rounds.lost(world, round):
            return _of(world, lost, "has left")
        ahead = self._rounds.ahead(world, round, rank)
        return _of(world, ahead, _AHEAD) if ahead else ""

    async def _here(self, here: Here) -> Heard:
        for seat in here.seats:
            self._rounds.here(seat, self._clock())
        return Heard()

    async def _left(self, leave: Leave) -> Heard:
        for seat in leave.seats:
            self._rounds.leave(seat)
        await self._say_changed()
        return Heard()

    def _hear(self, word: Word) -> None:
        if word.goes_on and word.trainer is not None:
            for seat in self._seats_of(word.trainer):
                with suppress(OtherWorld):  # who comes to a world of another size is told so
                    self._rounds.spare(seat)
            self._saying = self._loop.create_task(self._say_changed())

    async def _say_changed(self) -> None:
        async with self._changed:
            self._changed.notify_all()
            self._look()

    def _look(self) -> None:
        if self._rounds.is_over():
            self._over.set()


def _of(world: str, ranks: list[int], what: str) -> str:
    return f"{', '.join(f'{world} {rank}' for rank in ranks)} {what}"


def _hang_up(listener: ref[socket.socket]) -> None:
    """In a child, which may outlive its parent."""
    found = listener()
    if found is not None:
        found.close()
