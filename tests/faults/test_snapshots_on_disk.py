"""Real pservers whose disk fails, or that are killed, at any system call that makes a snapshot last."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.failing_disk import failing_disk
from tests.faults.random_faults.cluster import Cluster
from tests.faults.random_faults.ending import wrong
from tests.faults.random_faults.job import TRAINERS, Job
from tests.faults.random_faults.scenario import WIRES, Scenario
from tests.faults.toxic import Links
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.faults, pytest.mark.patient]

PERIOD = 4
OPERATIONS = 6  # of one snapshot, that are told of: three for each of two files
FIRST = 2 * OPERATIONS  # the initial values of two shards, which must last


def trained(
    folder: Path,
    steps: int,
    fails: Callable[[Cluster, int, int], bool],
    has_enough: Callable[[], bool] = lambda: True,
) -> Cluster:
    """A job whose first pserver has a disk that ``fails(cluster, pid, operation)``; no bit of it is wrong. It
    makes so many steps, or more until it ``has_enough``: where a disk is slow, snapshots are left out."""
    cluster: Cluster
    with (
        failing_disk(lambda pid, _, number: number >= FIRST and fails(cluster, pid, number)) as disk,
        Links() as links,
        Cluster(
            Job(3, Scenario("sync", WIRES["topk, bfloat16 back"]), str(folder)),
            links,
            f"--snapshot_period={PERIOD}",
            begin=disk.begin,
        ) as cluster,
    ):
        reached, end = 0, time.monotonic() + PATIENCE_S
        while reached < steps or not (has_enough() or time.monotonic() > end):
            cluster.goal.raise_to(reached := reached + PERIOD)
            counted = [reached] * TRAINERS
            until(
                lambda counted=counted: [cluster.counted(n)[0] for n in range(TRAINERS)] == counted, "steps"
            )
        cluster.goal.end(at_once=False)
        assert not wrong(cluster, reached)
        return cluster


def test_a_disk_that_fails_at_any_operation_changes_no_bit_and_costs_no_snapshot_before(
    tmp_path: Path,
) -> None:
    failed: list[int] = []

    def fails(cluster: Cluster, pid: int, number: int) -> bool:
        is_due = number % 7 == 3 and len(failed) < 12
        if is_due:
            failed.append(number)
        return is_due

    cluster = trained(tmp_path, 60, fails, lambda: len(failed) > 8)
    said = "".join(cluster.pservers[0].lines)
    assert said.count("a snapshot could not be written: [Errno 5] Input/output error") == len(failed)
    assert len(failed) > 8


def test_shards_that_are_killed_in_the_midst_of_any_operation_change_no_bit(tmp_path: Path) -> None:
    """Every other one in the first of the snapshot after one that has failed: what was before is left."""
    killed, doomed = list[int](), set[int]()

    def kills(cluster: Cluster, pid: int, number: int) -> bool:
        is_due, before = number % 11 == 2, len(killed) + len(doomed)
        if is_due and before % 2 and before < 4:
            doomed.add(pid)
            return True
        if pid in doomed or (is_due and before < 4):
            doomed.discard(pid)
            killed.append(number)
            os.kill(pid, signal.SIGKILL)
        return False

    cluster = trained(tmp_path, 32, kills, lambda: len(killed) == 4)
    assert "".join(cluster.pservers[0].lines).count("was killed by SIGKILL") == 4


def test_a_pserver_whose_snapshots_are_all_damaged_ends_and_leaves_them_as_they_are(tmp_path: Path) -> None:
    cluster = trained(tmp_path, 2 * PERIOD, lambda *_: False)
    folder = cluster.shards[0].folder
    for data in folder.glob("*.safetensors"):
        raw = bytearray(data.read_bytes())
        raw[len(raw) // 2] ^= 1
        data.write_bytes(raw)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    flags = [f"--host={cluster.hosts[0]}", f"--port={cluster.job.port}", f"--snapshot_dir={folder.parent}"]
    again = subprocess.run(
        [sys.executable, "-P", "-m", "paddle", "pserver", *flags, "--ports_num_for_sparse=1"],
        env=cluster.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert again.returncode == 1
    assert f"no snapshot in {folder} is whole" in again.stderr
    assert "its checksum is wrong" in again.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
