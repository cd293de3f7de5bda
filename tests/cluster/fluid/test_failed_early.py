"""Trainers of a transpiled program that fail before their first step, without a launcher."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paddle._pserver.errors import JobFailed
from tests.pserver.service.endpoints import Endpoints
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

TRAINER = """
import sys
import numpy as np
import paddle.fluid as fluid

pservers, id, trainers, does = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
x = fluid.layers.data(name="x", shape=[2], dtype="float32")
loss = fluid.layers.mean(fluid.layers.fc(input=x, size=1))
fluid.optimizer.SGD(0.1).minimize(loss)
transpiler = fluid.DistributeTranspiler()
transpiler.transpile(id, pservers=pservers, trainers=trainers)
exe = fluid.Executor()

def train():
    exe.run(fluid.default_startup_program())
    exe.run(transpiler.get_trainer_program(), feed={"x": np.ones((1, 2), np.float32)}, fetch_list=[loss])
    exe.close()

exec(does)
"""


def end(endpoints: Endpoints, id: int, does: str, **environ: str) -> int:
    """The status of a trainer."""
    told = ",".join(endpoints.names), str(id), str(endpoints.trainers), does
    own = {**os.environ, **environ}
    return subprocess.run([sys.executable, "-c", TRAINER, *told], env=own, timeout=PATIENCE_S).returncode


def test_where_all_trainers_have_failed_before_their_first_step_servers_say_why_and_end() -> None:
    endpoints = Endpoints(1, 2)
    assert end(endpoints, 1, "transpiler.get_trainer_program(); sys.exit(7)") == 7
    assert end(endpoints, 0, "raise ValueError('no')", TRAINING_ROLE="TRAINER") == 1
    why = "trainer 1 at .* could not start: SystemExit: 7; trainer 0 at .* could not start: ValueError: no$"
    with pytest.raises(JobFailed, match=why):
        endpoints.outcomes()


def test_one_that_ends_well_before_its_first_step_tells_nothing() -> None:
    endpoints = Endpoints(1)
    assert end(endpoints, 0, "transpiler.get_trainer_program()") == 0  # perhaps it only shows it
    assert end(endpoints, 0, "raise ValueError('no')") == 1  # it may be no trainer
    assert end(endpoints, 0, "train()") == 0
    assert endpoints.outcomes() == [True]
