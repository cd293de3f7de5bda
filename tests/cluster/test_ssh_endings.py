"""A launch on machines that is ended in whatever phase: no process is left on any node, nor a file that a job
needs, and nothing of the launch here but its record."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddle._launch.jobs.index import Index, Standing
from tests.cluster.over_ssh import (
    PROMISED_S,
    ROOT_DIR,
    Job,
    agent_of,
    all_gone,
    clear,
    jobs,
    left,
    left_behind,
    ports_to,
)
from tests.lab.cluster import HEAD, Cluster
from tests.pretenders import NEVER_ENDS, RUNAWAY
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

LEASH_S = 8.0  # from the death of a launcher to that of its roles: two, on a machine that nobody shares
NEVER_READY = "import signal\nprint('family', flush=True)\nsignal.pause()\n"
STUBBORN = (
    f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{RUNAWAY}while True: signal.pause()\n"
)
ENDS_WELL = "print('family', flush=True)\n"
LEAVES_MUCH = "open('log/much', 'wb').write(__import__('os').urandom({}))\nraise SystemExit(3)\n"
SAYS_HOW_FAR = """
import json, os, signal, threading
for batch in range(10000):
    told = {"report": "progress", "pass_id": 0, "batch_id": batch, "cost": 1.0, "samples_per_s": 9}
    os.write(int(os.environ["PADDLE_REPORT_FD"]), json.dumps(told).encode() + bytes([10]))
    threading.Event().wait(0.1)
"""
SLOW_MBIT, FAR_MS = 16.0, 100.0
SOME, MUCH = 8 << 20, 32 << 20  # four seconds of it, and sixteen
OF_DISPATCHES = {"lock", "notes", "objects", "parts", "places", "staging"}
OF_PADDLE = {*OF_DISPATCHES, ".paddle"}  # of the dispatches of the runtime


class Launched(Job):
    """A launcher with a state folder of its own."""

    def __init__(self, lab: Cluster, folder: Path, **how: object) -> None:
        environ = {"XDG_STATE_HOME": str(folder / "state"), "TERM": "xterm"}
        self.index = Index(environ)
        super().__init__(lab, folder, environ=environ, **how)  # type: ignore[arg-type]

    def phase(self) -> str:
        """Where it is, as its record has it."""
        found = self.index.jobs()
        state = found[0].state if found else None
        return state.phase if state else ""

    def until(self, phase: str) -> None:
        until(lambda: self.phase() == phase, phase)

    def until_all_say(self, log: str) -> None:
        """A line: Python writes its words and its end apart."""
        for node in self.lab.names:
            until(lambda node=node: "family\n" in self.log(node, log), f"words in {log} of {node}")


@contextlib.contextmanager
def slow(lab: Cluster) -> Iterator[None]:
    for node in lab.names:
        lab.rate(node, SLOW_MBIT)
    try:
        yield
    finally:
        for node in lab.names:
            lab.rate(node, None)


@contextlib.contextmanager
def loading(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """It is registered, and still loads what speaks SSH."""
    job = Launched(lab, folder)
    until(job.index.jobs, "a record")
    yield job


@contextlib.contextmanager
def reaching(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """One node is off, another one says nothing to who has connected."""
    lab.cut("n2")
    lab.freeze("n3")
    job = Launched(lab, folder)
    until(lambda: ports_to(job, lab.addresses["n3"]), "a connection to who says nothing")
    yield job
    job.process.wait(PATIENCE_S)
    lab.plug("n2")
    lab.thaw("n3")


@contextlib.contextmanager
def sending(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """It takes its time."""
    (folder / "package").mkdir()
    (folder / "package" / "big").write_bytes(os.urandom(MUCH))
    with slow(lab):
        job = Launched(lab, folder)
        job.until("deliver")
        until(lambda: len(left(lab)) == 3, "receivers on all nodes")
        yield job


@contextlib.contextmanager
def opening(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """Nodes are far away by then."""
    lab.delay(lab.names[0], 0.0)  # where cables cannot be made long, this is left out before anything runs
    try:
        job = Launched(lab, folder)
        job.until("deliver")
        for node in lab.names:
            lab.delay(node, FAR_MS)
        job.until("open")
        yield job
    finally:
        for node in lab.names:
            lab.delay(node, 0.0)


@contextlib.contextmanager
def serving(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """Pservers never are ready."""
    job = Launched(lab, folder, pserver=NEVER_READY)
    job.until_all_say("server.log")
    yield job


@contextlib.contextmanager
def training(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """Trainers do not end when they are asked to; and it is as behind an ampersand, which has interrupts
    ignored."""
    job = Launched(
        lab, folder, train=STUBBORN, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
    )
    job.until_all_say("train.log")
    yield job


@contextlib.contextmanager
def hanging(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """Agents stand still while trainers train."""
    job = Launched(lab, folder)
    job.until_all_say("train.log")
    for node in lab.names:
        for half in agent_of(lab, node):
            os.kill(half.host_pid, signal.SIGSTOP)
    yield job


@contextlib.contextmanager
def finishing(lab: Cluster, folder: Path) -> Iterator[Launched]:
    """Pservers do not end by themselves."""
    job = Launched(lab, folder, train=ENDS_WELL, pserver=NEVER_ENDS)
    job.until("finish")
    yield job


@contextlib.contextmanager
def collecting(lab: Cluster, folder: Path, size: int = MUCH) -> Iterator[Launched]:
    """It takes its time."""
    with slow(lab):
        job = Launched(lab, folder, train=LEAVES_MUCH.format(size))
        job.until("collect")
        until(lambda: len(left(lab)) == 3, "senders on all nodes")
        yield job


Held = Callable[[Cluster, Path], contextlib.AbstractContextManager[Launched]]


@pytest.fixture
def lab(cluster: Cluster) -> Iterator[Cluster]:
    """Nodes on which there was no job; in the end nothing runs on them."""
    clear(cluster)
    yield cluster
    all_gone(cluster)


def check(job: Launched, *, is_killed: bool = False) -> None:
    """Scan every node's processes and files, and what the launch left here."""
    lab = job.lab
    assert left_behind(lab) == {}
    for node in lab.names:
        found = lab.files(node, ROOT_DIR)
        own = {path.split("/")[1] for path in found if path.startswith(".paddle/")} - {""}
        assert {name for name in own if not name.startswith("runtime-")} <= OF_PADDLE
        assert not [path for path in found if path.startswith(".paddle/") and path.partition("staging/")[2]]
        assert not [path for path in found if "/.job." in path], "secrets are left"
        assert lab.files(node, "/tmp") == []
    state = job.index.folder.parent
    assert [path.name for path in state.iterdir()] == ["jobs"]
    assert not [one for one in lab.processes(HEAD) if str(job.package) in one.argv]
    (found,) = job.index.jobs()
    assert found.standing is (Standing.LOST if is_killed else Standing.ENDED)
    if not is_killed:
        assert {path.name for path in found.folder.iterdir()} == {"job.json", "state.json"}
        assert not list(job.package.rglob(".*.part"))
        assert not list(job.package.rglob(".*.old"))


