"""Processes of a job of fleet for tests: a worker that does what it is told, and its server."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.ports import free_port
from tests.waiting import PATIENCE_S

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
exe, X = fluid.Executor(), {"x": np.ones((1, 2), np.float32)}

def train():
    exe.run(fluid.default_startup_program())
    fleet.init_worker()
    exe.run(feed=X)

def leave(status):
    sys.exit(status)

exec(does)
"""

_SERVER = """
import sys
from paddle._complaint import tell_uncaught
from paddle._program.carrier import serve

tell_uncaught()
serve(sys.argv[1], 1)
"""


def worker(where: str, does: str, id: int = 0, workers: int = 1) -> subprocess.Popen[str]:
    """Worker ``id`` of so many, whose servers are at ``where``."""
    return _started(_WORKER, where, str(id), str(workers), does)


def server(where: str, **environ: str) -> subprocess.Popen[str]:
    """A server of one worker, once it listens."""
    started = _started(_SERVER, where, **environ)
    assert started.stderr is not None
    assert any(f"listens on {where}" in line for line in started.stderr), "it has ended"
    return started


def free_place() -> str:
    """Where a server may listen."""
    return f"127.0.0.1:{free_port(['127.0.0.1'], 1)}"


def ended(process: subprocess.Popen[str]) -> int:
    """The status with which it ends by itself."""
    process.communicate(timeout=PATIENCE_S)
    return process.returncode


def _started(code: str, *told: str, **environ: str) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-c", code, *told], text=True, env={**os.environ, **environ}, **pipes
    )
