"""paddle.profiler: turns of steps, fluid's functions, events, and programs that ask for no profile."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle import profiler
from paddle._absent import NotInThisRelease
from paddle._engine.profile import current, switch
from paddle.profiler import Profiler, ProfilerState, ProfilerTarget, RecordEvent, make_scheduler

RUNTIME = Path(paddle.__file__).parents[1]
PROGRAM = """
import paddle.v2 as paddle
paddle.init()
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
cost = paddle.layer.square_error_cost(input=paddle.layer.fc(input=x, size=1), label=y)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-3))
rows = lambda: iter([([1.0, 2.0, float(i)], [1.0]) for i in range(8)])
trainer.train(paddle.batch(rows, 2), num_passes=1)
print(float(parameters.get(parameters.names()[0]).sum()))
"""


@pytest.fixture(autouse=True)
def off():
    yield
    switch(None)


@pytest.fixture(scope="module")
def step():
    """A step of a small network."""
    v2 = paddle.v2
    x = v2.layer.data(name="x", type=v2.data_type.dense_vector(3))
    cost = v2.layer.square_error_cost(
        input=v2.layer.fc(input=x, size=1), label=v2.layer.data(name="y", type=v2.data_type.dense_vector(1))
    )
    trainer = v2.trainer.SGD(cost, v2.parameters.create(cost), v2.optimizer.Momentum(learning_rate=1e-3))
    batch = [(np.ones(3, np.float32), np.ones(1, np.float32))] * 2
    return lambda: trainer.train(lambda: iter([batch]), num_passes=1)


def test_the_operators_of_all_steps_are_in_the_summary(step, capsys):
    with Profiler(targets=[ProfilerTarget.CPU]) as p:
        for _ in range(3):
            step()
            p.step()
    p.summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("3 runs")
    calls = {line.split()[0]: line.split()[1] for line in lines[2:] if not line.startswith("(")}
    assert calls["exchange"] == "3"
    assert calls["ProfileStep"] == "4"  # the one that stop() ends, too
    assert current() is None


def test_a_pair_says_which_steps_count(step):
    handed = []
    p = Profiler(scheduler=(2, 4), on_trace_ready=lambda p: handed.append(p._profile.runs))
    p.start()
    for _ in range(8):
        step()
        p.step()
    p.stop()
    assert handed == [2]


def test_a_scheduler_hands_over_each_turn_by_itself(step, tmp_path):
    scheduler = make_scheduler(closed=1, ready=1, record=2, repeat=2)
    with Profiler(
        scheduler=scheduler, on_trace_ready=profiler.export_chrome_tracing(str(tmp_path), "w")
    ) as p:
        for _ in range(9):
            step()
            p.step()
    traces = sorted(tmp_path.iterdir())
    assert [each.name for each in traces] == ["w_time_0.paddle_trace.json", "w_time_1.paddle_trace.json"]
    for each in traces:
        names = [event["name"] for event in json.loads(each.read_text())["traceEvents"]]
        assert names.count("run") == 2


def test_turns_are_as_they_are_described():
    closed, ready, record, last = ProfilerState
    state = make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1)
    assert [state(i) for i in range(11)] == [closed, *[closed, ready, record, last] * 2, closed, closed]
    assert [make_scheduler(closed=0, ready=0, record=1)(i) for i in range(3)] == [last] * 3


def test_what_a_program_names_is_in_the_trace(step, tmp_path):
    with Profiler() as p, RecordEvent("reading"):
        step()
    p.export(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {event["cat"] for event in events if event["name"] == "reading"} == {"program"}
    with RecordEvent("nobody listens"):
        pass


def test_timer_only_counts_steps_and_no_operators(step):
    with Profiler(timer_only=True) as p:
        step()
        p.step()
        step()
    assert {line.name: line.calls for line in p._profile.lines()} == {"ProfileStep": 2}


def test_fluids_functions_print_the_table_and_write_the_trace(step, tmp_path, capsys):
    with profiler.profiler("CPU", sorted_key="calls", profile_path=str(tmp_path / "profile")):
        step()
        profiler.reset_profiler()
        step()
    assert capsys.readouterr().out.startswith("1 runs, ")
    assert json.loads((tmp_path / "profile").read_text())["traceEvents"]


def test_a_trace_that_cannot_be_written_ends_no_training(step, tmp_path, capsys):
    with (
        pytest.warns(RuntimeWarning, match="the trace is not written"),
        profiler.profiler("All", "total", str(tmp_path / "nowhere" / "profile")),
    ):
        step()
    assert capsys.readouterr().out.startswith("1 runs, ")


def test_what_cannot_be_is_said():
    with pytest.raises(NotInThisRelease, match="GPU"):
        Profiler(targets=[ProfilerTarget.GPU])
    with pytest.raises(ValueError, match="sorted_key"):
        profiler.stop_profiler("fastest")
    with pytest.raises(RuntimeError, match="start_profiler"):
        profiler.stop_profiler()
    with pytest.raises(ValueError, match="first step"):
        Profiler(scheduler=(3, 3))
    with Profiler(), pytest.raises(RuntimeError, match="PADDLE_INIT_PROFILE"):
        profiler.start_profiler()


def run(folder, **environ):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PADDLE_")}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(RUNTIME), **environ},
        capture_output=True,
        text=True,
    )


def test_an_unchanged_program_is_profiled_by_a_variable_beside_its_log(tmp_path):
    plain = run(tmp_path)
    assert not list(tmp_path.iterdir())
    told = run(tmp_path, PADDLE_INIT_PROFILE="1", GLOG_log_dir="log")
    assert (told.returncode, told.stdout) == (0, plain.stdout), told.stderr
    log = tmp_path / "log"
    assert "4 runs, " in (log / "paddle_trainer.profile.txt").read_text()
    assert json.loads((log / "paddle_trainer.trace.json").read_text())["traceEvents"]


def test_a_profile_that_cannot_be_written_changes_nothing_else(tmp_path):
    (tmp_path / "log").touch()
    told = run(tmp_path, PADDLE_INIT_PROFILE="1", GLOG_log_dir="log/deeper")
    assert told.returncode == 0
    assert "cannot write the profile" in told.stderr
