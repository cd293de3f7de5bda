"""``python paddle.py --platform=kubernetes``: the whole walk, on a real Kubernetes."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from pydoc_data.topics import topics

from tests.cluster.by_hand import environment, free_port
from tests.fresh import ROOT
from tests.kubernetes import programs
from tests.kubernetes.training import PATIENCE_S, Job, Training
from tests.waiting import until

TEMPLATE = ROOT / "workspace_template"
TOPICS = 12
SEEN = r"parameters ([0-9a-f]{16})"
FAILS = """
import os, sys
print("trainer", os.environ["PADDLE_INIT_TRAINER_ID"], "begins", flush=True)
sys.exit(7 if os.environ["PADDLE_INIT_TRAINER_ID"] == "1" else 0)
"""


def word2vec(training: Training) -> Path:
    """The workspace that users begin with, on less text, which is the same whichever Python prepares it."""
    text = {name: topics[name] for name in sorted(topics)[:TOPICS]}
    prepare = (TEMPLATE / "prepare.py").read_text()
    assert "from pydoc_data.topics import topics" in prepare
    package = training.package(words=f"topics = {text!r}\n")
    (package / "prepare.py").write_text(prepare.replace("pydoc_data.topics", "words"))
    for name in ("train.py", "my_lib.py"):
        shutil.copy(TEMPLATE / name, package)
    environ = environment(SPLIT_COUNT="3", PADDLE_DATASET_HOME=str(training.folder / "none"))
    subprocess.run([sys.executable, "prepare.py"], cwd=package, env=environ, check=True, timeout=60)
    return package


def locally(package: Path, folder: Path, *flags: str) -> Path:
    """The same job by paddle.py on nodes that are embedded in this machine; gives its workspace."""
    folder.mkdir()
    own = shutil.copytree(package, folder / "package", ignore=shutil.ignore_patterns("log", "output"))
    hosts = "HOSTS = ['local', 'local', 'local']\nPSERVER_HOSTS = [0, 1]\nTRAINER_HOSTS = [0, 1, 2]\n"
    (folder / "conf.py").write_text(hosts + "PADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
    port = free_port(["127.0.0.1", "127.0.0.2", "127.0.0.3"])
    command = (sys.executable, ROOT / "paddle.py", "--conf=conf.py", "-p", own, f"--port={port}", *flags)
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done
    return own


def trainer_logs(workspace: Path) -> list[str]:
    """What trainers have printed, in their order."""
    found = sorted(workspace.glob("log/*/train.log"))
    return [path.read_text() for path in found]


def model(workspace: Path) -> bytes:
    """The newest that trainer 0 has kept."""
    return sorted(workspace.glob("output/pass-*/params.tar"))[-1].read_bytes()


def test_word2vec_ends_with_the_parameters_that_it_has_without_a_cluster(
    training: Training, tmp_path
) -> None:
    package = word2vec(training)
    status, output, errors = training.start(package, "--num_passes=2").end()
    assert (status, errors) == (0, "")
    assert "2 pservers and 3 trainers" in output
    seen = [re.findall(SEEN, text)[-1] for text in trainer_logs(package)]
    assert len(seen) == 3
    alone = locally(package, tmp_path / "alone", "--num_passes=2")
    assert {re.findall(SEEN, text)[-1] for text in trainer_logs(alone)} == set(seen)
    assert len(set(seen)) == 1
    assert model(package) == model(alone)
    assert not training.left()


def test_its_manifests_are_what_dry_run_prints_and_the_server_takes_all_of_them(training: Training) -> None:
    job = training.start(training.package(train=programs.train()), "--dry_run", "--kubernetes_version=1.20")
    status, output, _ = job.end()
    assert status == 0
    assert not training.left()
    training.kubectl("apply", "--dry-run=server", "-f", "-", input=output, user="launcher")


def hanging(training: Training, *flags: str) -> Job:
    """A job whose trainers have trained, and stay."""
    job = training.start(training.package(train=programs.hang()), *flags)
    job.wait_for("trainer")
    for name in until(lambda: names_of(training, "trainer", 3), "three trainers", PATIENCE_S):
        training.wait_for_log(name, "[")
    return job


def names_of(training: Training, component: str, count: int) -> list[str]:
    names = sorted(training.pods(component))
    return names if len(names) == count else []


def test_ctrl_c_leaves_nothing_when_the_launcher_returns(training: Training) -> None:
    job = hanging(training)
    job.process.send_signal(signal.SIGINT)
    status, output, _ = job.end()
    assert status == 130
    assert "stopped by SIGINT" in output
    assert not training.left()
    assert not [name for name in training.one_node.containers() if training.space in name]
    logs = trainer_logs(job.package)
    assert len(logs) == 3
    assert all("[" in text for text in logs), "what each had printed when it was stopped"


def test_the_status_of_a_trainer_that_fails_is_the_launchers_and_nothing_is_left(training: Training) -> None:
    status, output, errors = training.start(training.package(train=FAILS)).end()
    assert status == 7
    assert "trainer-1" in errors
    assert "trainer 1 begins" in errors + output
    assert not training.left()
