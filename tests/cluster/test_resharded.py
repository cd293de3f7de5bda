"""Launched jobs whose snapshots are cut for another number of pservers: what follows has the bits that it has
on as many as before, with what rules and averages remember."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import HOSTS, NETWORK, assert_same, environment, free_port
from tests.marks import on_demand
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]

# Every step passes some rows by. Trainer 0 keeps what it has at the end, and the averages of that.
V2 = """
import os
import numpy as np
import paddle.v2 as paddle

paddle.init()
me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
NETWORK
average = paddle.optimizer.ModelAverage(average_window=0.5, max_average_window=7)
optimizer = paddle.optimizer.Momentum(
    learning_rate=0.01, momentum=0.9, model_average=average,
    regularization=paddle.optimizer.L2Regularization(rate=0.01))
trainer = paddle.trainer.SGD(cost, parameters, optimizer, is_local=False)


def batches():
    for step in range(9):
        yield [(each, each % 5) for each in range(me, 40, 2) if each % 3 != step % 3]


trainer.train(batches, num_passes=1)
with open("averages.tar", "wb") as file:
    trainer.save_parameter_to_tar(file)
with open("averages.tar", "rb") as file:
    averages = paddle.parameters.Parameters.from_tar(file)
found = {name: parameters.get(name) for name in parameters.keys()}
np.savez("after.npz", **found, **{f"average of {name}": averages.get(name) for name in found})
""".replace("NETWORK", NETWORK)

FLEET = """
import numpy as np
import paddle
import paddle.distributed.fleet as fleet
import paddle.fluid as fluid

NAMES = ("table", "hidden", "out")


def values():
    return {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in NAMES}


paddle.enable_static()
fleet.init()
fluid.default_startup_program().random_seed = 7
word, label = fluid.data("word", [None, 1], "int64"), fluid.data("label", [None, 1], "int64")
vector = fluid.embedding(word, [40, 8], is_sparse=True, param_attr="table")
hidden = fluid.layers.fc(fluid.layers.reshape(vector, [-1, 8]), 300, param_attr="hidden", bias_attr=False)
out = fluid.layers.fc(hidden, 5, act="softmax", param_attr="out", bias_attr=False)
loss = fluid.layers.mean(fluid.layers.cross_entropy(out, label))
strategy = fleet.DistributedStrategy()
strategy.a_sync = False
fleet.distributed_optimizer(paddle.optimizer.Lamb(0.01), strategy).minimize(loss)
averages = fluid.optimizer.ModelAverage(0.5, min_average_window=2, max_average_window=7)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fleet.init_worker()
    for step in range(9):
        words = np.array([[each] for each in range(fleet.worker_index(), 40, 2) if each % 3 != step % 3])
        exe.run(feed={"word": words, "label": words % 5})
    if fleet.is_first_worker():
        with averages.apply(exe):
            average = values()
        np.savez("after.npz", **values(), **{f"average of {name}": each for name, each in average.items()})
    fleet.stop_worker()
"""


def trained(folder: Path, name: str, pservers: int, ports: int, kept: str) -> Mapping[str, np.ndarray]:
    """What trainer 0 of two has after a job on so many pservers, which goes on from what is in ``kept``."""
    conf = folder / f"{name}.py"
    conf.write_text(
        f"HOSTS = ['local', 'local']\nPSERVER_HOSTS = {[0, 1][:pservers]}\nTRAINER_HOSTS = [0, 1]\n"
    )
    ports_of_each = [f"--ports_num={ports}", f"--ports_num_for_sparse={ports}"]
    port = f"--port={free_port(HOSTS, 2 * ports + 1)}"  # and where workers meet
    where = [f"--conf={conf}", "-p", "package", f"--root_dir={name}", f"--snapshot_dir={folder / kept}"]
    run(folder, str(ROOT / "paddle.py"), *where, port, *ports_of_each)
    (after,) = (folder / name).glob("JOB*/node-0/after.npz")
    return np.load(after)


def run(folder: Path, *command: str) -> None:
    argv = [sys.executable, *command]
    done = subprocess.run(
        argv, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr


# One pserver less, and one more. A momentum and its averages, of dense parameters and of a table; then Lamb,
# under which parameters go to other shards as wholes.
@pytest.mark.parametrize(
    ("program", "before", "after"),
    [
        on_demand(V2, (2, 1), (1, 3), id="ModelAverage of v2"),
        pytest.param(FLEET, (1, 1), (2, 2), id="Lamb and ModelAverage of fleet"),
    ],
)
def test_what_rules_and_averages_remember_goes_on_to_the_same_bits(
    tmp_path: Path, program: str, before: tuple[int, int], after: tuple[int, int]
) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text(program)
    begun = trained(tmp_path, "begun", *before, "kept")
    nodes, ports = after
    sizes = [f"--nodes={nodes}", f"--ports_num={ports}", f"--ports_num_for_sparse={ports}"]
    run(tmp_path, "-m", "paddle", "reshard", "kept", "--to=cut", *sizes)
    found, wanted = trained(tmp_path, "cut", *after, "cut"), trained(tmp_path, "same", *before, "kept")
    assert_same(wanted, found)
    for name, array in wanted.items():
        kind = name.removeprefix("average of ")
        assert array.shape == wanted[kind].shape
        assert not np.array_equal(array, begun[name]), name  # it has gone on
        assert kind == name or not np.array_equal(array, wanted[kind]), name  # an average is another number
