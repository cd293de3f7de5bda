"""Client: the trainer's side of the task queue. Blocking, over one connection at a time.

It must never know what a record holds.

Guarantee: a master that is away costs a call ``master_s`` seconds, then an error that names it and what was
tried. A request is repeated until it is answered, and counts once. ``records`` gives each record of a task
once: chunks are checked before the first record of their task is given, and a task is reported finished only
when the record after its last one is asked for.
"""

from __future__ import annotations

import http.client
import logging
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from paddle._pserver.tasks import messages
from paddle._pserver.tasks.errors import (
    BadAddress,
    MasterNotAuthorized,
    MasterUnreachable,
    NoDataset,
    NoMoreAvailable,
    PassAfter,
    PassBefore,
    StateNotSaved,
    error_named,
)
from paddle._pserver.tasks.handshake import Proof, prove
from paddle._recordio.chunks import check_chunk, read_chunk
from paddle._recordio.errors import RecordIOError

DEFAULT_PORT = 8080
PATIENCE_S = 60.0
"""How long a master may be away: time to start it again."""
_INDEXING_S = 600.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0

_Answer = TypeVar("_Answer", bound=msgspec.Struct)
_log = logging.getLogger("paddle.master")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """``answer_s``: how long one answer may take. ``master_s``: how long no answer at all may come."""

    answer_s: float = 5.0
    master_s: float = PATIENCE_S
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class MasterClient:
    """One trainer's talk with the master at ``address``: ``host:port``, with or without ``http://``.
    ``proof``: of the token, where this trainer has one."""

    def __init__(self, address: str, patience: Patience | None = None, proof: Proof | None = None) -> None:
        self._proof = proof
        self.host, self.port = _place(address)
        self._patience = patience or Patience()
        self._name = uuid.uuid4().hex
        self._requests = 0
        self._latest_pass = -1  # of which a task was read
        self._turn = threading.Lock()  # of the connection
        self._connection: http.client.HTTPConnection | None = None

    def set_dataset(self, globs: Sequence[str]) -> messages.DatasetSet:
        """Tell what to hand out. What another trainer told before counts, and a difference is logged."""
        asked = messages.SetDataset(globs=tuple(globs))
        answer = self._ask("dataset", asked, messages.DatasetSet, answer_s=_INDEXING_S)
        if answer.globs != asked.globs:
            _log.warning(
                "the master at %s serves %s already, so %s is not read: one master serves one data set",
                *(self.address, ", ".join(answer.globs), ", ".join(asked.globs)),
            )
        return answer

    def records(
        self,
        pass_id: int,
        wait_for_pending: bool = False,
        before_finished: Callable[[], object] = lambda: None,
    ) -> Iterator[bytes]:
        """Give the records of the tasks that this client gets in a pass, until it gets no more.
        ``before_finished`` is called before a task is reported so.

        That is when none is left to hand out; with ``wait_for_pending``, when those that others have are
        finished too, so that tasks of a trainer that died are read in the same pass.
        """
        while given := self._next_task(pass_id, wait_for_pending):
            self._latest_pass = pass_id
            try:
                for place in given.chunks:
                    check_chunk(place.path, place.offset)
                for place in given.chunks:
                    yield from read_chunk(place.path, place.offset)
            except (RecordIOError, OSError) as error:
                self._tell_failed(given, f"{type(error).__name__}: {error}")
            else:
                before_finished()
                self._tell_finished(given)

    def request_save_model(self, trainer: str, block_s: float) -> bool:
        """Whether this trainer is to save the model; then no other may for ``block_s``."""
        asked = messages.RequestSaveModel(trainer=trainer, block_s=block_s)
        return self._ask("save_model", asked, messages.SaveModel).is_saver

    def release(self) -> None:
        """Give back the task that this client has, if any, and close the connection."""
        try:
            with self._turn:
                self._once("release", messages.GiveBack(client=self._name), self._patience.answer_s)
        except (OSError, http.client.HTTPException, MasterNotAuthorized):
            _log.info("the master at %s was not there to take back a task", self.address)
        finally:
            self._close()

    @property
    def address(self) -> str:
        """Where the master is, for people."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def _next_task(self, pass_id: int, wait_for_pending: bool) -> messages.TaskGiven | None:
        """Wait for a task of the pass; None when it has no more for this client."""
        self._requests += 1
        asked = messages.GetTask(client=self._name, request=self._requests, pass_id=pass_id)
        deadline = self._patience.clock() + self._patience.master_s
        for pause in _pauses():
            try:
                return self._ask("task", asked, messages.TaskGiven)
            except PassBefore as error:
                if self._latest_pass != pass_id:
                    _log.warning("nothing of this pass is left for this trainer: %s", error)
                return None
            except NoMoreAvailable:
                if not wait_for_pending:
                    return None
            except PassAfter:
                pass  # the leases of the others end, so this does too
            except NoDataset:
                if self._patience.clock() >= deadline:
                    raise
            self._patience.sleep(pause)
        raise AssertionError("pauses never end")

    def _tell_finished(self, given: messages.TaskGiven) -> None:
        told = messages.TaskFinished(task=given.task, lease=given.lease)
        if not self._ask("finished", told, messages.Counted).counted:
            _log.info(
                "task %d was not this trainer's any more: an answer was lost and the master told again, or "
                "reading it took longer than the %g s that a task has; if this comes often, give the master "
                "a longer --task_timeout_dur",
                *(given.task, given.timeout_s),
            )

    def _tell_failed(self, given: messages.TaskGiven, reason: str) -> None:
        _log.error("task %d cannot be read: %s", given.task, reason)
        told = messages.TaskFailed(task=given.task, lease=given.lease, reason=reason[:2000])
        self._ask("failed", told, messages.Counted)

    def _ask(
        self, route: str, message: msgspec.Struct, kind: type[_Answer], answer_s: float | None = None
    ) -> _Answer:
        """Ask until there is an answer, or until the master was away for too long."""
        answer_s = answer_s or self._patience.answer_s
        began = self._patience.clock()
        for tries, pause in enumerate(_pauses(), 1):
            try:
                with self._turn:
                    return msgspec.json.decode(self._once(route, message, answer_s), type=kind)
            except (OSError, http.client.HTTPException, StateNotSaved, msgspec.DecodeError) as error:
                self._close()
                problem: Exception = error
            elapsed = self._patience.clock() - began
            if elapsed >= self._patience.master_s:
                raise self._unreachable(f"/v1/{route} in {tries} tries over {elapsed:.0f} s", problem)
            self._patience.sleep(pause)
        raise AssertionError("pauses never end")

    def _unreachable(self, tried: str, problem: Exception) -> MasterUnreachable:
        return MasterUnreachable(
            f"the master at {self.address} did not answer {tried}: {type(problem).__name__}: {problem}. Is "
            "this the address of a `paddle master` (not of etcd), and does it run? One that was started with "
            "a --state_file goes on where it was"
        )

    def _once(self, route: str, message: msgspec.Struct, answer_s: float) -> bytes:
        """One request and its answer; raises the error that the answer is."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self.host, self.port, timeout=answer_s)
            self._connection.connect()
            if self._proof is not None:
                prove(self._connection, self._proof, self.address)
        assert self._connection.sock is not None
        self._connection.sock.settimeout(answer_s)
        self._connection.request(
            "POST", f"/v1/{route}", msgspec.json.encode(message), {"Content-Type": "application/json"}
        )
        response = self._connection.getresponse()
        body = response.read()
        if response.will_close:
            self._close()
        if response.status == 200:
            return body
        if response.getheader("Content-Type", "").partition(";")[0] != "application/json":
            raise http.client.HTTPException(f"HTTP status {response.status}, so it is not a master")
        problem = msgspec.json.decode(body, type=messages.Problem)
        raise error_named(problem.error, f"the master at {self.address}: {problem.text}")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _pauses() -> Iterator[float]:
    """Seconds between tries, ever longer; not the same ones in all trainers."""
    pause = _FIRST_PAUSE_S
    while True:
        yield pause * random.uniform(0.5, 1.0)
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def _place(address: str) -> tuple[str, int]:
    text = address if "//" in address else f"//{address}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or "," in address or parts.scheme not in ("", "http"):
        raise BadAddress(
            f"{address!r} is not the address of a master: give host:port or http://host:port of one "
            "`paddle master`. There is no etcd in this release"
        )
    return host, port or DEFAULT_PORT
