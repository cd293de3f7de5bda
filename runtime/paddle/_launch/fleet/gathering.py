"""How the machines of a job that nobody lists find each other: each says at one place what it starts.

One of them holds that place, ``--master``, for as long as it takes; the launchers of the others come to it.
Two launchers may be on one machine: who finds the place held goes there.

Guarantee, by five rules:

1. All that hear anything hear the same, and nobody before all have come; else each says for whom it waited.
2. Numbers are those that were asked for; the others are given in the order of coming, the holder's first.
3. Who speaks of another job, of another number of machines, of a number that is taken, or with another token,
   is told so, and ends; the others wait on.
4. Who goes before all have come leaves its place free, and may come again.
5. A machine's address is what it says, else the one by which it came, or by which it was reached itself.
"""

from __future__ import annotations

import contextlib
import secrets
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Any

from paddle._launch.errors import MachinesApart
from paddle._launch.fleet.call import Appointment
from paddle._launch.fleet.cluster import Cluster, host_of
from paddle._launch.fleet.ports import LOOPBACK
from paddle._launch.parts.speech import Nonsense, is_loopback, own_address, proof, receive, send, shown
from paddle._launch.plan import count

_PATIENCE_S = 5.0  # with one connection
_PAUSE_S = 0.1
_REMINDER_S = 30.0
_ALL = "0.0.0.0"
_ELSEWHERE = "192.0.2.1"  # an address that nobody has
_WHO = "what listens there"
_CLAIM = ("job", "size", "rank", "part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a machine starts. ``servers`` and ``workers``: their ports; ``gloo``: a port for who meets."""

    host: str
    servers: tuple[int, ...]
    workers: tuple[int, ...]
    gloo: int


Told = tuple[tuple[Part, ...], int]


@dataclass(slots=True)
class _Come:
    """A machine that has come: what it starts, the number that it asks for, the line to it, and by what it
    knows the answer."""

    part: Part
    rank: int
    line: socket.socket | None = None
    nonce: str = ""
    from_host: str = ""


@dataclass(slots=True)
class Gathering:
    """One machine's way to the others. ``secret``: what only machines of this job know, empty where nobody
    gives one; ``say`` is told what the user should read."""

    asked: Appointment
    secret: bytes
    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _tried: str = field(default="nobody has answered", init=False)

    def meet(self, part: Part) -> Told:
        """The parts of all machines, by number, and the number of this one."""
        end = self.clock() + self.asked.patience_s
        host, port = host_of(self.asked.master), int(self.asked.master.rpartition(":")[2])
        announced = False
        while self.clock() < end:
            if (own := own_address(host)) and (listener := self._listener(own, host, port)):
                with closing(listener):
                    return _Holder(self, part, own).wait(listener, end)
            if not announced:
                self.say(f"looks for {_others(self.asked)} at {self.asked.master}")
                announced = True
            if (told := self._come(part, host, port, end)) is not None:
                return told
            time.sleep(_PAUSE_S)
        raise MachinesApart(
            f"after {self.asked.patience_s:g} s there is no launcher of job {self.asked.job!r} at "
            f"{self.asked.master} (--master): {self._tried}. Start the same command on the machine with that "
            "address; if it is there, open that port, or name another one."
        )

    def _listener(self, own: str, host: str, port: int) -> socket.socket | None:
        """None where another launcher, or whoever it is, holds the place."""
        where = own if own == host or not is_loopback(own) else _ALL  # a name that only this machine has so
        try:
            return socket.create_server((where, port), backlog=1024)
        except OSError as error:
            self._tried = f"port {port} of {where} cannot be listened at: {error.strerror}"
            return None

    def _come(self, part: Part, host: str, port: int, end: float) -> Told | None:
        """Go to who holds the place; None where nobody does yet."""
        try:
            left = min(end - self.clock(), _PATIENCE_S)
            with closing(socket.create_connection((host, port), max(left, _PAUSE_S))) as line:
                return self._speak(line, part, end)
        except (Nonsense, OSError) as error:
            self._tried = str(error) or type(error).__name__
            return None

    def _speak(self, line: socket.socket, part: Part, end: float) -> Told:
        asked = self.asked
        line.settimeout(_PATIENCE_S)
        nonce = str(receive(line, _WHO).get("nonce"))
        claim = asked.job, asked.size, asked.rank, _written(part)
        said = dict(zip(_CLAIM, claim, strict=True))
        own = secrets.token_hex(16)
        send(line, {**said, "nonce": own, "proof": proof(self.secret, nonce, "guest", said)})
        line.settimeout(max(end - self.clock(), _PAUSE_S))
        told = receive(line, _WHO)
        if "refused" in told:
            raise MachinesApart(f"{asked.master} (--master): {str(told['refused'])[:400]}")
        shows = told.pop("proof", None)
        if shows != proof(self.secret, own, "host", told):
            raise Nonsense("who listens there does not know this job's token (PADDLE_TOKEN_FILE)")
        return tuple(_read(each) for each in told["parts"]), int(told["rank"])


class _Holder:
    """Who holds the place. ``own``: the address at which it is."""

    def __init__(self, guest: Gathering, part: Part, own: str) -> None:
        self._asked, self._secret, self._say, self._clock = guest.asked, guest.secret, guest.say, guest.clock
        self._own = part.host or own
        self._come = [_Come(part, guest.asked.rank, from_host=self._own)]

    def wait(self, listener: socket.socket, end: float) -> Told:
        reminder = self._clock() + _REMINDER_S
        self._say(f"waits for {_others(self._asked)} at {self._asked.master}")
        with ExitStack() as lines:
            while len(self._come) < self._asked.size:
                if self._clock() >= end:
                    raise MachinesApart(self._missed())
                if self._clock() >= reminder:
                    self._say(f"still waits at {self._asked.master}: {self._state()}")
                    reminder = self._clock() + _REMINDER_S
                self._attend(listener, lines)
            return self._tell()

    def _attend(self, listener: socket.socket, lines: ExitStack) -> None:
        """See who has come, and who has gone: those that wait say nothing."""
        watched = [listener, *(each.line for each in self._come if each.line)]
        ready = select.select(watched, [], [], _PAUSE_S)[0]
        for gone in [each for each in self._come if each.line in ready]:
            self._come.remove(gone)
            self._say(f"{gone.from_host} has gone again")
        if listener in ready:
            self._hear(lines.enter_context(closing(listener.accept()[0])))

    def _hear(self, line: socket.socket) -> None:
        line.settimeout(_PATIENCE_S)
        nonce = secrets.token_hex(16)
        with contextlib.suppress(OSError, Nonsense, KeyError, TypeError, ValueError):
            from_host = str(line.getpeername()[0])
            send(line, {"nonce": nonce})
            said = receive(line)
            claim = {name: said[name] for name in _CLAIM}
            knows = said.get("proof") == proof(self._secret, nonce, "guest", claim)
            if why := self._refusal(claim, knows):
                self._say(f"{from_host} came and is refused: {why}")
                send(line, {"refused": why})
                return
            part = _read(said["part"])
            if not part.host:
                part = replace(part, host="" if is_loopback(from_host) else from_host)
            if is_loopback(self._own) and not is_loopback(from_host):
                self._own = str(line.getsockname()[0])
            self._come.append(_Come(part, int(said["rank"]), line, str(said["nonce"]), from_host))

    def _refusal(self, claim: Mapping[str, Any], knows: bool) -> str:
        """Why who claims this cannot be in the job; empty where it can."""
        asked, rank = self._asked, claim["rank"]
        taken = {each.rank: each.from_host for each in self._come if each.rank >= 0}
        if not knows:
            return (
                "it has another token than the machine that waits there, or one of the two has none. Give "
                "both the same file, by PADDLE_TOKEN_FILE."
            )
        if claim["job"] != asked.job:
            return f"it is of job {claim['job']!r} (--job_id), and job {asked.job!r} meets there."
        if claim["size"] != asked.size:
            return f"it has --nnodes={claim['size']}, and the machine that waits there --nnodes={asked.size}."
        if rank in taken:
            return f"it has --rank={rank}, as {taken[rank]} has. Give each machine its own, or none any."
        return ""

    def _tell(self) -> Told:
        """Rule 2."""
        free = [rank for rank in range(self._asked.size) if rank not in {each.rank for each in self._come}]
        places = {each.rank if each.rank >= 0 else free.pop(0): each for each in self._come}
        here = self._come[0]
        own = replace(here.part, host=self._own)
        ordered = [places[rank] for rank in range(self._asked.size)]
        if self._asked.by_address:
            ordered.sort(key=lambda each: _sorted_by(each.part.host or self._own))
        parts = tuple(own if each is here else _at(each.part, self._own) for each in ordered)
        for rank, each in enumerate(ordered):
            if each.line:
                told = {"parts": [_written(part) for part in parts], "rank": rank}
                with contextlib.suppress(OSError):  # it is gone, and its processes will be missed
                    send(each.line, {**told, "proof": proof(self._secret, each.nonce, "host", told)})
        return parts, ordered.index(here)

    def _state(self) -> str:
        came = shown(["this one", *(each.from_host for each in self._come[1:])])
        return f"of {self._asked.size} machines {len(self._come)} are there: {came}"

    def _missed(self) -> str:
        return (
            f"{self._asked.patience_s:g} s have gone by at {self._asked.master} (--master): {self._state()}. "
            f"Give the same command on all {self._asked.size} (--nnodes); if they cannot reach that port, "
            "open it, or name another one. --master_timeout says how long to wait."
        )


def place_of(parts: Sequence[Part], number: int) -> Cluster:
    """The job of machines that have met, as machine ``number`` sees it."""
    servers, own_servers = _numbered([(part.host, part.servers) for part in parts], number)
    workers, own_workers = _numbered([(part.host, part.workers) for part in parts], number)
    for what, found in (("server", servers), ("worker", workers)):
        if not found:
            raise MachinesApart(f"none of the {len(parts)} machines has a {what}: --{what}_num is 0 on all.")
    holder = next(part for part in parts if part.servers)
    return Cluster(
        servers=servers,
        workers=workers,
        own_servers=own_servers,
        own_workers=own_workers,
        here=parts[number].host,
        is_whole=False,
        gloo=f"{holder.host}:{holder.gloo}",
        meets="1",
    )


def reachable_address() -> str:
    """This machine's address on its way to others; loopback where it has no such way."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect((_ELSEWHERE, 9))  # says by which way it would go, and sends nothing
            return str(probe.getsockname()[0])
        except OSError:
            return LOOPBACK


def _numbered(
    of_parts: Sequence[tuple[str, Sequence[int]]], number: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """All processes of a kind, machine by machine, and which of them are on machine ``number``."""
    before = sum(len(ports) for _, ports in of_parts[:number])
    all_of_them = tuple(f"{host}:{port}" for host, ports in of_parts for port in ports)
    return all_of_them, tuple(range(before, before + len(of_parts[number][1])))


def _others(asked: Appointment) -> str:
    return f"{count(asked.size - 1, 'other machine')} of the job"


def _at(part: Part, host: str) -> Part:
    return part if part.host else replace(part, host=host)


def _sorted_by(host: str) -> tuple[int, int, str]:
    """Addresses come before names."""
    try:
        return 0, int(ip_address(host)), ""
    except ValueError:
        return 1, 0, host


def _written(part: Part) -> dict[str, Any]:
    return {"host": part.host, "servers": part.servers, "workers": part.workers, "gloo": part.gloo}


def _read(said: Mapping[str, Any]) -> Part:
    ports = {name: tuple(map(int, said[name])) for name in ("servers", "workers")}
    return Part(host=str(said["host"]), gloo=int(said["gloo"]), **ports)
