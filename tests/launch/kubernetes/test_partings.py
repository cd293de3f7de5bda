"""Pods that are gone, or stay on their way out, and what becomes of their roles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.actions import TellFallen
from paddle._launch.backends.pod import Pod
from paddle._launch.errors import NodeError
from paddle._launch.events import Event, NodeFailed, RoleExited
from paddle._launch.kubernetes.inside.hearing import line_of
from paddle._launch.kubernetes.parting import GOING_S, GONE_S, Parting
from paddle._launch.kubernetes.watching import PodState, failed_jobs, states
from paddle._launch.news import News, Restarted, Told
from paddle._launch.turn import Turn
from tests.waiting import until

from .jobs import planned, workspace
from .test_crashes import RUNNING, Logs, logs, of_kind
from .test_watching import pod

__all__ = ["logs"]  # fixtures

WAITING = {"waiting": {"reason": "ContainerCreating"}}


class Seen:
    """A pod of ``kind`` that is looked at once a second of ``now``."""

    def __init__(self, kind: str, logs: Logs, package: Path, *flags: str, state: Any = None) -> None:
        launch = planned(package, *flags)
        (node,) = [node for node in launch.nodes if node.roles[0].kind == kind]
        self.now, self.posted = 0.0, list[object]()
        post: Callable[[Event | News], None] = self.posted.append
        self.kind = kind
        self.pod = Pod(launch, node, logs, post, Turn(launch.home), lambda: self.now)  # type: ignore[arg-type]
        self.pod.start()
        self.see(self.stands(state=state or RUNNING))

    def stands(self, *, uid: str = "1", is_leaving: bool = False, state: Any = RUNNING) -> PodState:
        shown = pod(self.kind, f"job1-{self.kind}-0", state=state, created=uid)
        if is_leaving:
            shown["metadata"]["deletionTimestamp"] = "2"
        return states({"items": [shown]})[f"{self.kind}-0"]

    def see(self, state: PodState | None, seconds: float = 1.0, why: str = "") -> None:
        for _ in range(int(seconds)):
            self.now += 1.0
            self.pod.see(state, why)

    def ends(self) -> list[RoleExited]:
        return of_kind(self.posted, RoleExited)

    def told(self) -> str:
        return "\n".join(each.text for each in of_kind(self.posted, Told))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return workspace(tmp_path / "package")


@pytest.mark.parametrize("kind", ["trainer", "pserver"])
def test_a_pod_that_vanishes_is_lost_after_its_time_and_once(kind: str, logs: Logs, package: Path) -> None:
    seen = Seen(kind, logs, package)
    seen.see(None, GONE_S[kind])
    assert not seen.ends()
    assert not of_kind(seen.posted, NodeFailed), "where trainers may fail, the others go on"
    seen.see(None, 5)
    (end,) = seen.ends()
    assert (end.role, end.status) == (f"{kind}-0", -9)
    assert f"job1-{kind}-0 is gone" in end.why
    seen.pod.leave()


def test_a_parameter_server_has_longer_and_is_told_and_its_next_pod_is_followed(
    logs: Logs, package: Path
) -> None:
    seen = Seen("pserver", logs, package, "--snapshot_dir=snapshots")
    seen.see(None, GONE_S["trainer"] + 5)
    assert "another is to take its place within 120 s" in seen.told()
    seen.see(seen.stands(uid="2"))
    assert len(of_kind(seen.posted, Restarted)) == 1
    seen.see(None, GONE_S["pserver"])
    assert not seen.ends(), "the time begins anew"
    assert seen.told().count("another is to take its place") == 2
    seen.pod.leave()


@pytest.mark.parametrize("kind", ["trainer", "pserver"])
def test_a_pod_that_stays_on_its_way_out_is_lost_in_the_end(kind: str, logs: Logs, package: Path) -> None:
    seen = Seen(kind, logs, package)
    seen.see(seen.stands(is_leaving=True), GOING_S[kind])
    assert not seen.ends()
    assert ("kubectl delete pod job1-pserver-0 --grace-period=0 --force" in seen.told()) == (
        kind == "pserver"
    )
    seen.see(seen.stands(is_leaving=True), 5)
    (end,) = seen.ends()
    assert "its machine may be lost" in end.why
    seen.pod.leave()


def test_why_no_other_is_made_ends_it_at_once_and_is_told(logs: Logs, package: Path) -> None:
    seen = Seen("trainer", logs, package)
    assert not seen.pod.lacks
    seen.see(None)
    assert seen.pod.lacks
    seen.see(
        None, why="its Job has failed (BackoffLimitExceeded: Job has reached the specified backoff limit)"
    )
    (end,) = seen.ends()
    assert "BackoffLimitExceeded" in end.why
    assert not seen.pod.lacks
    seen.pod.leave()


def test_a_trainers_next_pod_takes_up_what_never_ran_and_nothing_else(logs: Logs, package: Path) -> None:
    seen = Seen("trainer", logs, package)
    seen.see(seen.stands(uid="2"))
    (end,) = seen.ends()
    assert "cannot take up the pass" in end.why
    seen.pod.leave()
    waited = Seen("trainer", logs, package.parent / "package")
    waited.posted.clear()
    waited.pod.know(waited.stands(uid="3", state={"waiting": {"reason": "ContainerCreating"}}))
    waited.see(None, GONE_S["trainer"] + 5)
    waited.see(waited.stands(uid="4"))
    assert not waited.ends()
    waited.pod.leave()


def test_what_has_ended_or_is_stopped_may_go(logs: Logs, package: Path) -> None:
    stopped = Seen("trainer", logs, package)
    stopped.pod.stop()
    stopped.see(None, GONE_S["trainer"] + 5)
    assert not stopped.ends()
    stopped.pod.leave()


def test_a_pod_that_comes_back_to_the_list_was_not_gone() -> None:
    """As where two servers of a cluster's API are not of one mind."""
    parting = Parting("trainer")
    here = PodState(role="trainer-0", name="p", uid="1", phase="Running", created="1")
    looks = [(None, 1.0), (None, 10.0), (here, 11.0), (None, 12.0), (None, 26.0)]
    assert [parting.look("p", state, now) for state, now in looks] == [("", "")] * len(looks)
    assert parting.look("p", None, 28.0)[1]


