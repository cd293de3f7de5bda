"""How the ranks of a job find each other: all come to rank 0, and hear where each of them is.

An engine may put several ranks on one machine and none on another, and tells no rank where the others are. So
rank 0 listens for as long as it takes, and the others look for it on all machines of the job.

Guarantee, by four rules:

1. All that hear anything hear the same, and nobody before all have come; else each says for whom it waited.
2. Where ranks share a secret, who does not know it is neither heard nor believed, and nobody hears it here.
3. A rank's address is the one by which rank 0 was reached from there, or by which it was reached itself.
4. Who connects and says nothing, or nonsense, delays the others by no more than ``_PATIENCE_S``.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from paddle._launch.errors import RanksApart
from paddle._launch.parts.speech import Nonsense, is_loopback, own_address, proof, receive, send, shown
from paddle._launch.ranks.machines import GIVE
from paddle._launch.ranks.place import Place

_PATIENCE_S = 5.0  # with one connection
_PAUSE_S = 0.05
_SHOWN = 400  # letters of why
_ALL = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class Rally:
    """``addresses`` of all ranks, in their order; ``job``: by what name they speak of it."""

    addresses: tuple[str, ...]
    job: str


def meet(
    place: Place,
    machines: Sequence[str],
    port: int,
    patience_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> Rally:
    """Meet the other ranks at ``port`` of rank 0's machine."""
    end = clock() + patience_s
    if place.rank:
        return _Guest(place, machines, port, patience_s).come(end, clock)
    return _Host(place, machines, port, patience_s).wait(end, clock)


class _Host:
    """Rank 0."""

    def __init__(self, place: Place, machines: Sequence[str], port: int, patience_s: float) -> None:
        self._place, self._machines, self._port = place, machines, port
        self._patience_s = patience_s
        self._come: dict[int, tuple[socket.socket, str]] = {}
        self._own = ""

    def wait(self, end: float, clock: Callable[[], float]) -> Rally:
        with ExitStack() as lines:
            listeners = [lines.enter_context(closing(each)) for each in self._listen()]
            while len(self._come) < self._place.size - 1:
                left = end - clock()
                if left <= 0:
                    raise RanksApart(self._missed())
                self._accept(listeners, min(left, _PAUSE_S * len(listeners)), lines)
            return self._tell()

    def _listen(self) -> list[socket.socket]:
        """Listen at this machine's addresses among those of the job."""
        own = dict.fromkeys(address for name in self._machines if (address := own_address(name)))
        only_itself = bool(own) and len(self._machines) > 1 and all(map(is_loopback, own))
        places = [_ALL] if only_itself else list(own)
        if not places:
            raise RanksApart(
                f"this is the machine of rank 0, and none of the job's is this one: {shown(self._machines)}. "
                f"Give all ranks the same machines: {GIVE}."
            )
        self._own = next(iter(own))
        return [_listener(address, self._port) for address in places]

    def _accept(self, listeners: Sequence[socket.socket], wait_s: float, lines: ExitStack) -> None:
        for listener in listeners:
            listener.settimeout(wait_s / len(listeners))
            with contextlib.suppress(TimeoutError):
                line = lines.enter_context(closing(listener.accept()[0]))
                self._hear(line)

    def _hear(self, line: socket.socket) -> None:
        """Rule 4: whoever it is has so long to say which rank it is."""
        line.settimeout(_PATIENCE_S)
        try:
            with contextlib.suppress(Nonsense):
                self._ask(line)
        except OSError:  # a rank that is slow to speak shall come again, and not wait here
            line.close()

    def _ask(self, line: socket.socket) -> None:
        nonce = secrets.token_hex(16)
        send(line, {"nonce": nonce, "rank": 0})
        said = receive(line)
        rank, size = said.get("rank"), said.get("size")
        if said.get("proof") != _proof(self._place, nonce, "guest", rank, size):
            raise Nonsense
        if size != self._place.size or not (isinstance(rank, int) and 0 < rank < size):
            raise Nonsense
        self._come[rank] = line, line.getpeername()[0]
        if is_loopback(self._own):
            self._own = line.getsockname()[0]

    def _tell(self) -> Rally:
        peers = [address for _, (_, address) in sorted(self._come.items())]
        others = [self._own if is_loopback(address) else address for address in peers]  # of this machine
        rally = Rally((self._own, *others), f"ranks-{secrets.token_hex(4)}")
        for rank, (line, _) in self._come.items():
            told = {"addresses": rally.addresses, "job": rally.job}
            with contextlib.suppress(OSError):  # it is gone, and its engine knows
                send(line, {**told, "proof": _proof(self._place, str(rank), "host", told)})
        return rally

    def _missed(self) -> str:
        missing = [rank for rank in range(1, self._place.size) if rank not in self._come]
        came = f", and ranks {shown(sorted(self._come))} have come" if self._come else ""
        return (
            f"rank 0 has waited {self._patience_s:g} s for rank {shown(missing)} at port {self._port} of "
            f"{self._own}{came}. {_alone(self._machines)}Their logs say why, if they were started; if they "
            "cannot reach that port, open it, or name another by --rally_port."
        )


