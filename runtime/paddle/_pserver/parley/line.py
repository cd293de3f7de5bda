"""Line: one process's connection to the place where those of its job meet, made where there is none.

It must never know what is said. Guarantee: what asking again may mend is an OSError or an HTTPException;
everything else is a ParleyError at once, which names the place and what is to be done.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable
from typing import Any

import msgspec

from paddle._pserver.parley.errors import HostUnreachable, NotOfThisJob, OtherWorld, RankMissing
from paddle._pserver.tasks.errors import MasterNotAuthorized
from paddle._pserver.tasks.handshake import Proof, prove

Place = tuple[str, int]
_WHOSE = (
    "The address is that of PADDLE_GLOO_HTTP_ENDPOINT, or of the file in PADDLE_GLOO_FS_PATH: give each job "
    "its own, with a port that nobody else listens on"
)


class Line:
    """``place()`` says where to meet, None while nobody knows. ``who``: this process, as errors name it."""

    def __init__(self, place: Callable[[], Place | None], who: str, proof: Proof | None = None) -> None:
        self._place, self._who, self._proof = place, who, proof
        self._connection: http.client.HTTPConnection | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody was found, and has not been lost."""
        return self._connection is not None

    @property
    def where(self) -> str:
        """Where the place is."""
        place = self._place()
        return "no place that was named" if place is None else f"{place[0]}:{place[1]}"

    def ask(self, route: str, message: Any, answer_s: float) -> bytes:
        """What is answered within that time."""
        try:
            return self._asked(route, message, answer_s)
        except http.client.BadStatusLine as error:
            self.close()
            if isinstance(error, OSError):  # nothing was answered: the connection is lost
                raise
            raise self._other(f"does not speak HTTP ({error!r})") from error
        except Exception:
            self.close()
            raise

    def close(self) -> None:
        """Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def unreachable(self, error: Exception, waited_s: float) -> HostUnreachable:
        """The error where asking again did not help."""
        return HostUnreachable(
            f"{self._who} found nobody for {waited_s:.0f} s at {self.where} ({error}). Server 0 or worker 0 "
            "holds the place where processes meet (PADDLE_GLOO_HTTP_ENDPOINT, or in PADDLE_GLOO_FS_PATH) "
            "while it runs: look at its log"
        )

    def _asked(self, route: str, message: Any, answer_s: float) -> bytes:
        connection = self._connection or self._connected(answer_s)
        assert connection.sock is not None
        connection.sock.settimeout(answer_s)
        connection.request("POST", f"/v1/{route}", msgspec.msgpack.encode(message))
        response = connection.getresponse()
        body = response.read()
        if response.status == 200:
            return body
        said = body.decode("utf-8", "replace").strip()
        if response.status == 409:
            raise RankMissing(said)
        if response.status == 422:
            raise OtherWorld(said)
        if response.status in (401, 403):
            raise NotOfThisJob(
                f"{self._who} cannot join the others at {self.where}: it requires its job's token, and this "
                f"process has none. Give PADDLE_TOKEN_FILE to all processes of the job. {_WHOSE}"
            )
        if 400 <= response.status < 500:
            raise self._other(f"answers HTTP status {response.status}: {said or 'nothing'}")
        raise http.client.HTTPException(f"HTTP status {response.status}: {said}")

    def _connected(self, answer_s: float) -> http.client.HTTPConnection:
        place = self._place()
        if place is None:
            raise ConnectionRefusedError("nobody has said yet where to meet")
        made = self._connection = http.client.HTTPConnection(*place, timeout=answer_s)
        made.connect()
        if self._proof is not None:
            try:
                prove(made, self._proof, self.where)
            except MasterNotAuthorized as error:
                raise NotOfThisJob(
                    f"{self._who} cannot join the others at {self.where}: it does not have the token of this "
                    f"job. Give the same PADDLE_TOKEN_FILE to all processes of the job. {_WHOSE}"
                ) from error
        return made

    def _other(self, what: str) -> NotOfThisJob:
        return NotOfThisJob(
            f"{self._who} cannot join the others at {self.where}: what listens there belongs to no job, it "
            f"{what}. {_WHOSE}"
        )
