"""ModelAverage in a job of fleet: of what servers keep, tables too, and of what the program keeps. It is what
is shown, and what a program computes with that does not train, until it is over."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import environment

pytestmark = pytest.mark.cluster

LAUNCH = ["-m", "paddle.distributed.launch", "--server_num=2", "--worker_num=2"]

# Each worker is fed all of a batch, so that their batch norms see the same.
PROGRAM = """
import json
import numpy as np
import paddle
import paddle.distributed.fleet as fleet
import paddle.fluid as fluid
from paddle.fluid import layers

NAMES = ("w", "rows", "scale", "shift", "mean", "variance")

def values():
    return {name: np.array(fluid.global_scope().find_var(name).get_tensor()).tolist() for name in NAMES}

paddle.enable_static()
fleet.init()
fluid.default_startup_program().random_seed = 7
x = layers.data("x", [3])
word = layers.data("word", [1], dtype="int64")
hidden = layers.fc(x, 2, param_attr="w", bias_attr=False)
hidden += layers.embedding(word, [9, 2], is_sparse=True, param_attr="rows")
norm = layers.batch_norm(hidden, param_attr="scale", bias_attr="shift",
                         moving_mean_name="mean", moving_variance_name="variance")
loss = layers.reduce_mean(layers.square(norm - 1.0) * layers.reduce_sum(hidden, dim=1, keep_dim=True))
other = fluid.default_main_program().clone(for_test=True)
strategy = fleet.DistributedStrategy()
strategy.a_sync = False
fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy).minimize(loss)
averages = fluid.optimizer.ModelAverage(1.0, min_average_window=100, max_average_window=100)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    raise SystemExit
exe = fluid.Executor()
exe.run(fluid.default_startup_program())
fleet.init_worker()
feeds = [{"x": np.random.default_rng(step).normal(size=(8, 3)).astype("float32"),
          "word": np.arange(step, step + 8)[:, None] % 7} for step in range(6)]

def learned():
    (found,) = exe.run(other, feed=feeds[0], fetch_list=[loss])
    return {**values(), "loss": found.tolist()}

for feed in feeds:
    exe.run(feed=feed)
with averages.apply(exe):
    average = learned()
plain = learned()
exe.run(feed=feeds[0])
print(json.dumps([average, plain, learned()]))
fleet.stop_worker()
"""


def test_in_step_workers_apply_the_average_that_one_process_has_and_train_on(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    for launcher in [], LAUNCH:
        with (tmp_path / "alone").open("a") as alone:
            command = [sys.executable, *launcher, "train.py"]
            subprocess.run(command, cwd=tmp_path, env=environment(), stdout=alone, check=True)
    logs = [tmp_path / "alone", *(tmp_path / "log" / f"workerlog.{id}" for id in range(2))]
    expected, *found = (json.loads(log.read_text().splitlines()[-1]) for log in logs)
    for worker in found:
        for made, wanted in zip(worker, expected, strict=True):
            for name, value in wanted.items():
                np.testing.assert_allclose(made[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
    average, trained, _ = expected
    assert all(np.abs(np.subtract(average[name], trained[name])).max() > 1e-3 for name in average)
