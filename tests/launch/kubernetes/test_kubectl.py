"""How kubectl is called, and where: a program on PATH that says what a test wants."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddle._launch.errors import NodeError
from paddle._launch.kubernetes import names, removal, whereabouts
from paddle._launch.kubernetes.kubectl import Kubectl, Refused
from paddle._launch.plan import LaunchPlan
from tests.waiting import PATIENCE_S

from .jobs import planned, workspace

HERE = {"name": "here", "context": {"namespace": "training", "cluster": "c", "user": "u"}}
BARE = {"name": "bare", "context": {"cluster": "c", "user": "u"}}
IN_A_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}


@pytest.fixture
def launch(tmp_path: Path) -> LaunchPlan:
    return planned(workspace(tmp_path / "package"))


def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Make kubectl a program of sh."""
    own = folder / "bin"
    own.mkdir()
    (own / "kubectl").write_text(f"#!/bin/sh\n{body}\n")
    (own / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", str(own), prepend=":")


def with_view(folder: Path, monkeypatch: pytest.MonkeyPatch, current: str, *contexts: dict[str, Any]) -> None:
    view = {"kind": "Config", "current-context": current, "contexts": list(contexts) or None}
    (folder / "view").write_text(json.dumps(view))
    on_path(
        folder,
        monkeypatch,
        f'[ "$2 $3" = "config view" ] || [ "$3 $4" = "config view" ] && cat {folder}/view',
    )


def place(
    launch: LaunchPlan, environ: dict[str, str], account: Path, context: str = "", namespace: str = ""
) -> tuple[str, str]:
    assert launch.pods is not None
    asked = msgspec.structs.replace(launch.pods, context=context, namespace=namespace)
    found = whereabouts.settled(msgspec.structs.replace(launch, pods=asked), environ, account).pods
    assert found is not None
    return found.context, found.namespace


def test_the_place_of_a_job_is_what_kubectl_has_at_its_launch(
    launch: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_view(tmp_path, monkeypatch, "here", HERE, BARE)
    assert place(launch, {}, tmp_path) == ("here", "training")
    assert place(launch, {}, tmp_path, context="bare") == ("bare", "default")
    assert place(launch, {}, tmp_path, namespace="mine") == ("here", "mine")


def test_in_a_pod_without_contexts_it_is_the_namespace_of_its_account(
    launch: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_view(tmp_path, monkeypatch, "")
    (tmp_path / "namespace").write_text("team\n")
    assert place(launch, IN_A_POD, tmp_path) == ("", "team")
    assert place(launch, {**IN_A_POD, "POD_NAMESPACE": "told"}, tmp_path) == ("", "told")
    assert place(launch, IN_A_POD, tmp_path / "none") == ("", "default")
    assert place(launch, {}, tmp_path) == ("", "default")


def test_a_context_that_kubectl_does_not_know_is_refused(
    launch: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_view(tmp_path, monkeypatch, "gone", HERE)
    with pytest.raises(NodeError, match="no context gone; there are: here"):
        place(launch, {}, tmp_path)


def test_what_is_to_be_typed_by_hand_says_where(launch: LaunchPlan) -> None:
    assert launch.pods is not None
    asked = msgspec.structs.replace(launch.pods, context="here", namespace="training")
    told = removal.by_hand(msgspec.structs.replace(launch, pods=asked))
    assert "kubectl --context=here --namespace=training delete" in told


def test_a_kubectl_that_hangs_is_given_up_with_what_to_try(
    launch: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path(tmp_path, monkeypatch, "sleep 1000 & wait")  # a part of it holds its pipes
    assert launch.pods is not None
    with pytest.raises(NodeError, match=r"did not end within 0 s\. What it waits for .*cluster-info"):
        Kubectl(launch.pods).ask("version", within_s=0.3)


def test_an_abandoned_kubectl_is_waited_for_by_nobody(
    launch: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path(tmp_path, monkeypatch, f"touch {tmp_path}/began; sleep 1000 & wait")
    assert launch.pods is not None
    kubectl = Kubectl(launch.pods)
    said: list[str] = []

    def ask() -> None:
        try:
            kubectl.ask("create")
        except NodeError as error:
            said.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    while not (tmp_path / "began").exists():
        time.sleep(0.01)
    kubectl.abandon()
    thread.join(PATIENCE_S)
    assert said == ["`kubectl create` was not waited for."]
    with pytest.raises(NodeError, match="not asked any more"):
        kubectl.ask("get")


@pytest.mark.parametrize(
    ("said", "is_refused"),
    [
        ('Error from server (AlreadyExists): services "job" already exists', True),
        ("Error from server (Forbidden): services is forbidden", True),
        ("Unable to connect to the server: net/http: TLS handshake timeout", False),
    ],
)
def test_what_a_cluster_refuses_is_told_from_what_it_did_not_answer(
    launch: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, is_refused: bool
) -> None:
    on_path(tmp_path, monkeypatch, f"echo '{said}' >&2; exit 1")
    assert launch.pods is not None
    with pytest.raises(NodeError) as raised:
        Kubectl(launch.pods).ask("create")
    assert isinstance(raised.value, Refused) is is_refused


def test_letters_of_names_are_drawn_anew_and_leave_room_in_a_label() -> None:
    drawn = {names.letters() for _ in range(100)}
    assert len(drawn) == 100
    longest = f"job20261122120000-{drawn.pop()}"
    assert len(longest) <= names.LONGEST_JOB
    assert len(names.pod(longest, "trainer", 999) + "-abcde-0123456789") <= 63
