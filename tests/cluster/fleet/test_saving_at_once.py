"""All workers of a job save into one folder at once, and another job loads it by a module of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle
from tests.cluster.by_hand import environment
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

PROGRAM = """
import sys
import numpy as np
import paddle
import paddle.distributed.fleet as fleet
import beginning

paddle.enable_static()
fleet.init()
words = paddle.static.data("words", [None, 1], "int64")
table = paddle.static.nn.embedding(words, [50, 4], is_sparse=True, param_attr=paddle.ParamAttr(name="table"))
guess = paddle.static.nn.fc(paddle.reshape(table, [-1, 4]), 1, weight_attr=paddle.ParamAttr(name="w"))
loss = paddle.mean(paddle.square(guess - 1.0))
strategy = fleet.DistributedStrategy()
strategy.a_sync = False
fleet.distributed_optimizer(paddle.optimizer.Adam(0.05), strategy).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    sys.exit()
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
beginning.begin(fleet, sys.argv[1])
for step in range(3):
    found = exe.run(feed={"words": np.arange(50).reshape(50, 1)}, fetch_list=[loss])
    print("loss", float(found[0]), flush=True)
for time in range(5):
    fleet.save_persistables(exe, sys.argv[2])
    fleet.save_inference_model(exe, sys.argv[2] + "-model", ["words"], [guess])
fleet.stop_worker()
"""
BEGINNING = """
def begin(fleet, folder):
    fleet.init_worker()
    if folder and fleet.is_first_worker():
        fleet.load_model(folder, 0)
"""


def launched(folder: Path, begins: str, saves: str) -> list[list[float]]:
    """The losses of each worker."""
    call = [*(sys.executable, "-m", "paddle.distributed.launch", "--server_num=2", "--worker_num=2")]
    done = subprocess.run(
        [*call, "train.py", begins, saves],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    logs = [(folder / "log" / f"workerlog.{worker}").read_text() for worker in range(2)]
    assert done.returncode == 0, done.stderr + "".join(logs)
    return [[float(line[5:]) for line in log.splitlines() if line.startswith("loss ")] for log in logs]


def test_each_file_is_whole_and_a_module_of_the_program_may_load_behind_init_worker(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "beginning.py").write_text(BEGINNING)
    first = launched(tmp_path, "", "saved")
    second = launched(tmp_path, "saved", "again")
    assert first[0] == pytest.approx(first[1])
    whole = np.array(first[0] + second[0])
    assert (np.diff(whole) < 0).all()  # it goes on from there, and not anew
    for saved in ("saved", "saved-model"):
        lines = [
            line
            for place in range(2)
            for line in (tmp_path / saved / "table_txt" / f"table.block{place}.txt").read_text().splitlines()
        ]
        assert sorted(int(line.split("\t")[0]) for line in lines) == list(range(50))
    model = tmp_path / "saved-model"
    assert (model / "dnn_plugin" / "__model__").samefile(model / "__model__")  # where programs of 2.2 on look
    with paddle.static.scope_guard(paddle.static.Scope()):
        executor = paddle.static.Executor()
        program, feeds, targets = paddle.static.load_inference_model(
            str(model / "dnn_plugin"), executor, model_filename="__model__"
        )
        fed = {feeds[0]: np.array([[3]])}
        assert executor.run(program, feed=fed, fetch_list=targets)[0].shape == (1, 1)
    assert not [path for path in tmp_path.rglob("*") if ".new" in path.name or path.name.startswith(".")]
