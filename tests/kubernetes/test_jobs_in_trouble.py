"""Jobs on a real Kubernetes from another shell, and what becomes of them where something goes wrong."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

from tests.kubernetes import programs
from tests.kubernetes.test_jobs import hanging, locally, names_of, trainer_logs
from tests.kubernetes.training import PATIENCE_S, Training
from tests.waiting import until

RESTORED = "goes on from version"  # a snapshot's


def test_a_job_is_seen_read_collected_and_stopped_from_another_shell(training: Training) -> None:
    job = hanging(training)
    found = training.fab("status", "--format=json", *training.chosen)
    assert found.returncode == 0
    told = json.loads(found.stdout)
    assert (told["standing"], told["phase"]) == ("runs", "train")
    logs = training.fab("logs", "--role=trainer-1", *training.chosen)
    assert "[" in logs.stdout
    assert training.fab("collect", *training.chosen).returncode == 0
    assert len(trainer_logs(job.package)) == 3
    assert len(training.pods("trainer")) == 3, "collecting stops nothing"
    assert training.fab("stop", *training.chosen).returncode == 0
    status, _, _ = job.end()
    assert status == 143
    assert not training.left()


def test_a_job_goes_on_without_its_launcher_and_is_stopped_by_its_record(training: Training) -> None:
    job = hanging(training)
    os.kill(job.process.pid, signal.SIGKILL)
    job.process.wait()
    assert len(training.pods()) == 5
    assert training.fab("status", *training.chosen).returncode == 0
    assert training.fab("stop", *training.chosen).returncode == 0
    until(lambda: not training.left(), f"the end of {training.left()}", PATIENCE_S)


def test_a_pserver_that_is_deleted_comes_back_from_its_snapshot(training: Training, tmp_path) -> None:
    package = training.package(train=programs.train(passes=20, pause_s=0.1))
    job = training.start(package, "--snapshot_dir=snapshots", "--snapshot_period=8")
    trainers = until(lambda: names_of(training, "trainer", 3), "three trainers", PATIENCE_S)
    (victim, _) = until(lambda: names_of(training, "pserver", 2), "two pservers", PATIENCE_S)
    training.wait_for_log(trainers[0], "batch 20\n")
    before = training.pods("pserver")[victim]["metadata"]["uid"]
    training.kubectl("delete", "pod", victim, "--grace-period=0", "--force", "--wait=false")

    def is_another() -> bool:
        return (
            training.pods("pserver").get(victim, {"metadata": {"uid": before}})["metadata"]["uid"] != before
        )

    until(is_another, f"another {victim}", PATIENCE_S)
    status, output, _ = job.end()
    assert status == 0
    ended = costs_of(package)
    assert len(ended) == 3
    assert ended == costs_of(locally(package, tmp_path / "alone"))
    assert f"pserver-{victim.rpartition('-')[2]}: its pod is gone, and another takes its place" in output
    assert RESTORED in said_by(package, 0), "the new pod begins from what the volume has"
    assert RESTORED not in said_by(package, 1)
    assert not training.left()


def said_by(package: Path, node: int) -> str:
    """All that a parameter server has said."""
    return "".join(path.read_text() for path in sorted(package.glob(f"log/node-{node}/*")))


def costs_of(workspace: Path) -> list[list[float]]:
    """Of all batches, by trainer."""
    return [json.loads(text.splitlines()[-1]) for text in trainer_logs(workspace)]


def test_what_keeps_pods_from_running_is_told_in_the_clusters_words(training: Training) -> None:
    package = training.package(train=programs.train())
    job = training.start(package, "--trainer_cpu=64")
    assert "Insufficient cpu" in job.wait_for("Insufficient cpu")
    job.process.send_signal(signal.SIGINT)
    assert job.end()[0] == 130
    assert not training.left()
    job = training.start(package, "--image=no-such-image:1")
    status, _, errors = job.end()
    assert status
    assert "the image no-such-image:1 could not be pulled" in errors
    assert "5 pods wait" in errors
    assert not training.left()


def test_a_namespace_that_is_not_there_is_said_before_anything_is_made(training: Training) -> None:
    began = time.monotonic()
    status, _, errors = training.start(training.package(train=programs.train()), "--namespace=nowhere").end()
    assert status
    assert "nowhere" in errors
    assert time.monotonic() - began < 30