class _Guest:
    """Any other rank."""

    def __init__(self, place: Place, machines: Sequence[str], port: int, patience_s: float) -> None:
        self._place, self._machines, self._port = place, machines, port
        self._patience_s = patience_s
        self._refused: dict[str, str] = {}  # why, by machine
        self._strange: dict[str, str] = {}  # likewise of those that answer, which says more

    def come(self, end: float, clock: Callable[[], float]) -> Rally:
        for machine in cycle(self._machines):
            left = end - clock()
            if left <= 0:
                raise RanksApart(self._missed())
            try:
                with closing(socket.create_connection((machine, self._port), min(left, _PATIENCE_S))) as line:
                    return self._speak(line, end - clock())
            except Nonsense as error:
                self._strange[machine] = str(error)
            except OSError as error:
                self._refused[machine] = str(error) or type(error).__name__
            if machine == self._machines[-1]:
                time.sleep(_PAUSE_S)
        raise AssertionError("machines are never none")

    def _speak(self, line: socket.socket, left_s: float) -> Rally:
        place = self._place
        line.settimeout(max(min(left_s, _PATIENCE_S), _PAUSE_S))
        greeting = receive(line)
        shows = _proof(place, str(greeting.get("nonce")), "guest", place.rank, place.size)
        send(line, {"rank": place.rank, "size": place.size, "proof": shows})
        line.settimeout(max(left_s, _PAUSE_S))
        told = receive(line)
        shows = told.pop("proof", None)
        addresses, job = told.get("addresses"), told.get("job")
        if shows != _proof(place, str(place.rank), "host", told):
            raise Nonsense("who listens there does not know this job's secret")
        if not (isinstance(addresses, list) and len(addresses) == place.size and isinstance(job, str)):
            raise Nonsense("who listens there speaks of another job")
        return Rally(tuple(map(str, addresses)), job)

    def _missed(self) -> str:
        tried = "; ".join(
            f"{machine}: {why}" for machine, why in list((self._refused | self._strange).items())[:4]
        )
        return (
            f"rank {self._place.rank} has looked {self._patience_s:g} s for rank 0 at port {self._port} of "
            f"{shown(self._machines)} ({tried[:_SHOWN]}). {_alone(self._machines)}Rank 0 says why, if it "
            "was started; if it is out of reach, open that port, or name another by --rally_port."
        )


def _listener(address: str, port: int) -> socket.socket:
    try:
        return socket.create_server((address, port), backlog=1024)
    except OSError as error:
        raise RanksApart(
            f"ranks cannot meet at port {port} of {address}: {error.strerror}. End the job that holds it, or "
            "name another port by --rally_port."
        ) from error


def _alone(machines: Sequence[str]) -> str:
    """What is missing where ranks look for each other on one machine, and the engine did not say that some
    are on others."""
    if not all(map(is_loopback, machines)):
        return ""
    return f"No other machine is named here; if ranks are on others, give all ranks {GIVE}. "


def _proof(place: Place, nonce: str, *said: Any) -> str:
    return proof(place.secret, nonce, *said)