def test_jobs_that_have_failed_say_why() -> None:
    condition = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}
    jobs = {
        "a": [condition],
        "b": [{**condition, "status": "False"}],
        "c": [{**condition, "type": "Complete"}],
    }
    items = [{"metadata": {"name": name}, "status": {"conditions": told}} for name, told in jobs.items()]
    assert failed_jobs({"items": [*items, {"metadata": {"name": "d"}}]}) == {
        "a": "its Job has failed (BackoffLimitExceeded: too often)",
        "b": "",
        "c": "",
        "d": "",
    }


def test_what_a_pod_could_not_be_told_it_is_told_in_order_once_it_can(
    logs: Logs, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    refused = ["container not running"]

    def ask(*words: str, given: str, **_: object) -> str:
        if refused:
            raise NodeError(refused.pop())
        heard.append(given)
        return ""

    monkeypatch.setattr(logs, "ask", ask)
    seen = Seen("trainer", logs, package, state=WAITING)  # trainers meet at it, and others have ended before
    news = [TellFallen("trainer-0", f"trainer-{n}", f"trainer-{n} ended", goes_on=True) for n in (1, 2)]
    for each in news:
        seen.pod.tell(each)
    assert (heard, seen.told()) == ([], "")
    seen.see(seen.stands())
    until(lambda: "could not be told yet that trainer-1 ended" in seen.told(), "the first attempt")

    def hears() -> bool:
        seen.see(seen.stands())
        return heard == [line_of(each) for each in news]

    until(hears, "both")
    seen.pod.leave()
