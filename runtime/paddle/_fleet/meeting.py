"""The meeting of a job's processes, as the environment or the role maker says: upstream's gloo.

Rules:
1.  PADDLE_WITH_GLOO=1 or 2, or ``UserDefinedRoleMaker(init_gloo=True, path=...)``, says that they meet;
    otherwise each is alone.
2.  PADDLE_GLOO_RENDEZVOUS=3: at PADDLE_GLOO_HTTP_ENDPOINT, which server 0 holds where that address is its
    machine's, and worker 0 where it is its own; where another program has that port, and there is no server
    that could be it, worker 0 says so. 2: where worker 0 says in the folder PADDLE_GLOO_FS_PATH.
3.  Workers meet, servers meet, and all do: three worlds, with a number of rounds each.
4.  Parameter servers that are commands, and not the program, meet nobody: all are the workers then.
5.  From here on a process says that it is alive, so that others wait for it however long its work takes.
6.  A worker without which a launched job goes on (--min_trainers) is waited for no more: sums and lists are
    of the others.

It must never know what is counted. Guarantee: sums are of the same order in every process, so all have the
same bits; a call waits for those that live, and says who does not, and who is at another call.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._fleet.alone import check_mode, check_world
from paddle._fleet.errors import BadRole, FleetError
from paddle._fleet.place import Place, Role
from paddle._launch.environ import files, shared_ports
from paddle._launch.report import reporter

if TYPE_CHECKING:
    from paddle._pserver.parley.host import Host
    from paddle._pserver.parley.line import Line
    from paddle._pserver.parley.messages import Seat
    from paddle._pserver.parley.presence import Presence
    from paddle._pserver.parley.speaker import Speaker

_HDFS, _FILE, _HTTP = "1", "2", "3"
_ADDRESS = "meeting"
_HELD_BY_ANOTHER = (
    "worker 0 cannot hold the place where the processes of this job meet: {}. Under paddle.py it is the port "
    "behind the last of pservers (--port, --ports_num and --ports_num_for_sparse added up), elsewhere that "
    "of PADDLE_GLOO_HTTP_ENDPOINT"
)
_AT_ANOTHER_CALL = (
    "{} is at {}, and this process at {}: all must make the same calls in the same order. A call that only "
    "some make (after `if fleet.is_first_worker()`, or behind a `return`) is what to look for"
)
_MARKS = {"barrier": b"b", "all_reduce or all_gather": b"n", "all_to_all": b"t"}
_held: set[tuple[str, int] | Path] = set()
"""Addresses that this process holds, for as many fleets as a program makes."""

_REDUCED = {"sum": np.add, "max": np.maximum, "min": np.minimum}


def meeting_of(
    place: Place, environ: Mapping[str, str], path: str | tuple[str, int] | None = None
) -> Meeting | None:
    """The meeting of the process at ``place``; None where it is alone. ``path``: what the role maker said, a
    folder or an address."""
    if path is None and not _is_wanted(environ):
        return None
    if shared_ports(environ, place.servers) is not None:
        place = replace(place, servers=())
    if isinstance(path, tuple):
        return Meeting(place, path)
    if path is None and _kind(environ) == _HTTP:
        return Meeting(place, _endpoint(environ))
    folder = path or environ.get("PADDLE_GLOO_FS_PATH", "")
    if not folder:
        raise BadRole("PADDLE_GLOO_RENDEZVOUS=2 needs PADDLE_GLOO_FS_PATH, a folder that all processes see")
    return Meeting(place, Path(folder))


def _is_wanted(environ: Mapping[str, str]) -> bool:
    text = environ.get("PADDLE_WITH_GLOO", "").strip() or "0"
    if not text.isdecimal():
        raise BadRole(f"PADDLE_WITH_GLOO is {text!r}: it must be 1, for processes that meet, or 0")
    return text in ("1", "2")


def _kind(environ: Mapping[str, str]) -> str:
    text = environ.get("PADDLE_GLOO_RENDEZVOUS", "").strip() or _HTTP
    if text == _HDFS:
        raise NotInThisRelease(
            "PADDLE_GLOO_RENDEZVOUS=1, a meeting in HDFS, is not in this release: use 3, and "
            "PADDLE_GLOO_HTTP_ENDPOINT=host:port of server 0's machine"
        )
    if text not in (_FILE, _HTTP):
        raise BadRole(
            f"PADDLE_GLOO_RENDEZVOUS is {text!r}: it must be 3, a meeting at PADDLE_GLOO_HTTP_ENDPOINT, "
            "or 2, one in PADDLE_GLOO_FS_PATH"
        )
    return text


def _endpoint(environ: Mapping[str, str]) -> tuple[str, int]:
    given = environ.get("PADDLE_GLOO_HTTP_ENDPOINT", "")
    host, _, port = given.rpartition(":")
    if not host or not port.isdecimal():
        raise BadRole(f"PADDLE_WITH_GLOO=1 needs PADDLE_GLOO_HTTP_ENDPOINT=host:port, not {given!r}")
    return host, int(port)


class Meeting:
    """``where``: an address, or a folder in which worker 0 writes one."""

    def __init__(self, place: Place, where: tuple[str, int] | Path) -> None:
        self._place, self._where = place, where
        self._speakers: dict[str, Speaker] = {}
        self._host: Any = None
        if place.id == 0:
            self._open()
        self._presence = self._present()
        atexit.register(self.close)

    def all_reduce(self, given: Any, mode: str = "sum", comm_world: str = "worker") -> np.ndarray:
        """Of the arrays of all, element by element."""
        check_mode(mode)
        array = np.asarray(given)
        told = self._told(comm_world, array)
        if len({each.shape for each in told}) > 1:
            raise FleetError(f"all_reduce: arrays of shapes {', '.join(str(each.shape) for each in told)}")
        found: np.ndarray = _REDUCED[mode].reduce(np.stack(told), axis=0, dtype=array.dtype)
        return found

    def all_gather(self, given: Any, comm_world: str = "worker") -> list[Any]:
        """What each gives: numbers as numbers, lists as lists."""
        arrays = self._told(comm_world, np.asarray(given))
        return arrays if isinstance(given, np.ndarray) else [each.tolist() for each in arrays]

    def all_to_all(self, parts: list[bytes], comm_world: str = "worker") -> list[bytes]:
        """What each has for this one; nothing of a worker without which the job goes on."""
        return [each or b"" for each in self._exchanged(comm_world, "all_to_all", parts)]

    def barrier(self, comm_world: str = "worker") -> None:
        """Until all have come."""
        self._exchanged(comm_world, "barrier", [b""])

    def close(self) -> None:
        """Leave; who holds the place waits for the others to leave, for a while."""
        atexit.unregister(self.close)
        self._presence.leave()
        for speaker in self._speakers.values():
            speaker.close()
        if self._host is not None:
            self._host.close()
            self._host = None
            _held.discard(self._where)

    def _told(self, world: str, array: np.ndarray) -> list[np.ndarray]:
        """What each gives that is in the job."""
        told = self._exchanged(world, "all_reduce or all_gather", [_packed(array)])
        return [_unpacked(each) for each in told if each is not None]

    def _exchanged(self, world: str, call: str, parts: list[bytes]) -> list[bytes | None]:
        """What each told this one; raises FleetError where another is at another call."""
        told = self._speaker(world).exchange([_MARKS[call] + part for part in parts])
        for rank, each in enumerate(told):
            other = next((name for name, mark in _MARKS.items() if each and each[:1] == mark), call)
            if other != call:
                who = f"number {rank} of those who meet as {world!r}"
                raise FleetError(_AT_ANOTHER_CALL.format(who, other, call))
        return [None if each is None else each[1:] for each in told]

    def _present(self) -> Presence:
        """Rule 5."""
        from paddle._pserver.parley.presence import Presence

        own = "worker" if self._place.role == Role.WORKER else "server"
        return Presence(self._line(own), [_seat(self._place, own), _seat(self._place, "all")])

    def _open(self) -> None:
        from paddle._pserver.errors import NotOurs, PortInUse

        is_worker = self._place.role == Role.WORKER
        if isinstance(self._where, Path):
            if is_worker:
                self._host = self._made()
                _announce(self._where, self._host.open(_own_address(self._place), 0))
            return
        host = self._made()
        try:
            host.open(*self._where)
        except PortInUse as error:
            if is_worker and not self._place.servers and self._where not in _held:
                raise FleetError(_HELD_BY_ANOTHER.format(error)) from error
        except NotOurs:
            pass  # an address of server 0's machine
        else:
            self._host = host
            _held.add(self._where)

    def _made(self) -> Host:
        from paddle._pserver.parley.host import Host

        news = reporter().news if self._place.role == Role.WORKER else None  # a server has its own use for it
        return Host(_token(), news=news, seats_of=self._seats_of)

    def _seats_of(self, worker: int) -> list[Seat]:
        """Rule 6: those of a worker, as far as there is one of that number."""
        place = replace(self._place, role=Role.WORKER, id=worker)
        return [_seat(place, world) for world in ("worker", "all")] if worker < place.workers else []

    def _speaker(self, world: str) -> Speaker:
        if world not in self._speakers:
            from paddle._pserver.parley.speaker import Speaker

            self._speakers[world] = Speaker(
                self._line(world),
                _seat(self._place, world),
                was_met=lambda: self._presence.was_met,
                notice=_say,
                meets=reporter().meets,
                holds=self._host is not None,
            )
        return self._speakers[world]

    def _line(self, world: str) -> Line:
        from paddle._pserver.parley.line import Line
        from paddle._pserver.tasks.handshake import Proof

        token, rank = _token(), _standing(self._place, world)[0]
        proof = None if token is None else Proof(token, insists=True)
        return Line(partial(_found, self._where), f"{world} {rank}", proof)


def _seat(place: Place, world: str) -> Seat:
    from paddle._pserver.parley.messages import Seat

    rank, size = _standing(place, world)
    return Seat(world, size, rank)


def _standing(place: Place, world: str) -> tuple[int, int]:
    """The number of a process in a world, and how many that has."""
    check_world(world)
    is_worker, servers = place.role == Role.WORKER, len(place.servers)
    if world == "all":
        return place.id if is_worker else place.workers + place.id, place.workers + servers
    if (world == "worker") != is_worker:
        raise FleetError(f"a {'worker' if is_worker else 'server'} is none of those who meet as {world}s")
    return place.id, place.workers if is_worker else servers


def _token() -> Any:
    from paddle._pserver.trust.token_file import token_of

    return token_of(files({"token_file": ""}, os.environ)["token_file"], lambda warning: None)


def _say(text: str) -> None:
    print(f"{text}\n", end="", file=sys.stderr, flush=True)  # at once: worlds are met by threads of their own


def _own_address(place: Place) -> str:
    return place.endpoint.rpartition(":")[0] or os.environ.get("POD_IP", "") or "127.0.0.1"


def _announce(folder: Path, address: tuple[str, int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{_ADDRESS}.{os.getpid()}"
    fresh.write_text(json.dumps(address), encoding="utf-8")
    fresh.replace(folder / _ADDRESS)


def _found(where: tuple[str, int] | Path) -> tuple[str, int] | None:
    if not isinstance(where, Path):
        return where
    try:
        host, port = json.loads((where / _ADDRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(host), int(port)


def _packed(array: np.ndarray) -> bytes:
    if array.dtype.hasobject:
        raise FleetError("processes tell each other numbers and arrays of numbers")
    head = f"{array.dtype.str} {' '.join(map(str, array.shape))}\n"
    return head.encode() + np.ascontiguousarray(array).tobytes()


def _unpacked(packed: bytes) -> np.ndarray:
    head, _, body = packed.partition(b"\n")
    dtype, *shape = head.decode().split()
    return np.frombuffer(body, dtype).reshape([int(size) for size in shape]).copy()
