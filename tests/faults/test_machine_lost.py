"""`fleetrun` on two machines, one of which is lost: the cable between two network namespaces is pulled out.

One has the server and worker 0, the other worker 1. Needs what tests/faults/test_partition.py needs.
"""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.by_hand import environment, outputs_of
from tests.faults.conftest import ROOT
from tests.faults.test_partition import Networks, networks
from tests.waiting import until

pytestmark = [pytest.mark.faults, pytest.mark.patient]

PROGRAM = ROOT / "tests" / "cluster" / "programs" / "language_model.py"
SERVER, OTHER = "10.77.2.2", "10.77.2.1"
LOST_AFTER_S = 6


def _begun(made: Networks, folders: dict[str, Path]) -> list[subprocess.Popen[str]]:
    token = secrets.token_hex(32)
    lists = [f"--servers={SERVER}:7300", f"--workers={SERVER}:7301,{OTHER}:7301"]
    command = [sys.executable, "-m", "paddle.distributed.launch", *lists, "train.py", "--steps=1000000"]
    jobs = []
    for holder, (host, folder) in zip((made.servers, made.trainer), folders.items(), strict=True):
        folder.mkdir()
        shutil.copy(PROGRAM, folder / "train.py")
        (folder / "job.token").write_text(token)
        (folder / "job.token").chmod(0o600)
        told = {"POD_IP": host, "PADDLE_TOKEN_FILE": "job.token", "PADDLE_LOST_AFTER": str(LOST_AFTER_S)}
        jobs.append(
            subprocess.Popen(
                made.within(holder, *command),
                cwd=folder,
                env=environment(**told),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    return jobs


def _steps(folder: Path) -> int:
    path = folder / "log" / "workerlog.0"
    return len(re.findall("^loss ", path.read_text(), re.MULTILINE)) if path.exists() else 0


def test_a_machine_that_is_lost_ends_the_job_soon_and_one_that_only_stalls_does_not(tmp_path: Path) -> None:
    folders = {host: tmp_path / host for host in (SERVER, OTHER)}
    with networks() as made:
        jobs = _begun(made, folders)
        until(lambda: all(_steps(folder) > 2 for folder in folders.values()), "both train")
        made.cut("cable")
        before = {folder: _steps(folder) for folder in folders.values()}
        time.sleep(LOST_AFTER_S / 4)  # what is asked is how long nothing comes
        made.cut("cable", heal=True)
        until(lambda: all(_steps(each) > before[each] + 5 for each in before), "both train on")
        made.cut("cable")
        since = time.monotonic()
        first, second = outputs_of(jobs)
        assert time.monotonic() - since < LOST_AFTER_S + 20
    assert [job.returncode for job in jobs] == [1, 1], first + second
    lost = "the machine of {}, {}, has not answered for 6 s: it is off or disconnected"
    assert "trainer-1, on another machine, broke the job: " in first
    assert lost.format("trainer-1", OTHER) in first
    assert f"pserver-0, on another machine, broke the job: {lost.format('pserver-0', SERVER)}" in second
