"""Flags of jobs that mean on pods what they mean on machines, on a stand-in for a cluster (cluster.py)."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fresh import ROOT
from tests.waiting import PATIENCE_S, until

from .cluster import StandIn
from .test_launch import cluster, ended, fab, log, package, start

__all__ = ["cluster", "package"]  # fixtures

pytestmark = pytest.mark.cluster

PAGE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
ONE_FAILS = """
        if rank == 1 and drawn.rand() < 0.1:
            print("gives up", flush=True)
            os._exit(7)
"""
LISTS = """
import os
print("parts", *sorted(os.listdir("train_data_dir")), flush=True)
"""


def dry(cluster: StandIn, package: Path) -> str:
    """What a dry run of one launch prints."""
    return ended(start(cluster, package, "--dry_run"))[1]


@pytest.mark.thorough
def test_a_detached_launch_returns_and_its_job_is_followed_and_stopped(
    cluster: StandIn, package: Path
) -> None:
    status, _, errors = ended(start(cluster, package, "--detach", "--", "hang"))
    assert (status, errors) == (0, "")
    until(lambda: "trained" in log(package, 2), "a trainer", PATIENCE_S)
    assert "runs" in fab(cluster, package, "status").stdout
    assert "trained" in fab(cluster, package, "logs", "--role=trainer-1").stdout
    assert cluster.named()
    assert fab(cluster, package, "stop").returncode == 0
    until(lambda: not cluster.named(), "the end of all of it", PATIENCE_S)


def test_a_job_with_min_trainers_goes_on_without_the_trainer_that_fails(
    cluster: StandIn, package: Path
) -> None:
    before, draws, after = (package / "train.py").read_text().partition("    for _ in range(64):")
    (package / "train.py").write_text(f"{before}{draws}{ONE_FAILS}{after}")
    status, output, _ = ended(start(cluster, package, "--min_trainers=1"))
    assert status == 0
    assert "trainer-1" in output
    assert "trained" in log(package, 1)
    assert "gives up" in log(package, 2)
    assert "trained" not in log(package, 2)
    assert cluster.named() == set()


@pytest.mark.thorough
def test_each_pod_has_its_own_part_of_the_data(cluster: StandIn, package: Path) -> None:
    (package / "train_data_dir").mkdir()
    for number in range(4):
        (package / "train_data_dir" / f"part-{number:05d}").write_text("")
    (package / "train.py").write_text(LISTS + (package / "train.py").read_text())
    status, _, errors = ended(start(cluster, package, "--shard_data=train_data_dir"))
    assert (status, errors) == (0, "")
    assert "parts part-00000 part-00002\n" in log(package, 1)
    assert "parts part-00001 part-00003\n" in log(package, 2)


def test_why_pods_are_not_made_is_told_in_the_clusters_words(cluster: StandIn, package: Path) -> None:
    cluster.makes_no_pods("pods is forbidden: exceeded quota: team, requested: pods=1, used: pods=9")
    status, output, errors = ended(start(cluster, package, "--connect_timeout=4"))
    assert status == 1
    assert "its pod was not made: FailedCreate: pods is forbidden: exceeded quota: team" in errors
    assert "job" in output
    assert cluster.named() == set()


@pytest.mark.thorough
def test_without_the_right_to_read_events_it_waits_as_long_and_says_what_it_cannot_say(
    cluster: StandIn, package: Path
) -> None:
    cluster.makes_no_pods("exceeded quota: team")
    cluster.says(**{"get events": "Error from server (Forbidden): events is forbidden: User may not"})
    status, output, errors = ended(start(cluster, package, "--connect_timeout=4"))
    assert status == 1
    assert output.count("why pods are not made cannot be asked") == 1
    assert "its pod was not started, and the cluster does not say why" in errors
    assert "--connect_timeout gives it longer" in errors
    assert cluster.named() == set()


@pytest.mark.thorough
def test_two_launches_in_one_second_have_two_names(cluster: StandIn, package: Path) -> None:
    names = {
        word for _ in range(2) for word in re.findall(r"name: (job[-\w]+)$", dry(cluster, package), re.M)
    }
    heads = {name.rpartition("-")[2] for name in names if re.fullmatch(r"job\d{14}-[a-z2-9]{6}", name)}
    assert len(heads) == 2


def test_ctrl_c_ends_a_launch_that_waits_for_pods(cluster: StandIn, package: Path) -> None:
    cluster.makes_no_pods("exceeded quota: team")
    process = start(cluster, package)
    assert process.stdout
    told = next(line for line in process.stdout if "FailedCreate" in line)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130
    assert "FailedCreate: exceeded quota: team" in told
    assert cluster.named() == set()


@pytest.mark.thorough
def test_what_the_page_says_can_stand_in_conf_py_is_read_there(cluster: StandIn, package: Path) -> None:
    said = {
        "PLATFORM": "kubernetes",
        "KUBERNETES_IMAGE": "far/paddle:2",
        "PSERVER_NUM": 1,
        "TRAINER_NUM": 2,
        "KUBERNETES_NAMESPACE": "training",
        "KUBERNETES_CONTEXT": "far",
    }
    (line,) = [line for line in PAGE.splitlines() if "can be in `conf.py`" in line]
    assert set(re.findall(r"`([A-Z_]+)(?: = \"kubernetes\")?`", line)) == said.keys()
    conf = package.parent / "conf.py"
    conf.write_text("".join(f"{name} = {value!r}\n" for name, value in said.items()))
    asked, kubectl = package.parent / "asked", cluster.folder / "bin" / "kubectl"
    kubectl.write_text(kubectl.read_text().replace("exec", f'echo "$1 $2" >>{asked}\nexec', 1))
    command = (sys.executable, ROOT / "paddle.py", f"--conf={conf}", "-p", package)
    done = subprocess.run(
        command, env=cluster.environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 pserver and 2 trainers on 3 Kubernetes nodes" in done.stdout
    assert "trained" in log(package, 2)
    assert {line for line in asked.read_text().splitlines() if line.startswith("--")} == {
        "--context=far --namespace=training"
    }
    planned = subprocess.run(
        (*command, "--dry_run"), env=cluster.environ, capture_output=True, text=True, check=True
    )
    assert planned.stdout.count("image: far/paddle:2\n") == 2, "of pservers, and of trainers"
