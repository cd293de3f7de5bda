"""Cluster: two ``paddle pserver`` and three trainers as processes, trainers behind links of their own.

It must never know a schedule. Guarantee: ``with Cluster(...)`` leaves no process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from paddle._pserver.trust.tls import read_trust
from tests.cluster.by_hand import free_port
from tests.faults.conftest import ROOT, Marked
from tests.faults.random_faults.account import Fate
from tests.faults.random_faults.counting import SHARDS_OF_A_ROLE, SLOTS
from tests.faults.random_faults.goal import Goal
from tests.faults.random_faults.job import TRAINERS, Job
from tests.faults.random_faults.papers import issue
from tests.faults.random_faults.said import FIRST_NET, NEAR, Said
from tests.faults.toxic import Link, Links
from tests.waiting import until

_HERE = "tests.faults.random_faults"
UNDISTURBED = -1  # its slot
FLAGS = (
    "--ports_num=1",
    "--ports_num_for_sparse=1",
    f"--num_gradient_servers={TRAINERS}",
    "--snapshot_period=25",
    "--snapshot_interval=1",
    "--snapshot_restarts=1000",
    "--barrier_timeout=100",
)


@dataclass(frozen=True, slots=True)
class ShardProcess:
    """Where one shard is, and who serves it now. ``trust``: where it encrypts, whose certificate is good."""

    name: str
    host: str
    port: int
    folder: Path
    trust: ssl.SSLContext | None = None

    def pid(self) -> int | None:
        """The process that has its snapshots; None while there is none."""
        with contextlib.suppress(OSError):
            inode = (self.folder / "lock").stat().st_ino
            for line in Path("/proc/locks").read_text().splitlines():
                fields = line.split()
                if fields[1] == "FLOCK" and fields[5].endswith(f":{inode}") and self._is_ours(fields[4]):
                    return int(fields[4])
        return None

    def _is_ours(self, pid: str) -> bool:
        """Whether it is told of this folder: a file of another disk may have the same number."""
        return f"--snapshot_dir={self.folder.parent}\0".encode() in Path("/proc", pid, "cmdline").read_bytes()


@dataclass(slots=True)
class Output:
    """What a process says, as it says it, and in a file."""

    process: subprocess.Popen[str]
    path: Path
    lines: list[str] = field(default_factory=list)
    thread: threading.Thread | None = None

    def begin(self) -> None:
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.path.open("w") as file:
            for line in self.process.stdout:
                self.lines.append(line)
                file.write(line)
                file.flush()

    def listens(self) -> bool:
        """Whether it does, as a pserver; raises where it has ended."""
        if self.process.poll() is not None:
            raise AssertionError(f"{self.path.name} ended with {self.process.returncode}: {self.lines}")
        return "listening on" in "".join(self.lines)

    def end(self, patience_s: float) -> int:
        """Its exit status."""
        status = self.process.wait(patience_s)
        assert self.thread is not None
        self.thread.join(patience_s)
        return status


@dataclass(slots=True)
class TrainerProcess:
    """A trainer, its links, and how it is to end: ``is_killed``, ``is_replaced`` while it stood still."""

    id: int
    slot: int
    output: Output
    links: list[Link]
    is_killed: bool = False
    is_replaced: bool = False

    @property
    def pid(self) -> int:
        return self.output.process.pid

    @property
    def ended_early(self) -> bool:
        """Whether another has its place."""
        return self.is_killed or self.is_replaced


class Cluster(Marked):
    """See the module's text. ``flags``: of the pservers, besides the usual ones. ``begin``: called in the
    first of them before it becomes one. ``defect``: what is wrong with them (defects.py)."""

    def __init__(
        self,
        job: Job,
        links: Links,
        *flags: str,
        begin: Callable[[], None] | None = None,
        defect: str | None = None,
    ) -> None:
        super().__init__()
        self._begin = begin
        changes = ["pieces"] * job.scenario.in_pieces + ["turns"] * job.scenario.takes_turns
        changes += [] if defect is None else [defect]
        self._program = ["-m", f"{_HERE}.pserver", ",".join(changes)] if changes else ["-m", "paddle"]
        self.goal = Goal(job.goal)
        self.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "runtime"), str(ROOT)])
        self.environ |= {"OPENBLAS_NUM_THREADS": "1", "GLOG_logtostderr": "1"}  # all that pservers log
        self.folder = Path(job.folder)
        self.hosts = [f"127.0.0.{1 + n}" for n in range(SHARDS_OF_A_ROLE)]
        at_links = [self._link_host(slot, n) for slot in range(SLOTS) for n in range(SHARDS_OF_A_ROLE)]
        self.job = msgspec.structs.replace(job, port=free_port([*self.hosts, *at_links]))
        flags = (*flags, *["--snapshot_memory=0"] * job.scenario.has_no_copies)
        flags = (*flags, *["--gradient_memory=0"] * job.scenario.takes_turns)
        self._flags = (*FLAGS, *flags, *self._lock([*self.hosts, *at_links]))
        self.pservers: list[Output] = []
        self.trainers: list[TrainerProcess] = []  # all there ever were, by slot
        self.undisturbed: Output | None = None
        trust = read_trust(self.job.tls_ca) if self.job.tls_ca else None
        self.shards = [
            ShardProcess(f"{role} {n}", host, self.job.port + at, self.folder / host / f"{role}-0", trust)
            for n, host in enumerate(self.hosts)
            for at, role in enumerate(("dense", "sparse"))
        ]
        self._links = links

    def _lock(self, addresses: list[str]) -> tuple[str, ...]:
        """The flags of pservers that are; the job is told of it, too."""
        if not self.job.scenario.is_locked:
            return ()
        papers = issue(self.folder, addresses)
        self.job = msgspec.structs.replace(self.job, token_file=papers.token_file, tls_ca=papers.tls_ca)
        return papers.flags

    @staticmethod
    def _link_host(slot: int, n: int) -> str:
        return f"127.0.{FIRST_NET + slot}.{1 + n}"

    def __enter__(self) -> Cluster:
        for host in self.hosts:
            flags = [f"--host={host}", f"--port={self.job.port}", f"--snapshot_dir={self.folder / host}"]
            begin = None if self.pservers else self._begin
            argv = [*self._program, "pserver", *flags, *self._flags]
            self.pservers.append(self._start(host, *argv, begin=begin))
        for pserver in self.pservers:
            until(pserver.listens, "pservers to listen")
        for id in range(TRAINERS):
            self.start_trainer(id)
        return self

    def __exit__(self, *error: object) -> None:
        self._kill_all()
        for output in self.outputs():
            output.process.wait()

    def outputs(self) -> Iterator[Output]:
        yield from self.pservers
        yield from (trainer.output for trainer in self.trainers)
        if self.undisturbed is not None:
            yield self.undisturbed

    @property
    def living(self) -> list[TrainerProcess]:
        """The trainers that are to go on to the end."""
        return [one for one in self.trainers if not one.ended_early]

    def start_undisturbed(self) -> None:
        """A process of its own that trains the same, and to which nothing happens (undisturbed.py)."""
        text = msgspec.json.encode(msgspec.structs.replace(self.job, slot=UNDISTURBED)).decode()
        self.undisturbed = self._start("undisturbed", "-m", f"{_HERE}.undisturbed", text)

    @property
    def ends(self) -> list[tuple[str, Path]]:
        """Who notes what the parameters are where passes end, and in which file."""
        slots = {f"process {one.slot} (trainer {one.id})": one.slot for one in self.trainers}
        slots |= {"a job to which nothing happens": UNDISTURBED}
        return [(who, msgspec.structs.replace(self.job, slot=slot).ends) for who, slot in slots.items()]

    def start_trainer(self, id: int) -> TrainerProcess:
        """A process more that is trainer ``id``."""
        slot = len(self.trainers)
        is_near = self.job.scenario.has_near and id == TRAINERS - 1
        hosts = [self._link_host(slot, n) for n in range(SHARDS_OF_A_ROLE)]
        links = [
            self._links.add((host, self.job.port + at), (to, self.job.port + at))
            for host, to in zip(hosts, self.hosts, strict=True)
            for at in range(0 if is_near else 2)
        ]
        hosts = self.hosts if is_near else hosts
        job = msgspec.structs.replace(self.job, hosts=tuple(hosts), trainer_id=id, slot=slot)
        text = msgspec.json.encode(job).decode()
        output = self._start(f"trainer-{slot}", "-m", f"{_HERE}.trainer", text)
        self.trainers.append(TrainerProcess(id, slot, output, links))
        return self.trainers[-1]

    def _start(self, name: str, *argv: str, begin: Callable[[], None] | None = None) -> Output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-u", *argv],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=begin,
        )
        output = Output(process, self.folder / f"{name}.log")
        output.begin()
        return output

    def counted(self, slot: int) -> tuple[int, int]:
        """How many steps a process had answers to, and by how many shards they were discarded."""
        path = msgspec.structs.replace(self.job, slot=slot).count
        text = path.read_bytes() if path.exists() else b""
        return (int(text[:12]), int(text[12:24])) if len(text) == 24 else (0, 0)

    def halt(self, slot: int) -> Path:
        """See Job."""
        return msgspec.structs.replace(self.job, slot=slot).halt

    @property
    def said(self) -> Said:
        """What pservers have said so far."""
        return Said([list(pserver.lines) for pserver in self.pservers])

    def fate(self, said: Said, shard: str, trainer: TrainerProcess) -> Fate:
        """What became of the pushes of a process."""
        near = [one for one in self.trainers if not one.links]
        slot = trainer.slot if trainer.links else NEAR
        is_sure = trainer not in near or len(near) == 1
        may_forget = trainer.ended_early and (not is_sure or said.has_restarted(shard, slot))
        return Fate(said.lost(shard, slot), is_sure, may_forget)

    def replace(self, old: TrainerProcess, *, by: int) -> TrainerProcess:
        """Another process takes a trainer's place, which ``by`` a signal has come to stand still."""
        old.is_killed, old.is_replaced = by == signal.SIGKILL, by == signal.SIGSTOP
        os.kill(old.pid, by)
        for link in old.links:
            link.dark(False)
            link.reset()
        return self.start_trainer(old.id)


def memory_bytes(pid: int) -> int:
    """Resident, of a process that may have ended."""
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    return 0


def kill(pid: int | None, number: int) -> bool:
    """Whether it was there to be signalled."""
    with contextlib.suppress(ProcessLookupError):
        if pid:
            os.kill(pid, number)
            return True
    return False


def rest() -> None:
    """Between two looks."""
    threading.Event().wait(0.005)


def tail(path: Path, lines: int) -> str:
    return "".join(path.read_text(errors="replace").splitlines(keepends=True)[-lines:])


def newest_version(folder: Path) -> int:
    """Of the snapshots that are whole, as far as their manifests say."""
    versions = [0]
    for manifest in folder.glob("*.json"):
        try:
            versions.append(json.loads(manifest.read_bytes().partition(b"\n")[2])["version"])
        except (OSError, ValueError):  # pruned meanwhile
            continue
    return max(versions)
