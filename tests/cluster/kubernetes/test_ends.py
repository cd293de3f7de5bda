"""How a launch lets go of its cluster, also of one that refuses, or does not answer (cluster.py)."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S, until

from .cluster import StandIn
from .test_launch import FAILS, cluster, ended, fab, log, package, start

__all__ = ["cluster", "package"]  # fixtures

pytestmark = pytest.mark.cluster

PROMPT_S = 15.0  # two on a machine that does nothing else; a kubectl that hangs is given up after twenty
SILENT = "Unable to connect to the server: net/http: TLS handshake timeout"
FORBIDDEN = "Error from server (Forbidden): statefulsets.apps is forbidden: User may not delete"


def interrupted(process: subprocess.Popen[str]) -> tuple[float, int, str, str]:
    """Ctrl+C, and again once that is answered: two that come at once are one. How long it took then, the
    status, and what was said."""
    process.send_signal(signal.SIGINT)
    assert process.stdout
    assert next(line for line in process.stdout if line.startswith("stopped by SIGINT; stopping every"))
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    status, output, errors = ended(process)
    return time.monotonic() - began, status, output, errors


def trains(cluster: StandIn, package: Path) -> subprocess.Popen[str]:
    process = start(cluster, package, "--", "hang")
    until(lambda: "trained" in log(package, 1), "a trainer", PATIENCE_S)
    return process


def hangs_while_objects_are_made(cluster: StandIn, package: Path) -> subprocess.Popen[str]:
    cluster.hangs("create -f")
    process = start(cluster, package)
    until(lambda: any(call[0] == "create" for call in cluster.calls()), "what makes objects", PATIENCE_S)
    return process


@pytest.mark.thorough
def test_a_call_that_gets_no_answer_at_the_end_is_made_again(cluster: StandIn, package: Path) -> None:
    cluster.fails("delete statefulsets", SILENT, times=2)
    cluster.fails("get pods,", SILENT)
    status, output, errors = ended(start(cluster, package))
    assert (status, errors) == (0, "")
    assert "taking job" in output
    assert f"{SILENT}. Does the cluster run?" in output
    assert output.count("It is tried again.") == 2
    assert cluster.named() == set()


def test_what_cannot_be_taken_away_is_a_failure_that_fab_stop_makes_up_for(
    cluster: StandIn, package: Path
) -> None:
    cluster.says(delete=FORBIDDEN)
    status, _, errors = ended(start(cluster, package))
    assert status == 1
    assert FORBIDDEN in errors
    assert "fab stop --job=job2" in errors
    assert "kubectl --context=stand-in --namespace=training delete --wait=false" in errors
    assert cluster.named()
    assert "ended with status 1, and is not taken away" in fab(cluster, package, "status").stdout
    failed = fab(cluster, package, "stop")
    assert failed.returncode
    assert FORBIDDEN in failed.stderr + failed.stdout
    cluster.says()
    assert fab(cluster, package, "stop").returncode == 0
    assert cluster.named() == set()
    seen = fab(cluster, package, "status").stdout
    assert "ended with status 1;" in seen
    assert "not taken away" not in seen


def test_ctrl_c_twice_returns_and_all_is_taken_away_behind_it(cluster: StandIn, package: Path) -> None:
    process = trains(cluster, package)
    cluster.hangs("delete")  # else it might be over before the second
    took, status, _, errors = interrupted(process)
    cluster.answers()
    assert status == 130
    assert took < PROMPT_S
    assert "it is being taken away in the background" in errors
    assert "fab stop --job=job2" in errors
    until(lambda: not cluster.named(), "the end of all of it", PATIENCE_S)


@pytest.mark.parametrize("asked", ["exec", pytest.param("delete", marks=pytest.mark.thorough)])
def test_ctrl_c_twice_returns_though_kubectl_hangs_and_fab_stop_ends_the_job(
    cluster: StandIn, package: Path, asked: str
) -> None:
    process = trains(cluster, package)
    cluster.hangs(asked)
    took, status, _, errors = interrupted(process)
    assert status == 130
    assert took < PROMPT_S
    assert "What may be left of job2" in errors
    cluster.answers()
    assert fab(cluster, package, "stop").returncode == 0
    assert cluster.named() == set()
    assert "ended with status 130" in fab(cluster, package, "status").stdout


@pytest.mark.thorough
def test_ctrl_c_twice_returns_though_kubectl_hangs_while_objects_are_made(
    cluster: StandIn, package: Path
) -> None:
    process = hangs_while_objects_are_made(cluster, package)
    took, status, _, errors = interrupted(process)
    assert status == 130
    assert took < PROMPT_S
    assert "What may be left of job2" in errors


@pytest.mark.thorough
def test_ctrl_c_once_ends_a_kubectl_that_hangs_while_objects_are_made(
    cluster: StandIn, package: Path
) -> None:
    process = hangs_while_objects_are_made(cluster, package)
    process.send_signal(signal.SIGINT)
    status, output, errors = ended(process)
    assert (status, errors) == (130, "")
    assert "kubectl still makes job2" in output
    assert "taking job2" in output
    assert any(call[0] == "delete" for call in cluster.calls())


@pytest.mark.thorough
def test_why_a_job_failed_is_said_before_it_is_taken_away(cluster: StandIn, package: Path) -> None:
    (package / "train.py").write_text(FAILS)
    cluster.hangs("delete")
    process = start(cluster, package)
    assert process.stderr
    said = next(line for line in process.stderr if "Its last lines" in line)
    cluster.answers()
    assert "trainer-1" in said
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 7


@pytest.mark.thorough
def test_a_pod_that_never_began_is_not_said_to_be_stopped(cluster: StandIn, package: Path) -> None:
    cluster.makes_no_pods("exceeded quota: team")
    process = start(cluster, package)
    assert process.stdout
    next(line for line in process.stdout if "FailedCreate" in line)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130
    seen = fab(cluster, package, "status").stdout
    assert "stopped by SIGINT" in seen
    assert seen.count(" waits") == 3
    assert " stopped " not in seen.replace("stopped by", "")


@pytest.mark.thorough
def test_what_fab_stop_ends_without_a_launcher_is_said_to_be_stopped(cluster: StandIn, package: Path) -> None:
    process = trains(cluster, package)
    process.kill()
    process.communicate()
    assert fab(cluster, package, "stop").returncode == 0
    seen = fab(cluster, package, "status").stdout
    assert "ended with status 143" in seen
    assert "serves" not in seen
    assert "trains" not in seen
