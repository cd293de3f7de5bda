"""The code that a first step needs: it is there before a trainer may push, and loading it holds up nobody."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from paddle._pserver.service import warming

from ..conftest import ONES, TIMEOUT_S, Start, start
from ..test_token import door_of
from .slow_warming import SlowWarming

IN_A_NEW_PROCESS = """
import gc
import numpy as np
from numba.core.registry import CPUDispatcher
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.shard.model import Model
from paddle._pserver.options import ShardOptions, SnapshotOptions
from paddle._pserver.service.warming import warm
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.tables.streamed import whole

parameters = (
    ParameterSpec(name="w", shape=(70, 60)),
    ParameterSpec(name="b", shape=(60,), momentum=0.5),
    ParameterSpec(name="rows", shape=(50, 6), sparse=True, l2_rate=0.1),
    ParameterSpec(name="open", shape=(-1, 6), sparse=True, rows=RowsSpec()),
)
update = UpdateSpec(rule=RuleSpec(name=RULE), schedule=ScheduleSpec(learning_rate=0.1))
declared = Declare(parameters, update, 0, 1, WireSpec())
options = ShardOptions(is_shown=True, snapshots=SnapshotOptions(folder="kept"))

def compiled():
    found = [d for d in gc.get_objects() if type(d) is CPUDispatcher]
    return sorted((d.py_func.__module__, d.py_func.__qualname__, len(d.signatures)) for d in found)

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
    for array in tables.cut(worth_bytes=0).arrays.values():
        whole(array)
assert before and compiled() == before, (before, compiled())
"""


A_CODED_PUSH = """
import gc, sys
import numpy as np
from numba.core.registry import CPUDispatcher
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.encoding import Encoder
from paddle._pserver.protocol.messages import Answer, Declare, PullRows, Push
from paddle._pserver.protocol.outlet import Outlet
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.service.warming import warm
from paddle._pserver.shard.decoding import Decoder
from paddle._pserver.shard.model import Model

parameters = (
    ParameterSpec(name="w", shape=(70, 60)),
    ParameterSpec(name="b", shape=(60,)),
    ParameterSpec(name="rows", shape=(50, 6), sparse=True),
)
update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=0.1))
WIRE = WireSpec(name=sys.argv[1], answers=sys.argv[2])
declared, options = Declare(parameters, update, 0, 1, WIRE), ShardOptions(is_shown=True)

def compiled():
    found = [d for d in gc.get_objects() if type(d) is CPUDispatcher]
    return sorted((d.py_func.__module__, d.py_func.__qualname__, len(d.signatures)) for d in found)

warm(declared, options)
before = compiled()
tables = Model(declared, options).tables
decoder, outlet = Decoder(WIRE, update.mode, tables), Outlet()
for step in range(1, 4):
    push = Push(step, 0, 1, (2,), forms=(step, 60, 2))
    gradient, into, decode = decoder.place(push, (2,), decoder.length(push, (2,)))
    for part in into:
        part[:] = bytes(part.nbytes)
    if WIRE.name == "topk":
        into[0].cast("I")[:step] = memoryview(np.arange(step, dtype=np.uint32))
    if WIRE.name != "float32":
        decode()
    rows = tables.rows["rows"].gather(np.array([1, 4]))
    for asked, values in ((push, tables.values), (PullRows((2,)), rows)):
        outlet.asked(1, asked)
        told = outlet.body(1, Answer(step), [values], WIRE)
        assert (told is None) == (WIRE.answers == "float32")
assert before and compiled() == before, (before, compiled())
"""


@pytest.mark.parametrize("name", ["bfloat16", "float16", "topk", "float32"])
def test_a_push_after_it_in_whatever_numbers_loads_and_compiles_nothing(name: str) -> None:
    answers = "float32" if name == "topk" else "bfloat16"
    subprocess.run([sys.executable, "-c", A_CODED_PUSH, name, answers], check=True, timeout=300)


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam"])
def test_a_step_after_it_loads_and_compiles_nothing(rule: str) -> None:
    code = IN_A_NEW_PROCESS.replace("RULE", repr(rule), 1)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_a_trainer_may_push_once_all_is_loaded_and_meanwhile_the_shard_answers(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading = SlowWarming(monkeypatch)
    pservers = start_pservers()
    trainer = pservers.exchange(0)
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(start, trainer)
        assert loading.has_begun.wait(TIMEOUT_S)
        assert door_of(pservers) == {"locked": False, "challenges": 0, "admitted": 0, "denied": {}}
        assert not started.done()
        loading.may_end.set()
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
