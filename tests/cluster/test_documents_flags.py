"""The flags and variables that the documents list: each is taken, and does what they say of it."""

import re
from pathlib import Path

import pytest

import paddle
from tests.cluster.terminals import ETH0, Terminal, type_into

pytestmark = pytest.mark.cluster

PSERVER_FLAGS = ("port", "ports_num", "ports_num_for_sparse", "num_gradient_servers", "nics")
TRAINER_FLAGS = ("use_gpu", "trainer_count", *PSERVER_FLAGS[:4], "trainer_id", "pservers")
VERSION = """\
PaddlePaddle {}, compiled with
    with_avx: {}
    with_gpu: OFF
    with_double: OFF
    with_python: ON
    with_rdma: OFF
    with_timer: OFF
"""

# A program that goes down the same slope for three steps, and says how far and on how many threads: of
# sequences, which are cut for threads however little there is to compute.
TRAIN = """
import os, threading
import paddle.v2 as paddle

paddle.init({})
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector_sequence(1))
slope = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear(), bias_attr=False, name="slope")
cost = paddle.layer.sum_cost(input=paddle.layer.last_seq(input=slope))
parameters = paddle.parameters.create(cost)
before = parameters.get("_slope.w0")
descent = paddle.optimizer.Momentum(learning_rate=1e-3)
trainer = paddle.trainer.SGD(cost, parameters, descent, is_local=False)
trainer.train(lambda: iter([[([[0.5]],), ([[0.5]],)]] * 3))
print("moved by %.3f" % (parameters.get("_slope.w0") - before).item())
parts = [thread for thread in threading.enumerate() if thread.name.startswith("part")]
print("trained with", 1 + len(parts), "threads, of BLAS", os.environ["OMP_NUM_THREADS"])
"""
TRAINER = "python train.py"
UNPINNED = "unset OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS\n"


def run(folder: Path, init: str, *terminals: str, **needs: bool) -> list[Terminal]:
    (folder / "train.py").write_text(TRAIN.replace("{}", init))
    ended = type_into(folder, *terminals, **needs)
    assert [each.status for each in ended] == [0] * len(ended), ended
    return ended


def places(pserver: Terminal) -> list[str]:
    return re.search(r"listening on (.*)$", pserver.screen, re.MULTILINE)[1].split(", ")


def test_help_and_version_are_printed_as_documented(tmp_path: Path) -> None:
    version, general, pserver = type_into(
        tmp_path, "paddle version", "paddle --help", "paddle pserver --help"
    )
    assert version in [(0, VERSION.format(paddle.__version__, avx)) for avx in ("ON", "OFF")]
    for screen, flags in ((general.screen, TRAINER_FLAGS), (pserver.screen, PSERVER_FLAGS)):
        for flag in flags:
            assert re.search(rf"(^ *(--)?|, ){flag}\b", screen, re.MULTILINE), (flag, screen)


def test_without_flags_everybody_meets_at_the_documented_defaults(tmp_path: Path) -> None:
    pserver, trainer = run(tmp_path, "", "paddle pserver", UNPINNED + TRAINER, needs_namespace=True)
    assert places(pserver) == ["127.0.0.1:7164"]
    assert "moved by -0.003" in trainer.screen
    assert "trained with 1 threads, of BLAS 1" in trainer.screen


def test_ports_are_those_asked_for_on_both_sides(tmp_path: Path) -> None:
    flags = {"port": 7200, "ports_num": 2, "ports_num_for_sparse": 2}
    told = "".join(f"export PADDLE_INIT_{name.upper()}={value}\n" for name, value in flags.items())
    command = "paddle pserver " + " ".join(f"--{name}={value}" for name, value in flags.items())
    pserver, _ = run(tmp_path, "", command, told + TRAINER, needs_namespace=True)
    assert places(pserver) == [f"127.0.0.1:{port}" for port in (7200, 7201, 7202, 7203)]


def test_steps_are_those_of_as_many_trainers_as_said(tmp_path: Path) -> None:
    told = "export PADDLE_INIT_NUM_GRADIENT_SERVERS=2 PADDLE_INIT_PORT=7164 PADDLE_INIT_TRAINER_ID={}\n"
    trainers = [told.format(number) + TRAINER for number in range(2)]
    _, *ended = run(tmp_path, "", "paddle pserver --port=7164 --num_gradient_servers=2", *trainers)
    assert all("moved by -0.006" in trainer.screen for trainer in ended)


@pytest.mark.parametrize(("nics", "expected"), [("lo", ["127.0.0.1"]), ("lo,eth0", ["127.0.0.1", ETH0])])
def test_devices_are_those_asked_for(tmp_path: Path, nics: str, expected: list[str]) -> None:
    told = f"export PADDLE_INIT_PSERVERS={','.join(expected)} PADDLE_INIT_PORT=7164\n"
    command = f"paddle pserver --port=7164 --nics={nics}"
    pserver, _ = run(tmp_path, "", command, told + TRAINER, needs_namespace="eth0" in nics)
    assert [place.rpartition(":")[0] for place in places(pserver)] == expected


def test_a_device_of_other_machines_is_refused_by_name(tmp_path: Path) -> None:
    (pserver,) = type_into(tmp_path, "paddle pserver --nics=xgbe0,xgbe1")
    assert pserver.status == 2
    assert "'xgbe0' does not exist" in pserver.screen and "lo (127.0.0.1)" in pserver.screen


@pytest.mark.parametrize(
    ("told", "init"),
    [
        ("export PADDLE_INIT_USE_GPU=True PADDLE_INIT_TRAINER_COUNT=2 PADDLE_INIT_PORT=7164\n", ""),
        ("export PADDLE_INIT_USE_GPU=False PADDLE_INIT_TRAINER_COUNT=1\n", "use_gpu=True, trainer_count=2"),
    ],
    ids=["variables", "arguments"],
)
def test_threads_are_as_many_as_asked_for_and_a_gpu_is_said_to_be_left_out(
    tmp_path: Path, told: str, init: str
) -> None:
    _, trainer = run(
        tmp_path,
        f"{init}, port=7164" if init else "",
        "paddle pserver --port=7164",
        UNPINNED + told + TRAINER,
    )
    assert "trained with 2 threads, of BLAS 1" in trainer.screen
    assert trainer.screen.count("not in this release, which trains on the CPU") == 1
