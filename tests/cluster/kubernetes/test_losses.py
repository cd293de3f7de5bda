"""What becomes of a job that loses pods, or processes in them, on a stand-in for a cluster (cluster.py)."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S, until

from .cluster import StandIn
from .test_launch import TRAIN, cluster, ended, log, package, start

__all__ = ["cluster", "package"]  # fixtures

pytestmark = pytest.mark.cluster

WAITS = """
def gate():
    import time

    print("at the gate", flush=True)
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.05)


passes = iter(range(9))


def samples():
    if next(passes) == 3:
        gate()
"""


@pytest.fixture
def gate(tmp_path: Path, package: Path) -> Path:
    """A file without which trainers do not go on after three passes."""
    program = TRAIN.replace("def samples():\n", WAITS).replace("num_passes=2", "num_passes=5")
    (package / "train.py").write_text(program)
    return tmp_path / "gate"


def at_the_gate(cluster: StandIn, package: Path, gate: Path, *flags: str) -> subprocess.Popen[str]:
    process = start(cluster, package, *flags, "--", str(gate))
    until(lambda: all("at the gate" in log(package, node) for node in (1, 2)), "trainers", PATIENCE_S)
    return process


def told(process: subprocess.Popen[str], sign: str) -> str:
    assert process.stdout
    return next(line for line in process.stdout if sign in line)


def trained(package: Path) -> set[str]:
    texts = (log(package, node) for node in (1, 2))
    return {line for text in texts for line in text.splitlines() if line.startswith("trained")}


def test_a_parameter_server_whose_process_alone_is_killed_goes_on_from_its_snapshot(
    cluster: StandIn, package: Path, gate: Path
) -> None:
    process = at_the_gate(cluster, package, gate, "--snapshot_dir=snapshots", "--snapshot_period=4")
    cluster.kills_inside("pserver", 0, "pserver", "--port=7164")
    line = told(process, "goes on from its newest snapshot")
    assert "SIGKILL" in line
    assert json.loads((cluster.pod("pserver") / "ends").read_text()) == [128 + signal.SIGKILL]
    gate.touch()
    status, _, errors = ended(process)
    assert (status, errors) == (0, "")
    assert cluster.named() == set()
    seen = trained(package)
    assert ended(start(cluster, package, "--", str(gate)))[0] == 0
    assert trained(package) == seen, "the values of a job to which nothing happened"
    assert len(seen) == 1


@pytest.mark.thorough
def test_without_snapshots_it_ends_the_job_and_its_logs_come(
    cluster: StandIn, package: Path, gate: Path
) -> None:
    process = at_the_gate(cluster, package, gate)
    cluster.kills_inside("pserver", 0, "pserver", "--port=7164")
    status, _, errors = ended(process)
    assert status == 128 + signal.SIGKILL
    assert "pserver-0 was killed by SIGKILL" in errors
    assert log(package, 0, "paddle_pserver2.INFO"), "its container was not begun anew"
    assert cluster.named() == set()


def test_a_trainer_whose_pod_vanishes_with_its_job_ends_the_job(
    cluster: StandIn, package: Path, gate: Path
) -> None:
    process = at_the_gate(cluster, package, gate)
    name = cluster.pod("trainer", 1).name
    cluster.loses("trainer", 1)
    status, _, errors = ended(process)
    assert status == 128 + signal.SIGKILL
    assert "trainer-1 was killed by SIGKILL" in errors
    assert f"its pod {name} is gone" in errors
    assert "its Job is gone, too" in errors
    assert cluster.named() == set()


def test_with_min_trainers_the_others_go_on_at_once(cluster: StandIn, package: Path, gate: Path) -> None:
    process = at_the_gate(cluster, package, gate, "--min_trainers=1")  # none waits for --barrier_timeout
    cluster.fails("exec", "the container does not run just now")  # and is told it a second time
    cluster.loses("trainer", 1)
    line = told(process, "--min_trainers=1")
    assert "trainer-1" in line
    assert told(process, "could not be told yet that trainer-1")
    gate.touch()
    status, _, errors = ended(process)
    assert (status, errors) == (0, "")
    assert "trained" in log(package, 1)
    said = log(package, 0, "paddle_pserver2.INFO")
    assert re.search(r"goes on without trainer 1 .*: trainer-1 was killed by SIGKILL$", said, re.MULTILINE)