def ended(job: Launched, *signals: int) -> str:
    """Send signals, the next as soon as the last was answered; gives the output."""
    began = time.monotonic()
    for count, signum in enumerate(signals):
        phase = job.phase()
        job.process.send_signal(signum)
        if count + 1 < len(signals):
            until(lambda phase=phase: job.phase() not in (phase, ""), f"another phase than {phase}")
    all_gone(job.lab)
    assert time.monotonic() - began < PROMISED_S
    status, output, _ = job.end()
    assert status == 128 + signals[0]
    return output


@pytest.mark.parametrize(
    ("held", "signum"),
    [
        pytest.param(loading, signal.SIGINT, marks=pytest.mark.thorough),
        (reaching, signal.SIGINT),
        (sending, signal.SIGHUP),
        pytest.param(opening, signal.SIGTERM, marks=pytest.mark.thorough),
        pytest.param(serving, signal.SIGHUP, marks=pytest.mark.thorough),
        (training, signal.SIGINT),
        (hanging, signal.SIGTERM),
        (finishing, signal.SIGTERM),
    ],
)
def test_a_signal_ends_all_and_takes_back_what_nobody_trained_in(lab, tmp_path, held: Held, signum) -> None:
    with held(lab, tmp_path) as job:
        output = ended(job, signum)
    check(job)
    has_trained = held in (training, hanging, finishing)
    for node in lab.names:
        assert len(jobs(lab, node)) == has_trained
    if held is loading:
        return
    if held in (reaching, sending, opening):
        assert output.endswith(f"ended with status {128 + signum}, before any role was started\n")
        return
    for node in range(3):
        logs = job.package / "log" / f"node-{node}"
        assert not has_trained or (logs / "train.log").read_text() == "family\n"
        how = "killed" if held is hanging else "asked"
        assert f"stopped: {how} by the launcher\n" in (logs / "agent.log").read_text()


