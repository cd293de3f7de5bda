"""FLAGS_check_nan_inf in a job of fleet: who meets a NaN or Inf ends the job, and all know where."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.by_hand import environment
from tests.marks import on_demand

pytestmark = pytest.mark.cluster

LAUNCH = ["-m", "paddle.distributed.launch", "--server_num=1", "--worker_num=2"]

PROGRAM = """
import os
import numpy as np
import paddle
import paddle.distributed.fleet as fleet
import paddle.fluid as fluid

paddle.enable_static()
fleet.init()
x = paddle.static.data(name="x", shape=[None, 2], dtype="float32")
y = paddle.static.data(name="y", shape=[None, 1], dtype="float32")
hidden = fluid.layers.fc(x, 1, bias_attr=fluid.initializer.Constant(5.0)) * y
loss = paddle.mean(getattr(fluid.layers, os.environ["KIND"])(hidden))
strategy = fleet.DistributedStrategy()
strategy.a_sync = os.environ["MODE"] != "sync"
if os.environ["MODE"] == "geo":
    strategy.a_sync_configs = {"k_steps": 2}
fleet.distributed_optimizer(paddle.optimizer.SGD(0.01), strategy).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    raise SystemExit
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
fleet.init_worker()
for step in range(1000000):
    factor = float(os.environ["FACTOR"]) if step == 5 and fleet.worker_index() == 1 else 1.0
    exe.run(feed={"x": np.ones((4, 2), "float32"), "y": np.full((4, 1), factor, "float32")})
"""


LOG = "log", "-1", "'log' .* gave variable 'log_0.tmp_0' NaN"
SQRT = "sqrt", "0", "'sqrt_grad' .* gave variable 'tmp_0@GRAD' Inf"


@pytest.mark.parametrize(
    ("mode", "kind", "factor", "gave"), [("sync", *SQRT), on_demand("async", *LOG), on_demand("geo", *LOG)]
)
def test_the_worker_that_meets_it_ends_the_job_with_operator_variable_and_line(
    mode: str, kind: str, factor: str, gave: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, *LAUNCH, "train.py"],
        cwd=tmp_path,
        env=environment(FLAGS_check_nan_inf="1", MODE=mode, KIND=kind, FACTOR=factor),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert "trainer-1 ended with status 2" in done.stderr
    *_, said = (tmp_path / "log" / "workerlog.1").read_text().splitlines()  # it may have waited for servers
    assert re.match(rf"train.py:28: operator {gave}: 4 of 4 elements", said), said
    server = (tmp_path / "log" / "serverlog.0").read_text()
    assert re.search(rf"trainer 1 at .* failed: NotFinite: operator {gave}", server), server
