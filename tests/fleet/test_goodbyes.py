"""How a worker ends, and what its servers make of it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from paddle._pserver.errors import JobFailed
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints

_WORKER = """
import sys
import numpy as np
import paddle.fluid as fluid
from paddle._fleet.fleet import Fleet
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.strategy import DistributedStrategy

names, id, workers, does = sys.argv[1].split(","), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
strategy = DistributedStrategy()
strategy.a_sync = True
fleet = Fleet().init(UserDefinedRoleMaker(current_id=id, worker_num=workers, server_endpoints=names))
x = fluid.layers.data(name="x", shape=[2], dtype="float32")
loss = fluid.layers.mean(fluid.layers.fc(input=x, size=1))
fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy).minimize(loss)
exe = fluid.Executor()

def train():
    exe.run(fluid.default_startup_program())
    fleet.init_worker()
    exe.run(feed={"x": np.ones((1, 2), np.float32)})

def leave(status):
    sys.exit(status)

exec(does)
"""


def worker(endpoints: Endpoints, does: str, id: int = 0) -> subprocess.Popen[str]:
    names = ",".join(endpoints.names)
    told = [names, str(id), str(endpoints.trainers), does]
    return subprocess.Popen([sys.executable, "-c", _WORKER, *told], stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=TIMEOUT_S)
    return process.returncode


@pytest.mark.parametrize("how", ["leave(7)", "leave('no more data')", "raise ValueError('no')"])
def test_an_end_with_an_error_between_two_runs_is_no_orderly_one(how: str) -> None:
    endpoints = Endpoints(1)
    assert ended(worker(endpoints, f"train(); {how}")) != 0
    with pytest.raises(JobFailed, match=r"trainer 0 at .* failed: \w+: (7|no more data|no)$"):
        endpoints.outcomes()


@pytest.mark.parametrize(
    "how",
    [
        "leave(0)",
        "leave(None)",
        "\ntry:\n    leave(7)\nexcept SystemExit:\n    pass",
        "\ntry:\n    leave(7)\nexcept SystemExit as error:\n    kept = error",
    ],
)
def test_an_exit_that_is_none_or_was_caught_is_an_orderly_end(how: str) -> None:
    endpoints = Endpoints(1)
    assert ended(worker(endpoints, f"train(); {how}")) == 0
    assert endpoints.outcomes() == [True]


@pytest.mark.parametrize("does", ["fleet.init_worker(); fleet.stop_worker()", "fleet.init_worker()"])
def test_a_worker_that_holds_no_values_is_not_waited_for(does: str) -> None:
    endpoints = Endpoints(2, 2)
    assert [ended(worker(endpoints, "train()")), ended(worker(endpoints, does, 1))] == [0, 0]
    began = time.monotonic()
    assert endpoints.outcomes() == [True, True]
    assert time.monotonic() - began < TIMEOUT_S


def test_a_worker_0_that_holds_no_values_ends_the_job_and_is_named() -> None:
    endpoints = Endpoints(1, 2)
    assert ended(worker(endpoints, "fleet.stop_worker()")) == 0
    with pytest.raises(JobFailed, match="trainer 0 left before it had given the initial values"):
        endpoints.outcomes()
