"""A job on machines that are reached over SSH, from the command line to the model."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.by_hand import free_port
from tests.cluster.over_ssh import PROMISED_S, ROOT_DIR, Job, clear, jobs, launching, left_behind
from tests.fresh import ROOT
from tests.lab.cluster import Cluster
from tests.pretenders import ENDS

pytestmark = pytest.mark.cluster

TRAINS = """
import json, os, pathlib, sys
descriptor = int(os.environ["PADDLE_REPORT_FD"])
for batch in range(3):
    report = {"report": "progress", "pass_id": 0, "batch_id": batch, "cost": 7.0 - batch, "samples_per_s": 9}
    os.write(descriptor, json.dumps(report).encode() + bytes([10]))
print("argv", sys.argv[1:], "data", pathlib.Path("data/words").read_text())
if os.environ["PADDLE_INIT_TRAINER_ID"] == "0":
    pathlib.Path("output/pass-00000").mkdir(parents=True)
    pathlib.Path("output/pass-00000/params.tar").write_bytes(bytes(range(256)) * 4096)
    pathlib.Path("output/pass-00000/done").write_text("")
    pathlib.Path("output/outside").symlink_to("/etc/passwd")
"""
FAILS = """
import os, signal
if os.environ["PADDLE_INIT_TRAINER_ID"] == "1":
    for number in range(30):
        print("line", number)
    raise SystemExit(7)
signal.pause()
"""


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a launcher on nodes on which there was none; whatever it leaves is removed in the end."""
    clear(cluster)
    with launching(cluster) as start:
        yield lambda *argv, folder="one", **how: start(cluster, tmp_path / folder, *argv, **how)


def packed(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "words").write_text("a b; exit 3")
    (folder / "train.py").write_text(TRAINS)
    return folder


def test_a_job_that_goes_well_leaves_logs_curve_and_model(launch, cluster, tmp_path) -> None:
    package = packed(tmp_path / "package")
    job = launch("--words", "a b; exit 3", "$(id)", "--num_passes=1", pserver=ENDS, package=package)
    status, output, errors = job.end()
    assert (status, errors) == (0, "")
    assert "3 pservers and 3 trainers on 3 SSH nodes" in output
    assert output.splitlines()[-1].endswith(f"model in {package}/output")
    for node in range(3):
        log = (package / f"log/node-{node}/train.log").read_text()
        assert log == "argv ['--words', 'a b; exit 3', '$(id)', '--num_passes=1'] data a b; exit 3\n"
        assert (
            (package / f"log/node-{node}/agent.log").read_text().endswith("stopped: asked by the launcher\n")
        )
    assert (package / "output/pass-00000/params.tar").read_bytes() == bytes(range(256)) * 4096
    assert (package / "output/pass-00000/done").exists()
    assert not (package / "output/outside").is_symlink()
    assert "outside is not collected: it is a link that leads elsewhere" in output
    assert len((package / "log/loss.csv").read_text().splitlines()) > 3
    for number, node in enumerate(cluster.names):
        (name,) = jobs(cluster, node)
        workspace = cluster.path(node, ROOT_DIR) / name
        assert (workspace / "nodefile").read_text() == f"{number}\n"
        assert not list(workspace.glob(".job.*")), "the token is gone"
    assert left_behind(cluster) == {}


def test_the_runtime_is_sent_once(launch, cluster, tmp_path) -> None:
    for turn in ("one", "two"):
        package = packed(tmp_path / turn / "package")
        assert launch(pserver=ENDS, package=package, folder=turn).end()[0] == 0
        for node in cluster.names:
            (runtime,) = (cluster.path(node, ROOT_DIR) / ".paddle").glob("runtime-*")
            assert (runtime / "paddle" / "__main__.py").read_text() == ENDS
            mark = runtime / "paddle" / "mark"
            assert mark.exists() == (turn == "two")
            mark.touch()


def the_users_own(cluster) -> list[Path]:
    """Notes and other programs' logs, in the folder of logs itself and where it is a link; and an old log."""
    first, second = (cluster.path(node, ROOT_DIR) for node in cluster.names[:2])
    (first / "mine/log").mkdir()
    (first / "mine/log/train.log").write_text("old")
    (second / "others").mkdir()
    cluster.run("ln", "-s", f"{ROOT_DIR}/others", f"{ROOT_DIR}/mine/log", at=cluster.names[1])
    kept = [first / "mine/log/notes.txt", second / "others/notes.txt", second / "others/server.log.1"]
    for path in kept:
        path.write_text("precious")
    return kept


