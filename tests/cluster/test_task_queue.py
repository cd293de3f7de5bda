"""Real trainers that share a data set through a real master, and what becomes of it when one is killed."""

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from paddle._recordio.chunks import chunks_of
from paddle.dataset import common
from tests.waiting import PATIENCE_S

from .by_hand import environment, free_port, pserver

pytestmark = pytest.mark.cluster

SAMPLES = range(40)
# Prints what it reads, a line for each sample; with one argument more it then waits for a line of its input.
READER = """
import sys
from paddle.reader.creator import cloud_reader

reader = cloud_reader([sys.argv[1] + "/part-*"], sys.argv[2], wait_for_pending=True)
for pass_id in range(int(sys.argv[3])):
    for sample in reader():
        print(pass_id, *sample, flush=True)
        if len(sys.argv) > 4:
            sys.stdin.readline()
"""


TRAINER = """
import hashlib, sys
import paddle.v2 as paddle
from paddle.reader.creator import cloud_reader

paddle.init(use_gpu=False)
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(1))
predicted = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear())
cost = paddle.layer.square_error_cost(input=predicted, label=x)
parameters = paddle.parameters.create(cost)
optimizer = paddle.optimizer.Momentum(momentum=0, learning_rate=1e-4)
trainer = paddle.trainer.SGD(cost, parameters, optimizer, is_local=False)
read = []
mine = paddle.reader.map_readers(lambda one: read.append(one) or [list(one)], cloud_reader(*sys.argv[1:]))
trainer.train(paddle.batch(mine, 3), num_passes=2)
digest = hashlib.sha256(b"".join(parameters.get(name).tobytes() for name in sorted(parameters.keys())))
print(len(read), digest.hexdigest())
"""


@pytest.fixture
def data(tmp_path):
    """Ten files of four samples each."""
    common.convert(tmp_path / "data", lambda: ((number,) for number in SAMPLES), 4, "part")
    return tmp_path / "data"


