"""Somebody has a running job write a snapshot, and the next job goes on from it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, UpdateSpec
from paddle._launch.agent.processes import look_up
from paddle._pserver.errors import PserverError
from paddle._pserver.snapshots import offline
from paddle._pserver.trainer import consistent_cut
from paddle._pserver.trainer.places import on_hosts
from paddle.v2.parameters import Parameters
from tests.cluster.by_hand import RUNTIME
from tests.pserver.test_equality import assert_same, locally, trainer, update
from tests.waiting import PATIENCE_S, until

from .pservers import STEPS, TRAINERS, Job, pservers

pytestmark = [pytest.mark.faults, pytest.mark.patient]

RARELY = "--snapshot_period=1000000"
MANY = 1 << 40  # steps: more than any test waits for


def taken(job: Job) -> list[consistent_cut.Kept]:
    return consistent_cut.take(on_hosts(["127.0.0.1"], job.port, 2, 1), PATIENCE_S, lambda text: None)


@contextlib.contextmanager
def training(job: Job, spec: UpdateSpec, **options: Any) -> Any:
    """Trainers that train until the block ends; gives what is set once they have made some steps."""
    begun, over = threading.Event(), threading.Event()

    def before_step(step: int) -> None:
        if step == 3:
            begun.set()
        if over.is_set():
            raise RuntimeError("it was enough")

    def run() -> None:
        with contextlib.suppress(PserverError, RuntimeError):
            job.run(*(trainer(id, spec, MANY, before_step=before_step) for id in range(TRAINERS)), **options)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert begun.wait(PATIENCE_S)
        yield
    finally:
        over.set()
        thread.join(PATIENCE_S)


def kill(job: Job) -> None:
    """At once, so that nothing is written after what was asked for."""
    children = job.children()
    os.kill(job.process.pid, signal.SIGKILL)
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    job.process.wait(PATIENCE_S)


def exported(folder: Path, to: Path) -> dict[str, np.ndarray]:
    """What a trainer would have of the newest version that all shards have."""
    offline.export([folder], to, "tar", lambda text: None)
    with to.open("rb") as file:
        model = Parameters.from_tar(file)
    return {name: model.get(name) for name in model.names()}


def test_all_shards_of_a_job_at_full_speed_have_one_step_from_which_the_next_job_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path))
    spec = update("momentum")
    with pservers(tmp_path / "kept", RARELY) as job, training(job, spec, reconnect_timeout_s=0):
        taken(job)
        kept = taken(job)
        kill(job)
    version = kept[0].version
    assert [each.version for each in kept] == [version] * 3
    assert version > 3
    assert [Path(each.folder).name for each in kept] == ["dense-0", "dense-1", "sparse-0"]
    assert_same(exported(tmp_path / "kept", tmp_path / "model.tar"), locally(spec, TRAINERS, version))
    with pservers(tmp_path / "kept", RARELY) as job:
        first, second = job.train(spec, lambda trainer, step: None)
        log = job.end()
    assert_same(first, second)
    assert told(tmp_path).count(f"goes on from version {version} in") == 3
    assert "goes back" not in log


def test_training_does_not_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path))
    spec = update("adam")
    with pservers(tmp_path / "kept") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 1 and step % 3 == 1:  # between two steps: where nothing moves it is the last one
                assert {each.version for each in taken(job)} <= {step, step + 1}

        first, second = job.train(spec, disturb)
        job.end()
    assert_same(first, second)
    assert_same(first, locally(spec, TRAINERS, STEPS))
    assert told(tmp_path).count("it was asked for, at") == 3 * 4


def test_in_asynchronous_training_every_shard_keeps_what_it_has(tmp_path: Path) -> None:
    spec = update("momentum", mode=ModeSpec(name="async", discard_ratio=9.0))
    with pservers(tmp_path / "kept", RARELY) as job, training(job, spec):
        kept = taken(job)
        assert all(each.version > 0 for each in kept)


def test_the_command_says_what_lasts_and_where(tmp_path: Path) -> None:
    token = tmp_path / "job.token"
    token.write_text("a token that nobody guesses\n")
    token.chmod(0o600)
    flags = [f"--token_file={token}"]
    with (
        pservers(tmp_path / "kept", RARELY, "--snapshot_dir=kept", *flags) as job,  # it is told whole
        training(job, update("momentum"), token_file=str(token)),
    ):
        status, out, error = command(job, *flags)
        assert (status, error) == (0, "")
        *shards, last = out.splitlines()
        version = last.split()[1]
        roles = ("dense-0", "dense-1", "sparse-0")
        where = zip(("dense", "dense", "sparse"), range(job.port, job.port + 3), roles, strict=True)
        assert shards == [
            f"{role} shard at 127.0.0.1:{port}: version {version} is in {tmp_path / 'kept' / folder}"
            for role, port, folder in where
        ]
        assert last == f"version {version} of 3 shards lasts: the job can go on from step {version}"
        other = tmp_path / "other.token"
        other.write_text("another token of another job\n")
        other.chmod(0o600)
        assert refused(job, f"--token_file={other}") == (2, "has another token")
        assert refused(job) == (2, "with a token only")
        assert refused(job, *flags, "--ports_num=1") == (1, "is number 0 of 2 of its job")
        assert refused(job, *flags, "--ports_num_for_sparse=0") == (1, "no sparse shard was named")


def test_what_cannot_be_kept_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    with pservers(None) as job, training(job, update("momentum")):
        assert refused(job) == (1, "--snapshot_dir")
    with pservers(tmp_path / "kept") as job:
        assert refused(job) == (1, "has not begun")
        shards = job.children()
        kill(job)
        until(lambda: not any(map(look_up, shards)), "the end of those that listen")
        assert refused(job) == (1, "no pserver answers at 127.0.0.1")


def test_a_shard_that_says_nothing_ends_the_command_and_the_next_one_is_served(tmp_path: Path) -> None:
    with pservers(tmp_path / "kept", RARELY) as job, training(job, update("momentum")):
        silent = job.children()[1]
        os.kill(silent, signal.SIGSTOP)
        try:
            assert refused(job, "--connect_timeout=2") == (1, "no pserver answers at 127.0.0.1")
        finally:
            os.kill(silent, signal.SIGCONT)
        assert len(taken(job)) == 3


SAYINGS = (
    "has another token",
    "with a token only",
    "is number 0 of 2 of its job",
    "no sparse shard was named",
    "--snapshot_dir",
    "has not begun",
    "no pserver answers at 127.0.0.1",
)


def told(folder: Path) -> str:
    """What pservers that ran there wrote into their logs."""
    paths = {path.resolve() for path in folder.glob("paddle_pserver2*INFO*")}
    return "".join(path.read_text() for path in paths)


def refused(job: Job, *flags: str) -> tuple[int, str]:
    """The status, and which of ``SAYINGS`` the one paragraph has."""
    status, out, error = command(job, *flags)
    assert out == ""
    assert "Traceback" not in error
    return status, next((saying for saying in SAYINGS if saying in error), error)


def command(job: Job, *flags: str) -> tuple[int, str, str]:
    sizes = [f"--port={job.port}", "--ports_num=2", "--ports_num_for_sparse=1"]
    done = subprocess.run(
        [sys.executable, "-m", "paddle", "snapshot", *sizes, *flags],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stdout, done.stderr
