"""The Kubernetes that tests have: what it is, what it refuses, and that nothing of it is left."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.kubernetes.training import Training
from tests.lab.group import hierarchies
from tests.lab.kubernetes.image import RUNTIME
from tests.lab.kubernetes.one_node import OneNode
from tests.lab.test_end import interfaces
from tests.waiting import until

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one"},
    "spec": {
        "securityContext": {
            "runAsUser": 7164,
            "runAsGroup": 7164,
            "runAsNonRoot": True,
            "fsGroup": 7164,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "one",
                "image": RUNTIME,
                "command": ["sleep", "1000"],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    },
}


def test_it_is_a_node_of_kubernetes_that_runs_pods_of_our_image(training: Training) -> None:
    (node,) = training.one_node.get("nodes")
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.20.2"
    apply(training, POD)
    training.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "pod/one")
    said = training.kubectl(
        "exec", "one", "--", "python3", "-c", "import paddle.v2; print(paddle.v2.__name__)"
    )
    assert said == "paddle.v2\n"


def apply(training: Training, pod: object, user: str = "admin") -> None:
    training.kubectl("apply", "-f", "-", input=json.dumps(pod), user=user)


def test_pods_of_controllers_are_let_in_only_if_they_keep_to_the_restricted_profile(
    training: Training,
) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "root"},
        "spec": {
            "selector": {"matchLabels": {"app": "root"}},
            "template": {
                "metadata": {"labels": {"app": "root"}},
                "spec": {
                    "hostNetwork": True,
                    "securityContext": {"runAsUser": 0},
                    "containers": [{"name": "one", "image": RUNTIME, "command": ["sleep", "1000"]}],
                },
            },
        },
    }
    apply(training, deployment)
    until(lambda: "forbidden" in training.kubectl("get", "events"), "a word on what is forbidden")
    said = training.kubectl("get", "events")
    assert "Host network is not allowed" in said
    assert "running with the root UID is forbidden" in said
    assert not training.pods()


def test_who_launches_may_do_what_the_role_says_and_nothing_in_other_namespaces(training: Training) -> None:
    def may(*words: str) -> bool:
        asked = ("auth", "can-i", *words)
        return training.one_node.kubectl(*asked, user="launcher", check=False).strip() == "yes"

    assert may("create", "statefulsets.apps", f"--namespace={training.space}")
    assert may("create", "pods", "--subresource=exec", f"--namespace={training.space}")
    assert not may("create", "pods", f"--namespace={training.space}")
    assert not may("get", "pods", "--namespace=default")
    assert not may("get", "nodes")


def test_names_of_pods_are_told_by_headless_services_alone(training: Training) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "job"},
        "spec": {"clusterIP": "None", "selector": {"app": "one"}, "publishNotReadyAddresses": True},
    }
    named = {"hostname": "first", "subdomain": "job"}
    pod = {**POD, "metadata": {"name": "one", "labels": {"app": "one"}}, "spec": {**POD["spec"], **named}}  # type: ignore[dict-item]
    for each in (service, pod):
        apply(training, each)
    training.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "pod/one")
    address = training.pods()["one"]["status"]["podIP"]
    for name in ("first.job", "job", f"first.job.{training.space}.svc.cluster.local"):
        said = training.kubectl("exec", "one", "--", "getent", "ahosts", name)
        assert re.findall(r"(\S+) +STREAM", said) == [address]
    asked = "getent ahosts second.job || getent ahosts example.com || echo unknown"
    assert training.kubectl("exec", "one", "--", "sh", "-c", asked) == "unknown\n"


def test_nothing_is_left_of_one_that_is_closed(one_node: OneNode, request: pytest.FixtureRequest) -> None:
    """Of another one, beside the one that all tests have."""
    before = interfaces()
    programs = request.config.getoption("--kubernetes").resolve()
    with OneNode(programs, images=False) as other:
        folder, group = other.folder, other.group.path.name
        assert [path for path in every_group(group) if path.exists()]
        assert mounted(folder) == []  # in its own namespace alone
    until(lambda: not folder.exists(), "its folder to be gone")
    assert not [path for path in every_group(group) if path.exists()]
    assert interfaces() == before
    assert not processes_of(folder)


def every_group(name: str) -> list[Path]:
    return [top / name for top in hierarchies()]


def mounted(folder: Path) -> list[str]:
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(folder) in line]


def processes_of(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            found += [entry.name] if str(folder).encode() in words else []
    return found
