"""The code that a first step needs: it is there before a trainer may push, and loading it holds up nobody."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from paddle._pserver.service import warming

from ..conftest import ONES, TIMEOUT_S, Start, start
from ..test_token import door_of

IN_A_NEW_PROCESS = """
import gc
import numpy as np
from numba.core.registry import CPUDispatcher
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.shard.model import Model
from paddle._pserver.options import ShardOptions
from paddle._pserver.service.warming import warm
from paddle._pserver.protocol.wire import WireSpec

parameters = (
    ParameterSpec(name="w", shape=(70, 60)),
    ParameterSpec(name="b", shape=(60,), momentum=0.5),
    ParameterSpec(name="rows", shape=(50, 6), sparse=True, l2_rate=0.1),
    ParameterSpec(name="open", shape=(-1, 6), sparse=True, rows=RowsSpec()),
)
update = UpdateSpec(rule=RuleSpec(name=RULE), schedule=ScheduleSpec(learning_rate=0.1))
declared, options = Declare(parameters, update, 0, 1, WireSpec()), ShardOptions(is_shown=True)

def compiled():
    return {d.py_func.__qualname__: len(d.signatures) for d in gc.get_objects() if type(d) is CPUDispatcher}

warm(declared, options)
before = compiled()
tables = Model(declared, options).tables
for step in range(1, 6):
    dense = [np.ones(segment.size, np.float32) for segment in tables.layout.segments]
    for array in dense:
        array.setflags(write=step % 2 == 0)
    ids = np.array([3, 4 + step, 1], np.int64)
    rows = [Rows(ids, np.ones((3, 6), np.float32)) for _ in range(2)]
    for table in tables.rows.values():
        table.gather(ids)
    tables.apply([Gradient(dense, rows)] * (1 + step % 2), samples=step, passes=0, step=step)
assert before and compiled() == before, (before, compiled())
"""


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam"])
def test_a_step_after_it_loads_and_compiles_nothing(rule: str) -> None:
    code = IN_A_NEW_PROCESS.replace("RULE", repr(rule), 1)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_a_trainer_may_push_once_all_is_loaded_and_meanwhile_the_shard_answers(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, may_end = threading.Event(), threading.Event()

    def slow(*declared: Any) -> None:
        loading.set()
        assert may_end.wait(TIMEOUT_S)

    monkeypatch.setattr(warming, "warm", slow)
    pservers = start_pservers()
    trainer = pservers.exchange(0)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(start, trainer)
        assert loading.wait(TIMEOUT_S)
        assert door_of(pservers) == {"locked": False, "challenges": 0, "admitted": 0, "denied": {}}
        assert not started.done()
        may_end.set()
        started.result(TIMEOUT_S)
    assert trainer.step(ONES, 1).version == 1
    trainer.close()


def test_where_it_fails_training_goes_on(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*declared: Any) -> None:
        raise MemoryError("none is left")

    monkeypatch.setattr(warming, "warm", failing)
    trainer = start_pservers().exchange(0)
    start(trainer)
    assert trainer.step(ONES, 1).version == 1
    trainer.close()
    assert "could not be loaded before it" in caplog.text
