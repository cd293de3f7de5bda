"""``paddle.py --platform=kubernetes`` on a stand-in for a cluster, whose pods are processes (cluster.py)."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fresh import ROOT
from tests.waiting import PATIENCE_S, until

from .cluster import StandIn, stand_in

pytestmark = pytest.mark.cluster

FLAGS = (
    "--platform=kubernetes",
    "--image=paddle-fabric:1",
    "--pserver_num=1",
    "--trainer_num=2",
    "--tls=auto",
)
TRAIN = """
import os, signal, sys
import numpy as np
import paddle.v2 as paddle

paddle.init(use_gpu=False)
rank = int(os.environ["PADDLE_INIT_TRAINER_ID"])
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(4))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
cost = paddle.layer.square_error_cost(
    input=paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear()), label=y
)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.AdaGrad(learning_rate=1e-2), is_local=False)


def samples():
    drawn = np.random.RandomState(rank)
    for _ in range(64):
        vector = drawn.randn(4).astype("float32")
        yield vector, [float(vector.sum())]


trainer.train(paddle.batch(samples, 16), num_passes=2)
if rank == 0:
    os.makedirs("output")
    open("output/model", "w").write("the model")
print("paddle pod: the program itself says so")
print("trained", parameters.get(parameters.keys()[0]).sum(), flush=True)
if "hang" in sys.argv:
    signal.pause()
"""
FAILS = """
import os, sys, time
print("so far")
sys.exit(7) if os.environ["PADDLE_TRAINER_ID"] == "1" else time.sleep(60)
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StandIn]:
    with stand_in(tmp_path / "cluster") as made:
        yield made


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    (tmp_path / "conf.py").write_text("PADDLE_PORT = 7164\n")
    return folder


def start(cluster: StandIn, package: Path, *flags: str) -> subprocess.Popen[str]:
    conf = package.parent / "conf.py"
    command = (sys.executable, ROOT / "paddle.py", *FLAGS, f"--conf={conf}", "-p", package, *flags)
    return subprocess.Popen(
        command, env=cluster.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=PATIENCE_S)
    print(output, errors)
    return process.returncode, output, errors


def log(package: Path, node: int, name: str = "train.log") -> str:
    path = package / "log" / f"node-{node}" / name
    return path.read_text() if path.exists() else ""


def fab(cluster: StandIn, package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "fabric", *words, f"--conf={package.parent / 'conf.py'}")
    return subprocess.run(
        command,
        cwd=ROOT,
        env=cluster.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_job_trains_and_its_logs_and_model_come_and_nothing_is_left(
    cluster: StandIn, package: Path
) -> None:
    status, output, errors = ended(start(cluster, package))
    assert (status, errors) == (0, "")
    assert "1 pserver and 2 trainers on 3 Kubernetes nodes" in output
    trained = [line for node in (1, 2) for line in log(package, node).splitlines() if line[:7] == "trained"]
    assert len(trained) == 2
    assert len(set(trained)) == 1
    assert "paddle pod: the program itself says so" in log(package, 1)
    assert "listening" in log(package, 0, "server.log")
    assert log(package, 0, "paddle_pserver2.INFO")
    assert log(package, 1, "paddle_trainer.INFO")
    assert (package / "output" / "model").read_text() == "the model"
    assert cluster.named() == set()


def test_the_status_of_a_trainer_that_fails_is_the_launchers(cluster: StandIn, package: Path) -> None:
    (package / "train.py").write_text(FAILS)
    status, _, errors = ended(start(cluster, package))
    assert status == 7
    assert "trainer-1" in errors
    assert "so far" in errors
    assert "paddle pod:" not in errors
    assert cluster.named() == set()


def test_ctrl_c_leaves_nothing_and_brings_the_logs(cluster: StandIn, package: Path) -> None:
    process = start(cluster, package, "--", "hang")
    until(lambda: "trained" in log(package, 1) and "trained" in log(package, 2), "trainers", PATIENCE_S)
    process.send_signal(signal.SIGINT)
    status, output, _ = ended(process)
    assert status == 130
    assert "stopped by SIGINT" in output
    seen = fab(cluster, package, "status").stdout
    assert len(re.findall(r"(?:pserver|trainer) +\d +stopped", seen)) == 3
    assert not re.search(r"\b(serves|trains|starts)\b", seen)
    assert log(package, 1, "paddle_trainer.INFO")
    assert cluster.named() == set()


def test_a_job_goes_on_without_its_launcher_and_is_seen_read_collected_and_stopped(
    cluster: StandIn, package: Path
) -> None:
    process = start(cluster, package, "--", "hang")
    until(lambda: all("trained" in log(package, node) for node in (1, 2)), "trainers", PATIENCE_S)
    assert "pod job" in fab(cluster, package, "status").stdout
    process.kill()
    process.communicate()
    seen = fab(cluster, package, "status").stdout
    assert "pserver-0" in seen
    assert "Running" in seen
    read = fab(cluster, package, "logs", "--role=trainer-1").stdout
    assert "trained" in read
    assert '"event"' not in read, "reports are for launchers alone"
    followed = fab(cluster, package, "logs", "--role=trainer-1", "--follow").stdout
    assert "trained" in followed
    assert re.search(
        r"`kubectl --context=stand-in --namespace=training logs --follow \S+-trainer-1` shows", followed
    )
    collected = fab(cluster, package, "collect")
    assert (collected.returncode, "output" in collected.stdout) == (0, True)
    assert (package / "output" / "model").is_file()
    assert cluster.named()
    assert fab(cluster, package, "stop").returncode == 0
    assert cluster.named() == set()


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ({"version": "The connection to the server localhost:8080 was refused"}, "Does the cluster run"),
        ({"version": 'error: context "far" does not exist'}, "get-contexts"),
        ({"auth": "failed: no"}, "role.yaml"),
        ({"auth can-i get pods --subresource=log": "failed: no"}, "this user may not get pods/log in"),
        ({"auth can-i list pods": "failed: no"}, "this user may not list pods in namespace training"),
        ({"create": 'Error from server (AlreadyExists): services "job" already exists'}, "has that name"),
        ({"create": 'namespaces "nowhere" not found'}, "--namespace=NAME"),
        (
            {"create": 'services "job" is forbidden: exceeded quota: team'},
            "forbidden: exceeded quota: team. End",
        ),
    ],
)
def test_what_a_cluster_refuses_is_told_with_what_to_do(
    cluster: StandIn, package: Path, refusal: dict[str, str], said: str
) -> None:
    cluster.says(**refusal)
    status, _, errors = ended(start(cluster, package))
    assert status == 1
    assert said in errors
    assert "the cluster cannot be used" in errors
    assert "pserver-0" not in errors
    assert not [call for call in cluster.calls() if call[0] == "delete"], "what is another's stays"