def test_a_second_signal_kills_and_logs_are_there_all_the_same(lab, tmp_path) -> None:
    with training(lab, tmp_path) as job:
        output = ended(job, signal.SIGINT, signal.SIGINT)
    check(job)
    assert "killing what is left" in output
    for node in range(3):
        assert (job.package / f"log/node-{node}/train.log").read_text() == "family\n"


def test_a_third_signal_waits_for_nothing(lab, tmp_path) -> None:
    with training(lab, tmp_path) as job:
        ended(job, signal.SIGINT, signal.SIGTERM, signal.SIGINT)
    check(job)


def test_while_logs_are_collected_one_signal_lets_them_arrive_and_two_do_not(lab, tmp_path) -> None:
    with collecting(lab, tmp_path / "one", SOME) as job:
        job.process.send_signal(signal.SIGINT)
        assert job.end()[0] == 3, "what failed before is the cause"
        check(job)
        for node in range(3):
            assert (job.package / f"log/node-{node}/much").stat().st_size == SOME
    clear(lab)
    with collecting(lab, tmp_path / "two") as job:
        began = time.monotonic()
        job.process.send_signal(signal.SIGINT)
        job.process.send_signal(signal.SIGTERM)
        assert job.end()[0] == 3
        assert time.monotonic() - began < PROMISED_S
        all_gone(lab, PROMISED_S)
        check(job)
        assert not (job.package / "log/node-0/much").exists()


class Screen:
    """A terminal, and what is shown on it."""

    def __init__(self) -> None:
        self.near, self.far = pty.openpty()
        self.before = termios.tcgetattr(self.near)
        self.shown = b""
        self._is_closed = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def close(self) -> None:
        """Hang up. Nobody reads any more by then: its number may be that of another file at once."""
        if not self._is_closed.is_set():
            self._is_closed.set()
            self._reader.join()
            os.close(self.far)
            os.close(self.near)

    def _read(self) -> None:
        while not self._is_closed.is_set():
            if select.select([self.near], [], [], 0.05)[0]:
                self.shown += os.read(self.near, 1 << 16)

    def streams(self) -> dict[str, object]:
        """Of a program that has it for its terminal."""

        def begin() -> None:
            fcntl.ioctl(self.far, termios.TIOCSCTTY, 0)

        streams = dict.fromkeys(("stdin", "stdout", "stderr"), self.far)
        return {**streams, "start_new_session": True, "preexec_fn": begin}

    def is_as_before(self) -> bool:
        """Whether what is typed next is seen, and the cursor is."""
        hides, shows = self.shown.rfind(b"\x1b[?25l"), self.shown.rfind(b"\x1b[?25h")
        return hides <= shows and termios.tcgetattr(self.near) == self.before


@pytest.fixture
def screen() -> Iterator[Screen]:
    made = Screen()
    yield made
    made.close()


@pytest.mark.parametrize("how", ["ctrl-c", "closed", "killed"])
def test_at_a_terminal(lab, tmp_path, screen, how) -> None:
    job = Launched(lab, tmp_path, train=SAYS_HOW_FAR, **screen.streams())
    until(lambda: b"samples/s" in screen.shown, "the table")
    match how:
        case "ctrl-c":
            os.write(screen.near, b"\x03")
        case "closed":
            screen.close()
        case "killed":
            job.process.kill()
    all_gone(lab, PROMISED_S)
    expected = {"ctrl-c": 130, "closed": 129, "killed": -9}[how]
    assert job.process.wait(PATIENCE_S) == expected
    check(job, is_killed=how == "killed")
    until(lambda: how == "closed" or screen.is_as_before(), "what it showed last")


@pytest.mark.parametrize(
    "held",
    [
        sending,
        training,
        collecting,
        *(pytest.param(held, marks=pytest.mark.thorough) for held in (reaching, opening, serving)),
    ],
)
def test_a_killed_launcher_leaves_nothing_running(lab, tmp_path, held: Held) -> None:
    with held(lab, tmp_path) as job:
        job.process.kill()
        if held is not reaching:  # one node is frozen until then
            all_gone(lab, LEASH_S)
    all_gone(lab, LEASH_S)
    job.process.wait()
    check(job, is_killed=True)
    for node in lab.names:
        assert held is not sending or not jobs(lab, node), "half a workspace is none"
        assert held not in (serving, training) or "stopped: leash" in job.log(node, "agent.log")