def test_a_deployed_workspace_is_used_without_sending(launch, cluster, tmp_path) -> None:
    for node in cluster.names:
        cluster.run("mkdir", "-p", f"{ROOT_DIR}/mine/data", at=node)
        (cluster.path(node, ROOT_DIR) / "mine/data/words").write_text(node)
        (cluster.path(node, ROOT_DIR) / "mine/train.py").write_text(TRAINS)
    logs = the_users_own(cluster)
    job = launch("-p", "", f"--job_workspace={ROOT_DIR}/mine", pserver=ENDS)
    status, output, _ = job.end()
    assert status == 0
    assert "sending" not in output
    assert f"{ROOT_DIR}/mine/log is a link to {ROOT_DIR}/others: nothing is removed there" in output
    assert [path.read_text() for path in logs] == ["precious"] * len(logs)
    assert "old" not in (logs[0].parent / "train.log").read_text()
    assert "data n2" in (tmp_path / "one/log/node-1/train.log").read_text()
    assert (tmp_path / "one/output/pass-00000/done").exists()


def test_a_trainer_that_fails_gives_the_job_its_status_and_is_shown(launch, cluster) -> None:
    job = launch(train=FAILS)
    status, _, errors = job.end()
    assert status == 7
    assert "trainer-1 ended with status 7 on node 1 (n2)" in errors
    assert re.findall(r"\| line (\d+)", errors) == [str(number) for number in range(10, 30)]
    assert str(job.package / "log/node-1/train.log") in errors
    assert left_behind(cluster) == {}


def word2vec(package: Path) -> Path:
    """The job that ships with the launcher, with the same shuffling each time and eight steps a pass."""
    package.mkdir(parents=True)
    for path in (ROOT / "workspace_template").glob("*.py"):
        (package / path.name).write_text(path.read_text())
    text = (package / "train.py").read_text()
    assert "BATCH_SIZE = 32\n" in text
    seeded = text.replace("BATCH_SIZE = 32\n", "BATCH_SIZE = 256\n")
    (package / "train.py").write_text(f"import random\n\nrandom.seed(7)\n{seeded}")
    text = (package / "prepare.py").read_text()
    assert "MAX_GRAMS = 60000" in text
    (package / "prepare.py").write_text(text.replace("MAX_GRAMS = 60000", "MAX_GRAMS = 6144"))
    return package


def offline(folder: Path) -> dict[str, str]:
    """Where there is no network, the job makes its text of what every machine has."""
    return {"PADDLE_DATASET_HOME": str(folder / "dataset"), "http_proxy": "http://127.0.0.1:9"}


def is_interrupted(job: Job, cluster: Cluster) -> None:
    """Ctrl+C while it trains: of what ran on all machines nothing is left, and what it printed is here."""
    job.wait_for("first step after")
    for node in cluster.names:
        ids = {one.environ.get("PADDLE_JOB_ID") for one in cluster.processes(node)} - {None}
        assert len(ids) == 1, f"the job on {node}, and no other"
    output, took = job.stop(signal.SIGINT)
    assert took < PROMISED_S
    assert f"ended with status 130: logs in {job.package}/log" in output
    for number, node in enumerate(cluster.names):
        log = (job.package / f"log/node-{number}/agent.log").read_text()
        assert log.endswith("stopped: asked by the launcher\n")
        assert not list(cluster.path(node, ROOT_DIR).glob("JOB*/.job.*")), "the token is gone"


@pytest.mark.thorough  # on containers it is asked in every run: cluster/compose/test.sh
def test_word2vec_on_machines_ends_when_interrupted_and_else_equals_that_on_embedded_nodes(
    launch, cluster, tmp_path
) -> None:
    """The job of the documents, real pservers and all; what it shuffles, it shuffles alike in both."""
    package = word2vec(tmp_path / "first" / "package")
    argv = ["--job_prepare=prepare.py", "--num_passes=1000"]
    first = launch(*argv, pserver=None, package=package, folder="first", environ=offline(tmp_path))
    is_interrupted(first, cluster)
    prints = []
    for carrier in ("ssh", "local"):
        package = word2vec(tmp_path / carrier / "package")
        argv = ["--job_prepare=prepare.py", "--num_passes=1"]
        if carrier == "local":
            addresses = [f"127.0.0.{node}" for node in (1, 2, 3)]
            argv += ["--hosts=local,local,local", "--nics=lo", f"--port={free_port(addresses)}"]
            argv += [f"--root_dir={tmp_path / 'jobs'}"]
        job = launch(*argv, pserver=None, package=package, folder=carrier, environ=offline(tmp_path))
        assert job.end(240.0)[0] == 0
        for node in range(3):
            log = (package / f"log/node-{node}/train.log").read_text()
            prints += re.findall(r"^parameters ([0-9a-f]{16})$", log, re.MULTILINE)
            assert "Test cost" in log
        assert (package / "output/pass-00000/params.tar").stat().st_size > 0
    assert len(prints) == 6
    assert len(set(prints)) == 1
