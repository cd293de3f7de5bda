"""A launched job with snapshots, of which all or a part is killed, and the next, which goes on from them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import HOSTS, NETWORK, assert_same, environment, free_port, naming
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]

# The same batch in every step, so that what was learned is known from the number of steps alone. Where a file
# says so it stays before the last.
TRAIN = """
import os, sys, time
from pathlib import Path
import numpy as np
import paddle.v2 as paddle

(steps,) = [int(word.partition("=")[2]) for word in sys.argv if word.startswith("--steps=")]
paddle.init()
me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
NETWORK
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=0.01), is_local=False)
batch = [(each, each % 5) for each in range(me, 40, 2)]


def batches():
    for step in range(1, steps + 1):
        while step == steps and Path("stays").exists():
            time.sleep(0.01)
        yield batch


trainer.train(batches, num_passes=1)
np.savez("after.npz", **{name: parameters.get(name) for name in parameters.keys()})
""".replace("NETWORK", NETWORK)


class Job:
    """A launcher of two local nodes, with real pservers and trainers."""

    def __init__(self, folder: Path, *argv: str) -> None:
        self.folder = folder
        self.port = free_port(HOSTS, 5)
        (folder / "package").mkdir(exist_ok=True)
        if not (program := folder / "package" / "train.py").exists():
            program.write_text(TRAIN)
        (folder / "conf.py").write_text("HOSTS = ['local', 'local']\nPADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
        command = [sys.executable, str(ROOT / "paddle.py"), f"--conf={folder / 'conf.py'}"]
        self.process = subprocess.Popen(
            [*command, f"--port={self.port}", *argv],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def pservers(self) -> dict[int, int]:
        """The processes of both pservers and the parent of each."""
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if b"pserver" in words and f"--port={self.port}".encode() in words:
                    found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):  # it goes just then
                continue
        return found

    def end(self) -> tuple[int, str]:
        """Its exit status and all it printed, once nothing of it is left."""
        output, _ = self.process.communicate(timeout=PATIENCE_S)
        until(lambda: not self.pservers(), "the end of all pservers", PATIENCE_S)
        return self.process.returncode, output


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Job]]:
    jobs: list[Job] = []

    def begin(*argv: str) -> Job:
        jobs.append(Job(tmp_path, *argv))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.process.kill()
        job.process.communicate()
        for pid in job.pservers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def saved(folder: Path) -> bool:
    """Whether every shard has written some snapshots."""
    return all(len(list(folder.glob(f"{role}-0/*.json"))) == 3 for role in ("dense", "sparse"))


def interrupt(job: Job) -> int:
    job.process.send_signal(signal.SIGINT)
    return 130


def kill_a_pserver(job: Job) -> int:
    pids = job.pservers()
    os.kill(next(pid for pid, parent in pids.items() if parent not in pids), signal.SIGKILL)
    return 137


def kill_the_launcher(job: Job) -> int:
    job.process.kill()
    return -signal.SIGKILL


@pytest.mark.parametrize(
    ("strike", "is_inside"),
    [
        pytest.param(interrupt, True, marks=pytest.mark.thorough),
        pytest.param(kill_a_pserver, False, marks=pytest.mark.thorough),
        (kill_the_launcher, True),
    ],
)
def test_the_next_job_goes_on_from_the_snapshots_of_one_that_was_killed(
    tmp_path: Path, start: Callable[..., Job], strike: Callable[[Job], int], is_inside: bool
) -> None:
    kept = "--snapshot_dir=kept" if is_inside else f"--snapshot_dir={tmp_path / 'kept'}"
    job = start("-p", "package", kept, "--snapshot_period=7", "--steps=1000000")
    places = (
        ["jobs/JOB*/node-0/kept", "jobs/JOB*/node-1/kept"] if is_inside else ["kept/node-0", "kept/node-1"]
    )
    until(lambda: all(any(map(saved, tmp_path.glob(place))) for place in places), "snapshots", PATIENCE_S)
    status = strike(job)
    assert job.end()[0] == status, status
    until(lambda: not naming(str(tmp_path)), "the end of its agents, which hold the workspace")

    (folder,) = (tmp_path / "jobs").iterdir()
    again = ["-j", str(folder)] if is_inside else ["-p", "package"]
    status, output = start(*again, kept, "--snapshot_period=7", "--steps=3").end()
    assert status == 0, output
    workspace = max((tmp_path / "jobs").iterdir()) / "node-0"
    found = re.search(r"training goes on from step (\d+)", (workspace / "log" / "train.log").read_text())
    assert found is not None
    steps = int(found[1])
    assert steps and not steps % 7

    assert_unbroken(tmp_path, start, steps + 3, workspace)


def assert_unbroken(folder: Path, start: Callable[..., Job], steps: int, workspace: Path) -> None:
    """The job that ended in ``workspace`` has the bits of one that was never interrupted."""
    status, output = start("-p", "package", "--root_dir=unbroken", f"--steps={steps}").end()
    assert status == 0, output
    (unbroken,) = (folder / "unbroken").glob("JOB*/node-0/after.npz")
    assert_same(np.load(unbroken), np.load(workspace / "after.npz"))


def test_a_job_is_gone_on_from_by_its_name_alone_with_the_flags_it_had(
    tmp_path: Path, start: Callable[..., Job]
) -> None:
    job = start("-p", "package", "--snapshot_dir=kept", "--snapshot_period=7", "--steps=1000000")
    places = [f"jobs/JOB*/node-{node}/kept" for node in (0, 1)]
    until(lambda: all(any(map(saved, tmp_path.glob(place))) for place in places), "snapshots", PATIENCE_S)
    name = next((tmp_path / "jobs").iterdir()).name
    refused, output = start(f"--resume={name}").end()
    assert (refused, f"{name}-" in output, "runs still" in output) == (1, True, True)
    interrupted, (status, output) = interrupt(job), job.end()
    assert status == interrupted
    assert f"to go on from the snapshots: python paddle.py --resume={name}\n" in output

    (tmp_path / "conf.py").write_text("HOSTS = ['local']\n")  # what it says by now is of other jobs
    status, output = start(f"--resume={name}", "--steps=3").end()
    assert status == 0, output
    log = (tmp_path / "package" / "log" / "node-0" / "train.log").read_text()
    found = re.search(r"training goes on from step (\d+)", log)
    assert found is not None and not int(found[1]) % 7
    (tmp_path / "conf.py").write_text("HOSTS = ['local', 'local']\nPADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
    assert_unbroken(tmp_path, start, int(found[1]) + 3, tmp_path / "jobs" / name / "node-0")


def test_what_cannot_be_gone_on_from_is_refused_with_the_reason(
    tmp_path: Path, start: Callable[..., Job]
) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text("print('nothing to learn')\n")
    status, output = start("-p", "package").end()
    assert status == 0, output
    name = next((tmp_path / "jobs").iterdir()).name
    status, output = start(f"--resume={name}").end()
    assert (status, "kept no snapshots" in output) == (1, True)
    status, output = start(f"--resume={name}", "-p", "package").end()
    assert (status, "a job goes on in the workspaces it has" in output) == (2, True)
    status, output = start("--resume=JOB1").end()
    assert (status, "there is no job JOB1 of this user" in output, name in output) == (1, True, True)


@pytest.mark.thorough
def test_the_next_job_has_more_pservers_once_the_snapshots_are_cut_for_them(
    tmp_path: Path, start: Callable[..., Job]
) -> None:
    kept, size = f"--snapshot_dir={tmp_path / 'kept'}", ["--ports_num=2", "--ports_num_for_sparse=3"]
    status, output = start("-p", "package", kept, "--snapshot_period=7", "--steps=20").end()
    assert status == 0, output

    status, output = start("-p", "package", kept, *size, "--steps=5").end()
    assert status != 0
    assert "cut the snapshots of all of them for it: `paddle reshard FROM... --to=FOLDER" in output

    command = [sys.executable, "-m", "paddle", "reshard", str(tmp_path / "kept"), f"--to={tmp_path / 'new'}"]
    done = subprocess.run([*command, "--nodes=2", *size], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    status, output = start("-p", "package", f"--snapshot_dir={tmp_path / 'new'}", *size, "--steps=5").end()
    assert status == 0, output
    assert_unbroken(tmp_path, start, 25, max((tmp_path / "jobs").iterdir()) / "node-0")


def test_a_shard_that_is_killed_in_a_launched_job_comes_back_and_the_job_ends_well(
    tmp_path: Path, start: Callable[..., Job]
) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "stays").write_text("")
    job = start("-p", "package", "--snapshot_dir=kept", "--snapshot_period=7", "--steps=300")
    until(lambda: any(map(saved, tmp_path.glob("jobs/JOB*/node-1/kept"))), "snapshots", PATIENCE_S)
    pids = job.pservers()
    os.kill(next(pid for pid, parent in pids.items() if parent in pids), signal.SIGKILL)
    logs = "jobs/JOB*/node-*/log/*pserver2.INFO"
    until(
        lambda: any("goes on from version" in path.read_text() for path in tmp_path.glob(logs)),
        "the shard to come back",
        PATIENCE_S,
    )
    for stays in tmp_path.glob("jobs/JOB*/node-*/stays"):
        stays.unlink()
    status, output = job.end()
    assert status == 0, output
