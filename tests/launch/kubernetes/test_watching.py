"""What an API server says of pods, read."""

from __future__ import annotations

from typing import Any

from paddle._launch.kubernetes import names
from paddle._launch.kubernetes.watching import states, warnings

JOB = "job1"


def pod(
    kind: str, name: str, *, state: dict[str, Any] | None = None, created: str = "1", **status: Any
) -> dict[str, Any]:
    held = {"containerStatuses": [{"state": state}]} if state is not None else {}
    return {
        "metadata": {
            "name": name,
            "uid": f"{name}-{created}",
            "labels": names.labels(JOB, kind),
            "creationTimestamp": created,
        },
        "spec": {"hostname": name},
        "status": {"phase": "Pending", **held, **status},
    }


def test_pods_are_known_by_their_kind_and_the_number_of_their_host() -> None:
    indexed = pod("trainer", "job1-trainer-x7k2p", state={"running": {}})
    indexed["spec"]["hostname"] = "job1-trainer-1"
    found = states({"items": [pod("pserver", "job1-pserver-12", state={}), indexed]})
    assert set(found) == {"pserver-12", "trainer-1"}
    assert found["trainer-1"].name == "job1-trainer-x7k2p"
    assert found["trainer-1"].is_running
    assert not found["pserver-12"].has_begun


def test_of_two_pods_in_one_place_the_newer_counts() -> None:
    old, new = (pod("trainer", "job1-trainer-0", created=when, state={"running": {}}) for when in "12")
    assert states({"items": [new, old]})["trainer-0"].uid == "job1-trainer-0-2"


def test_what_keeps_a_pod_from_running_is_in_the_clusters_words() -> None:
    scheduled = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "Insufficient cpu",
    }
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    making = {"waiting": {"reason": "ContainerCreating"}}
    found = states(
        {
            "items": [
                pod("trainer", "a-trainer-0", conditions=[scheduled]),
                pod("trainer", "a-trainer-1", state=waiting),
                pod("trainer", "a-trainer-2", state=making),
            ]
        }
    )
    said = [(each.trouble, each.is_hopeless) for each in found.values()]
    assert said == [
        ("Unschedulable: Insufficient cpu", False),
        ("ImagePullBackOff: no such image", False),
        ("", False),
    ]


def test_how_a_container_ended_is_its_status_and_an_evicted_pod_has_failed() -> None:
    ended = pod("trainer", "a-trainer-0", state={"terminated": {"exitCode": 137}})
    evicted = pod("trainer", "a-trainer-1", phase="Failed", reason="Evicted", message="disk pressure")
    going = pod("trainer", "a-trainer-2", state={"running": {}})
    going["metadata"]["deletionTimestamp"] = "2"
    found = states({"items": [ended, evicted, going]})
    assert [found[f"trainer-{rank}"].last.status for rank in range(2)] == [137, 1]
    assert [found[f"trainer-{rank}"].has_ended for rank in range(3)] == [True, True, False]
    assert found["trainer-1"].trouble == "Evicted: disk pressure"
    assert not found["trainer-2"].is_running


def test_events_tell_why_there_are_no_pods_of_this_job_alone() -> None:
    event = {"reason": "FailedCreate", "message": "exceeded quota"}
    about = [{**event, "involvedObject": {"name": name}} for name in ("job1-trainer", "job10-trainer")]
    assert list(warnings({"items": about}, JOB)) == [("job1-trainer", "FailedCreate: exceeded quota")]
