"""What pods wait for, told once for each cause, and pulls of images that are tried again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.backends.pods import PodCrew
from paddle._launch.errors import NodeError
from paddle._launch.events import NodeFailed
from paddle._launch.kubernetes.kubectl import Kubectl
from paddle._launch.kubernetes.waits import MOST_PULLS, Waits
from paddle._launch.kubernetes.watching import PodState, states

from .jobs import planned, workspace
from .test_crashes import of_kind
from .test_watching import pod

UNTIL = ". It may take 600 s in all (--connect_timeout)"
UNREACHABLE = 'Get "https://registry.example/v2/": dial tcp: lookup registry.example: no such host'
BACK_OFF = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "far/paddle:1"'}}
FAILED = {"waiting": {"reason": "ErrImagePull", "message": UNREACHABLE}}
CREATING = {"waiting": {"reason": "ContainerCreating"}}
ROLES = ("pserver-0", "trainer-0", "trainer-1")


def stand(role: str, state: dict[str, Any], **status: Any) -> PodState:
    kind = role.partition("-")[0]
    return states({"items": [pod(kind, f"job1-{role}", state=state, **status)]})[role]


def look(waits: Waits, *shown: dict[str, Any] | None) -> list[str]:
    now = {role: stand(role, state) if state else None for role, state in zip(ROLES, shown, strict=True)}
    waits.count(now)
    return list(waits.look(now, UNTIL))


def scheduled(role: str, message: str) -> PodState:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    kind = role.partition("-")[0]
    return states({"items": [pod(kind, f"job1-{role}", conditions=[condition])]})[role]


def test_one_wrong_image_is_told_once_whoever_comes_to_it_first() -> None:
    waits = Waits("far/paddle:1")
    told = [
        *look(waits, CREATING, FAILED, CREATING),
        *look(waits, FAILED, BACK_OFF, FAILED),
        *look(waits, BACK_OFF, BACK_OFF, FAILED),
        *look(waits, BACK_OFF, BACK_OFF, BACK_OFF),
    ]
    (only,) = told
    assert only.startswith("3 pods wait (pserver-0, trainer-0, trainer-1): the image far/paddle:1")
    assert "no such host" in only
    assert "--image_pull_secret" in only
    assert only.endswith(UNTIL)


def test_who_comes_to_a_cause_later_is_told_in_a_few_words() -> None:
    waits = Waits("far/paddle:1")
    assert look(waits, CREATING, FAILED, None) == []
    (first,) = look(waits, CREATING, BACK_OFF, None)
    assert first.startswith("trainer-0 waits: ")
    look(waits, CREATING, BACK_OFF, FAILED)
    (later,) = look(waits, CREATING, BACK_OFF, BACK_OFF)
    assert later.startswith("trainer-1 waits, too: the image far/paddle:1")
    assert len(later) < 100
    assert look(waits, CREATING, BACK_OFF, BACK_OFF) == []


def test_causes_that_other_flags_help_with_are_two() -> None:
    waits = Waits("i")
    now: Mapping[str, PodState | None] = {
        role: scheduled(role, "0/1 nodes are available: 1 Insufficient cpu") for role in ROLES
    }
    assert not list(waits.look(now, UNTIL))
    told = list(waits.look(now, UNTIL))
    assert [text.partition(": ")[0] for text in told] == [
        "pserver-0 waits",
        "2 pods wait (trainer-0, trainer-1)",
    ]
    assert "--pserver_cpu" in told[0]
    assert "--trainer_cpu" in told[1]
    assert waits.with_same("trainer-0", now) == ["trainer-0", "trainer-1"]


def test_a_pull_is_tried_again_until_it_has_failed_too_often() -> None:
    waits = Waits("far/paddle:1")
    for number in range(1, MOST_PULLS + 1):
        state = stand("trainer-0", FAILED)
        assert not waits.is_final("trainer-0", state)
        for _ in range(2):  # one that failed is seen for longer than a look
            waits.count({"trainer-0": state})
        assert waits.is_final("trainer-0", state) == (number == MOST_PULLS)
        waits.count({"trainer-0": stand("trainer-0", BACK_OFF)})
    assert waits.is_final("trainer-0", stand("trainer-0", BACK_OFF))
    assert "no such host" in waits.why("trainer-0", stand("trainer-0", BACK_OFF)), "not that it backs off"
    assert not waits.is_final("trainer-0", stand("trainer-0", CREATING))
    assert not waits.is_final("trainer-1", stand("trainer-1", BACK_OFF))


@pytest.mark.parametrize(
    "said",
    [
        "manifest for library/paddle:2 not found: manifest unknown: manifest unknown",
        "pull access denied for paddle, repository does not exist or may require 'docker login'",
        'failed to resolve reference "docker.io/library/paddle:2": docker.io/library/paddle:2: not found',
        "name unknown: repository paddle not found",
    ],
)
@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff"])
def test_an_image_that_its_registry_does_not_have_is_not_waited_for(reason: str, said: str) -> None:
    state = stand("pserver-0", {"waiting": {"reason": reason, "message": said}})
    assert Waits("paddle:2").is_final("pserver-0", state)


def test_a_pod_that_is_not_there_waits_for_nothing_that_is_known() -> None:
    waits = Waits("i")
    assert look(waits, None, None, None) == []
    assert (waits.is_final("pserver-0", None), waits.why("pserver-0", None)) == (False, "")
    assert waits.with_same("pserver-0", dict.fromkeys(ROLES)) == list(ROLES)


def test_a_pod_that_takes_anothers_place_late_in_a_job_has_the_whole_time_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Kubectl, "begin", no_cluster)
    monkeypatch.setattr(Kubectl, "read", no_cluster)
    posted: list[object] = []
    now = [0.0]
    launch = planned(workspace(tmp_path / "package"), "--connect_timeout=60")
    crew = PodCrew(launch, posted.append, lambda: now[0])
    begun = {role: stand(role, {"running": {}}) for role in ROLES[:2]}
    pending = {**begun, "pserver-0": stand("pserver-0", CREATING, created="2")}
    crew.start("pserver-0")
    for now[0], seen in ((1.0, begun), (3600.0, begun), (3601.0, pending), (3660.0, pending)):
        crew._take(seen)
    assert not of_kind(posted, NodeFailed)
    now[0] = 3662.0
    crew._take(pending)
    (failed,) = of_kind(posted, NodeFailed)
    assert "after 61 s pserver-0 waits" in failed.text
    crew.close()


def no_cluster(*_: object, **__: object) -> None:
    raise NodeError("there is no cluster")
