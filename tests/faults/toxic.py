"""Toxic: TCP proxies between real trainers and real pservers, which harm what passes them when they are told.

A link is one address and port that a trainer is told, and the pserver behind it. Links run on a loop in a
thread of their own; every method may be called from any thread. It must never know what passes.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from paddle._pserver.service.ports import listen
from tests.waiting import PATIENCE_S

Way = Literal["up", "down"]  # to the pserver, from it
Place = tuple[str, int]

_CHUNK_BYTES = 1 << 16
_RESET = struct.pack("ii", 1, 0)  # of SO_LINGER: closing is a reset then


@dataclass(frozen=True, slots=True)
class Harm:
    """What happens once ``after`` bytes more have passed ``way``: a flipped bit, a reset, or all that comes
    after it is swallowed. ``name``: by which it is counted, if not by its kind."""

    kind: Literal["flip", "reset", "swallow"]
    way: Way
    after: int
    name: str = ""


@dataclass(slots=True, eq=False)
class _Wire:
    """One connection through a link."""

    near: socket.socket
    far: socket.socket
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    swallows: set[Way] = field(default_factory=set)

    async def reset(self) -> None:
        """Both sides see a reset, and lose what was on its way."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)  # a socket that is waited for stays open
        for end in (self.near, self.far):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            end.close()


class Link:
    """See the module's text. ``done``: how often each harm really came to pass."""

    def __init__(self, loop: asyncio.AbstractEventLoop, at: Place, to: Place, chances: random.Random) -> None:
        self.at, self.to = at, to
        self.delay_s = (0.0, 0.0)  # of every piece, at least and at most
        self.done: Counter[str] = Counter()
        self._loop, self._chances = loop, chances
        self._harms: list[tuple[Harm, int]] = []  # and how many bytes are left until then
        self._light = asyncio.Event()
        self._light.set()
        self._wires: set[_Wire] = set()
        self._dropping: set[asyncio.Task[None]] = set()
        self._listener = listen(*at)
        self._listener.setblocking(False)

    # What a test tells it.

    def plan(self, harm: Harm) -> None:
        """Do this harm, once."""
        self._loop.call_soon_threadsafe(self._harms.append, (harm, harm.after))

    def reset(self) -> None:
        """Reset all connections."""
        self._loop.call_soon_threadsafe(self._reset)

    def dark(self, is_dark: bool) -> None:
        """While it is, connections stay, and nothing passes either way."""
        self._loop.call_soon_threadsafe(self._light.clear if is_dark else self._light.set)

    def heal(self) -> None:
        """Harm nothing that comes from now on; connections from which something was swallowed are reset."""
        self._loop.call_soon_threadsafe(self._heal)

    # On the loop.

    def _heal(self) -> None:
        self.delay_s = (0.0, 0.0)
        self._harms.clear()
        self._light.set()
        for wire in [wire for wire in self._wires if wire.swallows]:
            self._drop(wire)

    async def serve(self) -> None:
        while True:
            near, _ = await self._loop.sock_accept(self._listener)
            near.setblocking(False)
            far = socket.socket(socket.AF_INET)
            far.setblocking(False)
            far.bind((self.at[0], 0))  # so that pservers tell links apart in their logs
            try:
                await self._loop.sock_connect(far, self.to)
            except OSError:
                near.close()
                far.close()
                continue
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = _Wire(near, far)
            self._wires.add(wire)
            wire.tasks = [self._loop.create_task(self._pump(wire, way)) for way in ("up", "down")]

    def close(self) -> None:
        self._listener.close()
        self._reset()

    def _reset(self) -> None:
        self.done["reset"] += len(self._wires)
        for wire in list(self._wires):
            self._drop(wire)

    def _drop(self, wire: _Wire) -> None:
        if wire in self._wires:
            self._wires.discard(wire)
            self._dropping.add(task := self._loop.create_task(wire.reset()))
            task.add_done_callback(self._dropping.discard)

    async def _pump(self, wire: _Wire, way: Way) -> None:
        source, sink = (wire.near, wire.far) if way == "up" else (wire.far, wire.near)
        with contextlib.suppress(OSError):
            while data := await self._loop.sock_recv(source, _CHUNK_BYTES):
                await self._light.wait()
                if self.delay_s[1]:
                    await asyncio.sleep(self._chances.uniform(*self.delay_s))
                if data := self._harmed(data, wire, way):
                    await self._loop.sock_sendall(sink, data)
            if way not in wire.swallows:
                sink.shutdown(socket.SHUT_WR)
                return await self._end(wire)
        return self._drop(wire)

    async def _end(self, wire: _Wire) -> None:
        """One side has said its last word: the wire is over when the other has, too."""
        wire.tasks.remove(asyncio.current_task())  # type: ignore[arg-type]
        if not wire.tasks:
            self._wires.discard(wire)
            wire.near.close()
            wire.far.close()

    def _harmed(self, data: bytes, wire: _Wire, way: Way) -> bytes:
        due, left = [], []
        for harm, bytes_left in self._harms:
            rest = bytes_left - len(data) * (harm.way == way)
            (due if rest < 0 else left).append((harm, rest))
        self._harms = left
        for harm, rest in due:
            self.done[harm.name or harm.kind] += 1
            at = len(data) + rest
            match harm.kind:
                case "flip":
                    data = data[:at] + bytes([data[at] ^ 1 << self._chances.randrange(8)]) + data[at + 1 :]
                case "swallow":
                    wire.swallows.add(way)
                    return data[:at]
                case "reset":
                    with contextlib.suppress(OSError):
                        (wire.far if way == "up" else wire.near).send(data[:at])
                    raise ConnectionResetError
        return b"" if way in wire.swallows else data


class Links:
    """Links on a loop in a thread. ``with Links() as links: links.add(...)``."""

    def __init__(self, seed: int = 0) -> None:
        self._chances = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._links: list[Link] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._thread = threading.Thread(target=self._loop.run_forever, name="toxic", daemon=True)

    def __enter__(self) -> Links:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(PATIENCE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()

    def add(self, at: Place, to: Place) -> Link:
        """A link that is open when this returns."""
        link = Link(self._loop, at, to, random.Random(self._chances.random()))
        self._links.append(link)
        asyncio.run_coroutine_threadsafe(self._serve(link), self._loop).result(PATIENCE_S)
        return link

    async def _serve(self, link: Link) -> None:
        self._tasks.append(asyncio.create_task(link.serve()))

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for link in self._links:
            link.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*others, return_exceptions=True)
