"""Containers that end without a word, as an API server tells of them, and what becomes of that."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.backends.pod import Pod
from paddle._launch.errors import NodeError
from paddle._launch.events import RoleExited, RoleReady
from paddle._launch.flags import defaults_of
from paddle._launch.kubernetes import advice
from paddle._launch.kubernetes.watching import PodState, key, states
from paddle._launch.news import Placed, Printed, Restarted
from paddle._launch.plan import LaunchPlan
from paddle._launch.turn import Turn
from tests.waiting import until

from .jobs import planned, workspace
from .test_watching import pod

READY = 'paddle pod: report: {"event": "report", "role": "pserver-0", "report": {"report": "ready"}}'
KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
OUT_OF_MEMORY = "OOMKilled; it had more memory than it may: --pserver_memory=2Gi, say, gives each more"
BACK_OFF = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}}
RUNNING: dict[str, Any] = {"running": {}}


def stamped(*lines: str, second: int = 0) -> str:
    return "".join(f"2026-11-22T12:00:{second:02d}.{n:09d}Z {line}\n" for n, line in enumerate(lines))


class Logs:
    """A kubectl that has logs: ``now`` of the container that runs, and goes on; ``before``."""

    def __init__(self) -> None:
        self.now, self.before = "", ""
        self.asked: list[tuple[str, ...]] = []
        self.streams: list[subprocess.Popen[bytes]] = []

    def ask(self, *words: str, **_: Any) -> str:
        self.asked.append(words)
        if not self.before:
            raise NodeError("previous terminated container not found")
        return self.before

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        command = ["sh", "-c", 'printf "%s" "$1"; exec sleep 600', "sh", self.now]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.streams.append(process)
        return process


@pytest.fixture
def logs() -> Iterator[Logs]:
    made = Logs()
    yield made
    for process in made.streams:
        process.kill()
        process.wait()


def stand(state: dict[str, Any], last: dict[str, Any] | None = None, restarts: int = 0) -> PodState:
    shown = pod("pserver", "job1-pserver-0")
    container = {"state": state, "lastState": last or {}, "restartCount": restarts}
    shown["status"]["containerStatuses"] = [container]
    return states({"items": [shown]})["pserver-0"]


def followed(launch: LaunchPlan, logs: Logs, posted: list[object]) -> Pod:
    made = Pod(launch, launch.nodes[0], logs, posted.append, Turn(launch.home))  # type: ignore[arg-type]
    made.start()
    return made


def of_kind(posted: list[object], kind: type[Any]) -> list[Any]:
    return [each for each in posted if isinstance(each, kind)]


def printed(posted: list[object]) -> list[str]:
    return [line for each in of_kind(posted, Printed) for line in each.lines]


@pytest.mark.parametrize(
    ("seen", "is_running"),
    [
        ([(BACK_OFF, KILLED, 0)], False),  # it ran between two looks
        ([(RUNNING, None, 0), (BACK_OFF, KILLED, 0)], False),
        ([(RUNNING, None, 0), (RUNNING, KILLED, 1)], True),  # another had begun between two looks
    ],
)
def test_a_container_that_ended_between_two_looks_is_the_end_of_its_role(
    seen: list[tuple[Any, Any, int]], is_running: bool, logs: Logs, tmp_path: Path
) -> None:
    logs.before = stamped("it begins", "MemoryError")
    posted: list[object] = []
    crew = followed(planned(workspace(tmp_path / "package")), logs, posted)
    for look in seen:
        crew.see(stand(*look))
    until(lambda: of_kind(posted, RoleExited), "the end of the role")
    crew.see(stand(BACK_OFF, KILLED, 5))
    assert of_kind(posted, RoleExited) == [RoleExited("pserver-0", -9, OUT_OF_MEMORY)]
    assert of_kind(posted, Placed) == [Placed("pserver-0", "pod job1-pserver-0")]
    assert printed(posted) == ["it begins", "MemoryError"]
    assert "--previous" in logs.asked[0]
    assert stand(*seen[-1]).is_running == is_running
    crew.leave()


def test_one_that_had_served_and_keeps_snapshots_is_told_to_begin_again(logs: Logs, tmp_path: Path) -> None:
    logs.now = stamped(READY)
    posted: list[object] = []
    crew = followed(planned(workspace(tmp_path / "package"), "--snapshot_dir=snapshots"), logs, posted)
    crew.see(stand(RUNNING))
    until(lambda: of_kind(posted, RoleReady), "a parameter server that serves")
    crew.see(stand(RUNNING, KILLED, 1))
    (told,) = of_kind(posted, Restarted)
    assert (told.role, "SIGKILL (OOMKilled;" in told.text) == ("pserver-0", True)
    crew.see(stand(RUNNING, KILLED, 1))
    assert len(of_kind(posted, Restarted)) == 1
    assert not of_kind(posted, RoleExited)
    for restarts in (2, 3, 4):  # and never serves again
        crew.see(stand(RUNNING, KILLED, restarts))
    until(lambda: of_kind(posted, RoleExited), "the end of the role")
    assert len(of_kind(posted, Restarted)) == 3
    crew.leave()


@pytest.mark.parametrize("sign", ["executable file not found in $PATH", "no such file or directory"])
def test_a_container_that_can_never_start_is_hopeless_and_told_without_its_number(sign: str) -> None:
    def told(number: str) -> PodState:
        message = f'failed to start container "{number * 64}": exec: "python3": {sign}: unknown'
        return stand({"waiting": {"reason": "RunContainerError", "message": message}})

    one, other = told("a"), told("b")
    assert one.trouble == other.trouble
    assert sign in one.trouble
    assert (one.is_hopeless, one.has_begun) == (True, False)
    started = {"terminated": {"exitCode": 128, "reason": "StartError", "message": f"exec: {sign}"}}
    between = stand(BACK_OFF, started, 2)
    assert (between.trouble, between.is_hopeless, between.ends) == (f"StartError: exec: {sign}", True, 0)


def test_a_container_that_may_start_later_is_waited_for() -> None:
    waits = stand({"waiting": {"reason": "RunContainerError", "message": "no room left"}})
    assert (waits.is_hopeless, waits.trouble) == (False, "RunContainerError: no room left")


def test_reasons_are_cut_between_words_and_the_same_one_is_known_after_a_longer_pause() -> None:
    long = stand({"waiting": {"reason": "RunContainerError", "message": "word " * 200}}).trouble
    assert set(long.removeprefix("RunContainerError: ").split()) == {"word", "..."}
    assert key("back-off 10s restarting") == key("back-off 1m20s restarting")
    assert key("2 Insufficient cpu") != key("3 Insufficient cpu")


def test_a_process_that_is_killed_where_memory_is_limited_is_told_by_which_flag(
    logs: Logs, tmp_path: Path
) -> None:
    ended = '{"event": "exit", "role": "pserver-0", "status": -9}'
    logs.now = stamped(f"paddle pod: report: {ended}")
    posted: list[object] = []
    crew = followed(planned(workspace(tmp_path / "package"), "--pserver_memory=96Mi"), logs, posted)
    crew.see(stand(RUNNING))
    (exited,) = until(lambda: of_kind(posted, RoleExited), "the end of the role")
    assert "--pserver_memory=96Mi" in exited.why
    crew.leave()


@pytest.mark.parametrize(
    ("said", "role", "flag"),
    [
        ("Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.", "trainer-0", "--trainer_cpu="),
        ("Unschedulable: 0/1 nodes are available: 1 Insufficient memory.", "pserver-1", "--pserver_memory="),
        ("ImagePullBackOff: Back-off pulling image", "pserver-0", "--image_pull_secret="),
        ("ErrImagePull: unauthorized", "pserver-0", "--image_pull_secret="),
        ("OOMKilled", "trainer-3", "--trainer_memory="),
        ('StartError: exec: "python4": executable file not found in $PATH', "trainer-0", "--node_python="),
        ("pod has unbound immediate PersistentVolumeClaims", "pserver-0", "--storage_class"),
    ],
)
def test_what_a_cluster_says_comes_with_the_flag_that_helps(said: str, role: str, flag: str) -> None:
    told = advice.with_it(said, role)
    assert told.startswith(said.rstrip("."))
    assert flag in told
    (name,) = set(re.findall(r"--(\w+)", flag))
    assert name in defaults_of("launcher")


def test_where_nobody_knows_what_to_do_only_the_cluster_speaks() -> None:
    assert advice.with_it("RunContainerError: no room left", "trainer-0") == "RunContainerError: no room left"
    assert advice.with_it("", "trainer-0") == ""
