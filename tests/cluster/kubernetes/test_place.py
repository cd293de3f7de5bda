"""A job stays in the namespace in which it was launched, on a stand-in for a cluster (cluster.py)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S, until

from .cluster import StandIn
from .test_launch import cluster, ended, fab, log, package, start

__all__ = ["cluster", "package"]  # fixtures

pytestmark = pytest.mark.cluster


@pytest.mark.thorough
def test_who_has_kubectl_look_elsewhere_meanwhile_changes_nothing_for_a_job(
    cluster: StandIn, package: Path
) -> None:
    process = start(cluster, package, "--", "hang")
    until(lambda: "trained" in log(package, 1), "a trainer", PATIENCE_S)
    cluster.is_at("another", "another")
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130
    assert cluster.named() == set()
    assert cluster.places() == {"--context=stand-in --namespace=training"}


@pytest.mark.thorough
def test_fab_looks_and_stops_where_the_job_was_launched(cluster: StandIn, package: Path) -> None:
    process = start(cluster, package, "--", "hang")
    until(lambda: "trained" in log(package, 1), "a trainer", PATIENCE_S)
    process.kill()
    process.communicate()
    cluster.is_at("another", "another")
    assert "Running" in fab(cluster, package, "status").stdout
    assert fab(cluster, package, "collect").returncode == 0
    assert fab(cluster, package, "stop").returncode == 0
    assert cluster.named() == set()
    assert cluster.places() == {"--context=stand-in --namespace=training"}


def test_what_is_asked_for_goes_before_what_kubectl_has(cluster: StandIn, package: Path) -> None:
    cluster.says(version="Unable to connect to the server: EOF")
    status, _, errors = ended(start(cluster, package, "--context=far", "--namespace=mine"))
    assert status == 1
    assert "`kubectl --context=far cluster-info`" in errors
    assert cluster.places() == {"--context=far --namespace=mine"}


def test_a_context_that_is_not_there_is_refused_with_those_there_are(cluster: StandIn, package: Path) -> None:
    status, _, errors = ended(start(cluster, package, "--context=nowhere"))
    assert status == 1
    assert "no context nowhere" in errors
    assert "stand-in" in errors
    assert [call[0] for call in cluster.calls()] == ["config"]
