"""embedding(is_distributed=True) of a transpiled program, by two servers and two trainers, each a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import free_port
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json
import os
import sys

import numpy as np

import paddle.fluid as fluid
from paddle.fluid import layers

role, id, endpoints = sys.argv[1], int(sys.argv[2]), sys.argv[3]
startup = fluid.default_startup_program()
startup.random_seed = 3
word = layers.data("word", [1], dtype="int64", lod_level=1)
label = layers.data("label", [1])
rows = layers.embedding(
    word, [60, 4], is_sparse=True, is_distributed=True,
    param_attr=fluid.ParamAttr(name="table", initializer=fluid.initializer.Uniform(-1.0, 1.0, seed=5)),
)
loss = layers.mean(layers.square_error_cost(layers.fc(layers.sequence_pool(rows, "sum"), 1), label))
fluid.optimizer.SGD(0.05).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
main = fluid.default_main_program()
if role != "local":
    transpiler = fluid.DistributeTranspiler()
    transpiler.transpile(id, pservers=endpoints, trainers=2)
if role == "server":
    own = endpoints.split(",")[id]
    program = transpiler.get_pserver_program(own)
    exe.run(transpiler.get_startup_program(own, program))
    exe.run(program)
    sys.exit()
if role == "trainer":
    main = transpiler.get_trainer_program()
exe.run(startup)
share = slice(None) if role == "local" else slice(4 * id, 4 * id + 4)
random, losses = np.random.default_rng(1), []
for step in range(6):
    texts = [random.integers(0, 60, 3 + number % 4) for number in range(8)][share]
    ids = np.concatenate(texts).reshape(-1, 1)
    feed = {
        "word": fluid.create_lod_tensor(ids, [[len(text) for text in texts]], fluid.CPUPlace()),
        "label": np.array([[text[0] % 5] for text in texts], "float32"),
    }
    losses.append(exe.run(main, feed=feed, fetch_list=[loss])[0].item())
exe.close()
print(json.dumps(losses))
"""


def _started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    return subprocess.Popen(
        [sys.executable, "program.py", *arguments],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_rows_are_fetched_from_the_servers_that_have_them(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    port = free_port(["127.0.0.1"], 2)
    endpoints = f"127.0.0.1:{port},127.0.0.1:{port + 1}"
    roles = [(role, id) for role in ("server", "trainer") for id in ("0", "1")]
    processes = [_started(tmp_path, role, id, endpoints) for role, id in roles]
    processes.append(_started(tmp_path, "local", "0", ""))
    said = [each.communicate(timeout=PATIENCE_S) for each in processes]
    assert [each.returncode for each in processes] == [0] * 5, "\n".join(err for _, err in said)
    first, second, alone = (json.loads(out.splitlines()[-1]) for out, _ in said[2:])
    np.testing.assert_allclose(np.mean([first, second], axis=0), alone, rtol=1e-5)
    assert alone[-1] < alone[0]