def test_an_image_that_is_not_there_ends_the_launch(cluster: StandIn, package: Path) -> None:
    said = "manifest for paddle-fabric:1 not found: manifest unknown"
    cluster.pods_wait("ErrImagePull", said)
    status, output, errors = ended(start(cluster, package))
    assert status == 1
    assert (
        "3 pods wait (pserver-0, trainer-0, trainer-1): the image paddle-fabric:1 could not be pulled"
        in errors
    )
    assert errors.count(said) == 1
    assert output.count(said) <= 1, "once as it happens"
    assert cluster.named() == set()


@pytest.mark.parametrize(
    "state",
    [
        {"waiting": {"reason": "CrashLoopBackOff"}},
        pytest.param({"running": {}}, marks=pytest.mark.thorough),
    ],
)
def test_a_parameter_server_whose_container_is_killed_ends_the_job_with_its_reason_and_last_lines(
    cluster: StandIn, package: Path, state: dict[str, Any]
) -> None:
    killed = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    process = start(cluster, package, "--", "hang")
    until(lambda: "trained" in log(package, 1), "a trainer", PATIENCE_S)
    (server,) = [path.name for path in (cluster.folder / "pods").iterdir() if "pserver" in path.name]
    cluster.crashes(server, state, killed, "the last that it said")
    status, _, errors = ended(process)
    assert status == 137
    assert "pserver-0 was killed by SIGKILL" in errors
    assert "the last that it said" in errors
    assert "OOMKilled" in errors
    assert f"on node 0 (pod {server})" in errors
    assert cluster.named() == set()


def test_a_dry_run_asks_no_cluster(cluster: StandIn, package: Path) -> None:
    status, output, _ = ended(start(cluster, package, "--dry_run"))
    assert status == 0
    assert "kind: StatefulSet" in output
    assert cluster.calls() == []


def test_a_dry_run_says_that_the_package_is_not_prepared(cluster: StandIn, package: Path) -> None:
    (package / "make.py").write_text("raise SystemExit('this runs')\n")
    status, output, errors = ended(start(cluster, package, "--dry_run", "--job_prepare=make.py"))
    assert (status, "kind: StatefulSet" in output) == (0, True)
    assert "make.py has not run, and the package in this text is as it is now" in errors
    assert f"cd {package} && SPLIT_COUNT=2 python make.py" in errors


def test_without_kubectl_it_is_said_what_is_missing(cluster: StandIn, package: Path) -> None:
    cluster.environ["PATH"] = str(package)
    status, _, errors = ended(start(cluster, package))
    assert status == 1
    assert "kubectl cannot be started here" in errors


@pytest.mark.thorough
def test_a_job_that_runs_is_told_to_programs(cluster: StandIn, package: Path) -> None:
    process = start(cluster, package, "--format=json")
    status, output, _ = ended(process)
    told = [json.loads(line) for line in output.splitlines()]
    assert status == 0
    assert {"ready", "trains"} & {one.get("state") for one in told} or any(
        one["event"] == "progress" for one in told
    )
