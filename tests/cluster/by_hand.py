"""Starts pservers and trainers as a user does by hand: by command line and environment."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.plain.children import watched
from tests.ports import free_port
from tests.waiting import PATIENCE_S

HOSTS = ["127.0.0.1", "127.0.0.2"]
RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
PSERVER = [sys.executable, "-P", "-m", "paddle", "pserver", "--ports_num=1", "--ports_num_for_sparse=1"]

# A network for programs: a word, whose vector is in a sparse table, says its label.
NETWORK = """
word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(40))
label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(5))
vector = paddle.layer.embedding(
    input=word, size=8, param_attr=paddle.attr.Param(name="_table", initial_std=0.3, sparse_update=True))
predicted = paddle.layer.fc(input=vector, size=5, act=paddle.activation.Softmax())
cost = paddle.layer.classification_cost(input=predicted, label=label)
parameters = paddle.parameters.create(cost)
"""


def environment(**more: str) -> dict[str, str]:
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("PADDLE_", "OMPI_", "GLOG_"))
    }
    return {**clean, "PYTHONPATH": str(RUNTIME), "OPENBLAS_NUM_THREADS": "1", **more}


def pserver(host: str, port: int, trainers: int, *flags: str) -> subprocess.Popen[str]:
    place = ["--nics=lo"] if host == "127.0.0.1" else [f"--host={host}"]
    return subprocess.Popen(
        [*PSERVER, f"--port={port}", f"--num_gradient_servers={trainers}", *place, *flags],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def settings(hosts: list[str], port: int, trainers: int) -> dict[str, str]:
    """What the environment tells all trainers of a job."""
    return {
        "PADDLE_INIT_PORT": str(port),
        "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": "1",
        "PADDLE_INIT_NUM_GRADIENT_SERVERS": str(trainers),
        "PADDLE_INIT_PSERVERS": ",".join(hosts),
    }


def trainer(folder: Path, text: str, **env: str) -> subprocess.Popen[str]:
    script = folder / "train.py"
    if not script.exists():  # a trainer started before may be reading it
        script.write_text(text)
    return subprocess.Popen(
        [sys.executable, "train.py"],
        cwd=folder,
        env=watched(environment(**env)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def naming(text: str) -> list[str]:
    """The processes, but for this one, that have it in a word of their command, or in their environment."""
    entries = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [
        entry.name for entry in entries if int(entry.name) != os.getpid() and text.encode() in _words(entry)
    ]


def _words(entry: Path) -> bytes:
    try:
        return (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def line_of(process: subprocess.Popen[str], words: str) -> str:
    """The next line that it prints with ``words``. One that never does is killed in the end, and fails."""
    assert process.stdout
    watch = threading.Timer(PATIENCE_S, process.kill)
    watch.start()
    try:
        lines: list[str] = []
        while not (lines and words in lines[-1]):
            lines.append(process.stdout.readline())
            assert lines[-1], f"it ended without saying {words!r}: {lines}"
        return lines[-1]
    finally:
        watch.cancel()


def outputs_of(processes: list[subprocess.Popen[str]]) -> list[str]:
    """What each has printed when it ended by itself. After this none is left, whatever happened."""
    try:
        return [process.communicate(timeout=PATIENCE_S)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def outputs_of_all_well(processes: list[subprocess.Popen[str]]) -> list[str]:
    """The same, where each ended well."""
    outputs = outputs_of(processes)
    assert [process.returncode for process in processes] == [0] * len(processes), "\n".join(outputs)
    return outputs


def run_job(folder: Path, text: str, hosts: list[str] = HOSTS, trainers: int = 2, **env: str) -> list[str]:
    """What the trainers have printed, when all processes, a pserver on each host too, have ended well."""
    port = free_port(hosts)
    shared = settings(hosts, port, trainers) | env
    # Trainers come first: they must wait for their pservers, whatever the order.
    processes = [trainer(folder, text, PADDLE_INIT_TRAINER_ID=str(i), **shared) for i in range(trainers)]
    processes += [pserver(host, port, trainers) for host in hosts]
    return outputs_of_all_well(processes)[:trainers]


def assert_same(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> None:
    """Trainers ended with the same parameters."""
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