class Processes(list):
    def start(self, *command: str, **env: str) -> subprocess.Popen:
        self.append(
            subprocess.Popen(
                [sys.executable, "-P", *command],
                env=environment(**env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        return self[-1]

    def master(self, port: int, *flags: str) -> subprocess.Popen:
        started = self.start("-m", "paddle", "master", f"--port={port}", "--chunk-per-task=1", *flags)
        lines = []
        while not (lines and "listening on" in lines[-1]):
            lines.append(started.stdout.readline())
            assert lines[-1], lines
        return started

    def reader(self, data: Path, port: int, passes: int, *paced: str) -> subprocess.Popen:
        return self.start("-c", READER, str(data), f"127.0.0.1:{port}", str(passes), *paced)


@pytest.fixture
def processes():
    started = Processes()
    yield started
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def port():
    return free_port(["127.0.0.1"])


def lines_of(process: subprocess.Popen) -> list[tuple[int, int]]:
    """The (pass, sample) pairs of a reader that ended well."""
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, out
    return pairs_in(out)


def pairs_in(out: str) -> list[tuple[int, int]]:
    """What was read; besides, a reader may tell that the other was quicker."""
    return [
        (int(pass_id), int(sample)) for pass_id, sample in re.findall(r"^(\d+) (\d+)$", out, re.MULTILINE)
    ]


def everything(passes: int) -> list[tuple[int, int]]:
    return [(pass_id, sample) for pass_id in range(passes) for sample in SAMPLES]


def counts(port: int) -> dict[str, int]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", "/v1/status")
        return json.loads(connection.getresponse().read())


def test_two_trainers_read_every_sample_exactly_once_in_each_pass(data, processes, port):
    processes.master(port)
    both = [processes.reader(data, port, 3) for _ in range(2)]
    assert sorted(lines_of(both[0]) + lines_of(both[1])) == everything(3)


def test_trainers_that_step_together_end_their_passes_together_however_tasks_are_spread(
    data, processes, port
):
    processes.master(port)
    processes.append(pserver("127.0.0.1", port + 1, trainers=2))
    shared = {"PADDLE_INIT_PORT": str(port + 1), "PADDLE_INIT_NUM_GRADIENT_SERVERS": "2"}
    both = [
        processes.start(
            "-c", TRAINER, f"{data}/part-*", f"127.0.0.1:{port}", PADDLE_INIT_TRAINER_ID=id, **shared
        )
        for id in "01"
    ]
    outputs = [process.communicate(timeout=PATIENCE_S)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    counted, digests = zip(*[output.split()[-2:] for output in outputs], strict=True)
    assert sum(map(int, counted)) == 2 * len(SAMPLES)
    assert len(set(digests)) == 1


def test_the_task_of_a_killed_trainer_is_read_by_the_other(data, processes, port):
    processes.master(port, "--task-timout-dur=6s")  # longer than one that lives stands still
    dead = processes.reader(data, port, 1, "paced")
    assert dead.stdout.readline() == "0 0\n"
    dead.kill()
    assert sorted(lines_of(processes.reader(data, port, 1))) == everything(1)
    assert counts(port)["pass"] == 1


def test_a_killed_master_goes_on_from_its_state(data, processes, port, tmp_path):
    flags = [f"--state_file={tmp_path}/state"]
    first = processes.master(port, *flags)
    reader = processes.reader(data, port, 2, "paced")
    seen = []
    while len(seen) < 50:  # it is in the second pass then, and in the middle of a task
        seen.append(reader.stdout.readline())
        if len(seen) < 50:
            print(file=reader.stdin, flush=True)
    first.send_signal(signal.SIGKILL)
    first.wait()
    second = processes.master(port, *flags)
    assert counts(port)["pass"] == 1
    rest, _ = reader.communicate("\n" * 100, timeout=PATIENCE_S)
    assert sorted(pairs_in("".join(seen) + rest)) == everything(2)
    second.terminate()
    assert second.wait(timeout=PATIENCE_S) == 128 + signal.SIGTERM


def test_a_corrupted_file_is_left_out_and_named_and_the_others_are_read(data, processes, port):
    bad = data / "part-00003"
    content = bytearray(bad.read_bytes())
    content[next(chunks_of(bad)).end - 1] ^= 1
    bad.write_bytes(content)
    master = processes.master(port, "--task-timeout-max=1")
    reader = processes.reader(data, port, 1)
    out, _ = reader.communicate(timeout=PATIENCE_S)
    assert [sample for _, sample in pairs_in(out)] == [sample for sample in SAMPLES if sample // 4 != 3]
    master.terminate()
    said, _ = master.communicate()
    assert said.count(f"{bad}: the chunk at byte 0") == 2


def test_a_taken_port_and_a_taken_state_file_are_named(processes, port, tmp_path):
    state = f"--state_file={tmp_path}/state"
    first = processes.master(port, state)
    for flags, status, words in (
        ([f"--port={port}"], 98, f"port {port} of 127.0.0.1 is in use by process {first.pid}"),
        ([f"--port={port + 1}", state], 1, f"the state file {tmp_path}/state is another master's"),
    ):
        second = processes.start("-m", "paddle", "master", *flags)
        said, _ = second.communicate(timeout=PATIENCE_S)
        assert (second.returncode, words in said) == (status, True), said
    first.send_signal(signal.SIGINT)
    assert first.wait(timeout=PATIENCE_S) == 130


def test_without_a_master_a_reader_fails_and_names_the_address(data, processes, port):
    hurried = "import paddle.v2.master as master; master.PATIENCE_S = 0.5\n" + READER.replace(
        "wait_for_pending", "timeout_sec=0.1, wait_for_pending"
    )
    reader = processes.start("-c", hurried, str(data), f"127.0.0.1:{port}", "1")
    out, _ = reader.communicate(timeout=PATIENCE_S)
    assert reader.returncode != 0
    assert f"the master at 127.0.0.1:{port} did not answer /v1/dataset" in out


def test_trainers_that_have_the_masters_token_read_and_others_are_told(data, processes, port, tmp_path):
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text("5ec7e7" * 8)
    processes.master(port, f"--token_file={token}")
    arguments = ("-c", READER, str(data), f"127.0.0.1:{port}", "2")
    stranger = processes.start(*arguments)
    out, _ = stranger.communicate(timeout=PATIENCE_S)
    assert stranger.returncode != 0
    assert "serves trainers with a token only" in out
    assert sorted(lines_of(processes.start(*arguments, PADDLE_MASTER_TOKEN_FILE=str(token)))) == everything(2)
