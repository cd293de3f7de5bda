"""Speaker: one process's side of where the processes of a job meet. Blocking.

It must never know what it tells. Guarantee: a call ends with what all have told, or by its deadline with an
error that names who is missing, or where nobody was found; an answer that was lost is asked for again.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from paddle._pserver.parley.errors import HostUnreachable, ParleyError, RankMissing
from paddle._pserver.parley.messages import Leave, Tell, Told
from paddle._pserver.tasks.errors import MasterNotAuthorized
from paddle._pserver.tasks.handshake import Proof, prove

PATIENCE_S = 600.0
_PAUSE_S = 0.05
_SPARE_S = 5.0
"""An answer may come this much later than it was asked to."""


class Speaker:
    """``rank``, one of ``size`` in ``world``. ``place()`` says where to meet, None while nobody knows."""

    def __init__(
        self,
        place: Callable[[], tuple[str, int] | None],
        *,
        world: str,
        rank: int,
        size: int,
        proof: Proof | None = None,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.world, self.rank, self.size = world, rank, size
        self._place, self._proof, self._patience_s = place, proof, patience_s
        self._clock, self._sleep = clock, sleep
        self._round = 0
        self._turn = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def exchange(self, parts: list[bytes]) -> list[bytes]:
        """Tell each rank its part, or all the same one; what each told this one, in their order."""
        with self._turn:
            body = self._asked(parts, self._clock() + self._patience_s)
            self._round += 1
        return msgspec.msgpack.decode(body, type=Told).parts

    def _asked(self, parts: list[bytes], deadline: float) -> bytes:
        """The answer, asked for until it comes."""
        while True:
            wait_s = max(deadline - self._clock(), 0.0)
            told = Tell(self.world, self.size, self.rank, self._round, parts, wait_s)
            try:
                return self._ask("round", told, wait_s + _SPARE_S)
            except (OSError, http.client.HTTPException) as error:
                self._close()
                if self._clock() >= deadline:
                    raise self._unreachable(error) from error
            self._sleep(_PAUSE_S)

    def leave(self) -> None:
        """This one comes no more."""
        with self._turn, suppress(OSError, http.client.HTTPException, ParleyError):
            if self._connection is not None:
                self._ask("leave", Leave(self.world, self.rank), _SPARE_S)
        self._close()

    def _ask(self, route: str, message: Any, answer_s: float) -> bytes:
        if self._connection is None:
            self._connect(answer_s)
        assert self._connection is not None and self._connection.sock is not None
        self._connection.sock.settimeout(answer_s)
        self._connection.request("POST", f"/v1/{route}", msgspec.msgpack.encode(message))
        response = self._connection.getresponse()
        body = response.read()
        if response.status == 200:
            return body
        said = body.decode("utf-8", "replace").strip()
        if response.status == 409:
            raise RankMissing(
                f"{self.world} {self.rank} waited for all {self.size} {self.world}s to meet (the "
                f"{self._round + 1}. time, up to {self._patience_s:g} s): {said}. Every {self.world} has to "
                "make the same calls (barrier, all_reduce, metrics...) in the same order; look at the log of "
                "the one named"
            )
        raise http.client.HTTPException(f"HTTP status {response.status}: {said}")

    def _connect(self, answer_s: float) -> None:
        place = self._place()
        if place is None:
            raise ConnectionRefusedError("nobody has said yet where to meet")
        self._connection = http.client.HTTPConnection(*place, timeout=answer_s)
        self._connection.connect()
        if self._proof is None:
            return
        try:
            prove(self._connection, self._proof, f"{place[0]}:{place[1]}")
        except MasterNotAuthorized as error:
            raise HostUnreachable(
                f"who is at {place[0]}:{place[1]}, where {self.world} {self.rank} is to meet the others, "
                "has not the token of this job (PADDLE_TOKEN_FILE): give it to all processes of the job"
            ) from error

    def _unreachable(self, error: Exception) -> HostUnreachable:
        place = self._place()
        where = "no place was named" if place is None else f"nobody answers at {place[0]}:{place[1]}"
        return HostUnreachable(
            f"{self.world} {self.rank} found no other for {self._patience_s:g} s: {where} ({error}). "
            "Server 0 or worker 0 holds that place (PADDLE_GLOO_HTTP_ENDPOINT, or in PADDLE_GLOO_FS_PATH) "
            "while it runs"
        )

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
