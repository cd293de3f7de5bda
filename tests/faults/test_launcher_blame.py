"""A job that one process breaks, with real pservers and real training: the launcher names that process."""

import os
import re
import signal

import pytest

from tests.family import eldest

pytestmark = pytest.mark.faults

TRAIN = """
import os, signal, sys
import paddle.v2 as paddle

paddle.init()
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
cost = paddle.layer.square_error_cost(input=paddle.layer.fc(input=x, size=1), label=y)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-3), is_local=False)


def handle(event):
    if isinstance(event, paddle.event.EndIteration) and event.batch_id == 3:
        print("family", flush=True)
        if os.environ["PADDLE_INIT_TRAINER_ID"] == "1":
            {breaks}


reader = paddle.batch(lambda: iter([([0.5, 1.0], [0.25])] * 1000000), 2)
trainer.train(reader, event_handler=handle, num_passes=1)
"""


def broken(launch, breaks: str, *argv: str) -> tuple[int, str, str, str]:
    """Run a job that trainer 1 breaks; gives status, output, errors, and what a pserver printed."""
    running = launch(train=TRAIN.format(breaks=breaks), pserver=None, argv=list(argv))
    status, output, errors = running.end()
    assert running.pids() == {}
    return status, output, errors, (running.package / "log/node-0/server.log").read_text()


@pytest.mark.parametrize(
    ("breaks", "expected", "last_line"),
    [
        ("raise ValueError('no such word')", 1, "ValueError: no such word"),
        ("print('giving up'); sys.exit(7)", 7, "giving up"),
    ],
)
def test_a_trainer_that_breaks_a_job_is_named_with_its_own_last_lines(
    launch, breaks, expected, last_line
) -> None:
    status, output, errors, server_log = broken(launch, breaks)
    assert status == expected
    assert f"trainer-1 ended with status {expected} on node 1 (127.0.0.2)" in errors
    assert f"  | {last_line}\n" in errors
    assert f"node 1 (127.0.0.2): trainer-1 ended with status {expected}; stopping every process" in output
    assert "the job is broken: trainer 1 at 127.0.0.1" in server_log


def test_a_trainer_that_is_killed_while_others_wait_for_it_gives_137(launch) -> None:
    status, _, errors, _ = broken(launch, "os.kill(os.getpid(), signal.SIGKILL)")
    assert status == 128 + signal.SIGKILL
    assert "trainer-1 was killed by SIGKILL on node 1" in errors


@pytest.mark.patient
def test_a_trainer_that_stands_still_is_waited_for_and_then_named(launch) -> None:
    status, output, errors, _ = broken(launch, "os.kill(os.getpid(), signal.SIGSTOP)", "--barrier_timeout=15")
    assert status == 1
    assert "trainer-1 broke the job on node 1" in errors
    assert "barrier_timeout is 15 s" in errors
    assert re.search(r"waiting for trainer-1 for \d+ s", output)


def test_a_pserver_that_is_killed_is_named_and_none_of_its_victims(launch) -> None:
    running = launch(train=TRAIN.format(breaks="pass"), pserver=None)
    running.wait_until_trained()
    servers = [pid for pid, command in running.pids().items() if "--host=127.0.0.1" in command]
    assert len(servers) == 2, "the server of node 0 and its one shard"
    (shard,) = {*servers} - {*eldest(servers)}
    os.kill(shard, signal.SIGKILL)
    status, _, errors = running.end()
    assert status == 128 + signal.SIGKILL
    assert "pserver-0 ended with status 137 on node 0" in errors
    assert f"its process {shard} was killed by SIGKILL" in errors


@pytest.mark.patient
def test_a_program_that_never_trains_ends_well_and_without_a_pause(launch) -> None:
    running = launch(train="print('hello')", pserver=None)
    status, output, errors = running.end()
    assert (status, errors) == (0, "")
    assert "no trainer has connected to the pservers: stopping them" in output
