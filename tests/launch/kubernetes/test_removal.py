"""A job is taken away, by a kubectl that a test writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from paddle._launch.errors import NodeError
from paddle._launch.kubernetes import removal, whole
from paddle._launch.kubernetes.kubectl import Kubectl, Refused

from .jobs import planned, workspace

JOB = "job20261122120000-abcdef"
SILENT = NodeError("no answer.")


class Scripted:
    """Answers as it is told, once each, and then that nothing is left; ``asked``: the verbs;
    ``deleted``: what was to go, as kubectl names it."""

    def __init__(self, **answers: list[str | NodeError]) -> None:
        self.asked: list[str] = []
        self.deleted: list[str] = []
        self._answers = answers

    def ask(self, verb: str, *words: str) -> str:
        self.asked.append(verb)
        if verb == "delete":
            self.deleted += words[0].split(",")
        answers = self._answers.get(verb, [])
        answer = answers.pop(0) if answers else ""
        if isinstance(answer, NodeError):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "_AGAIN_S", 0.0)
    monkeypatch.setattr(removal, "_LOOK_S", 0.0)


def taken(
    kubectl: Scripted, patience_s: float = 60.0, is_hurried: Callable[[], bool] = lambda: False
) -> list[str]:
    return list(removal.remove(cast(Kubectl, kubectl), JOB, patience_s, is_hurried))


def test_what_is_waited_for_is_said_and_not_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "_TOLD_S", 0.0)
    left = "\n".join(f"pod/{number}" for number in range(6))
    told = taken(Scripted(get=[left] * 5))
    assert told == ["waiting for pod/0, pod/1, pod/2, pod/3 and 2 more for 0 s"]


def test_a_call_without_an_answer_is_made_again_and_that_is_said_once() -> None:
    kubectl = Scripted(delete=[SILENT, SILENT], get=[SILENT])
    assert taken(kubectl) == ["no answer. It is tried again."] * 2
    assert kubectl.asked == ["delete"] * 5 + ["get"] * 2


def test_a_refusal_is_not_asked_again() -> None:
    kubectl = Scripted(delete=[Refused("forbidden.")])
    with pytest.raises(NodeError, match="forbidden"):
        taken(kubectl)
    assert kubectl.asked == ["delete"]


def test_who_may_not_delete_pods_waits_until_the_cluster_does() -> None:
    kubectl = Scripted(delete=["", Refused("forbidden."), ""], get=["pod/a"])
    assert taken(kubectl) == ["forbidden. They go behind what made them, later."]
    assert "secrets" in kubectl.deleted
    assert kubectl.asked == ["delete"] * 3 + ["get"] * 2


def test_patience_ends() -> None:
    with pytest.raises(NodeError, match="no answer"):
        taken(Scripted(delete=[SILENT] * 9), patience_s=-1.0)
    with pytest.raises(NodeError, match="pod/a of job20261122120000-abcdef are still on their way out"):
        taken(Scripted(get=["pod/a"] * 9), patience_s=-1.0)


def test_who_is_hurried_does_not_wait() -> None:
    with pytest.raises(NodeError, match="on their way out"):
        taken(Scripted(get=["pod/a"] * 9), is_hurried=lambda: True)


def test_whatever_is_made_is_taken_away(tmp_path: Path) -> None:
    made = whole.objects(planned(workspace(tmp_path / "job"), "--snapshot_dir=snapshots"), "v1.37.0")
    kinds = {f"{each['kind'].lower()}s" for each in made}
    kubectl = Scripted()
    taken(kubectl)
    assert "poddisruptionbudgets" in kinds
    # A StatefulSet makes pods and claims, a Job pods: neither takes them with it at once, or at all.
    assert sorted(kubectl.deleted) == sorted(kinds | {"pods", "persistentvolumeclaims"})
