"""`paddle dump_plan SCRIPT`: a program runs up to its first step, which is shown and not taken."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

import paddle
from paddle.__main__ import main
from paddle._engine.executor import watch_plans
from paddle._engine.plan import Plan
from paddle._engine.plan_text import plan_text
from paddle._engine.program import Program
from paddle._program.description.written import fresh
from paddle.v2 import config_base

HEAD = """
import sys
import paddle.v2 as paddle
paddle.init(use_gpu=False, trainer_count=1)
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
y = paddle.layer.data(name="y", type=paddle.data_type.integer_value(2))
hidden = paddle.layer.fc(input=x, size=4, act=paddle.activation.Tanh())
predicted = paddle.layer.fc(input=hidden, size=2, act=paddle.activation.Softmax())
cost = paddle.layer.classification_cost(input=predicted, label=y)
parameters = paddle.parameters.create(cost)
print("arguments", *sys.argv[1:])
"""
TRAINS = """
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam())
{before}trainer.train(paddle.batch(lambda: iter([([1.0, 2.0, 3.0], 1)] * 8), 4))
{after}print("never")
"""
FLUID = """
import numpy as np
import paddle.fluid as fluid
x, y = fluid.layers.data("x", [3]), fluid.layers.data("y", [1], dtype="int64")
hidden = fluid.layers.fc(x, 4, act="tanh")
predicted = fluid.layers.fc(hidden, 2, act="softmax")
loss = fluid.layers.mean(fluid.layers.cross_entropy(predicted, y))
test = fluid.default_main_program().clone(for_test=True)
fluid.optimizer.SGD(0.1).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
feed = {"x": np.ones((5, 3), "float32"), "y": np.ones((5, 1), "int64")}
print("tested", exe.run(test, feed=feed, fetch_list=[predicted])[0].shape)
print("trained", exe.run(feed=feed, fetch_list=[loss])[0].shape)
"""
STATIC = """
import numpy as np
import paddle
paddle.enable_static()
x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [None, 1], "int64")
hidden = paddle.static.nn.fc(x, 4, activation="relu")
loss = paddle.nn.functional.cross_entropy(paddle.static.nn.fc(hidden, 2), y)
paddle.optimizer.Adam(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
feed = {"x": np.ones((5, 3), "float32"), "y": np.ones((5, 1), "int64")}
print("trained", exe.run(feed=feed, fetch_list=[loss])[0].shape)
"""
PREDICTS = """
paddle.infer(output_layer=predicted, parameters=parameters, input=[([1.0, 2.0, 3.0],)])
print("to the end")
"""


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def program(tmp_path: Path):
    def write(*parts: str) -> str:
        path = tmp_path / "train.py"
        path.write_text(dedent("".join(parts)))
        return str(path)

    return write


def test_the_first_step_is_shown_and_not_taken(program, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump_plan", program(HEAD, TRAINS.format(before="", after="")), "--fast"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("arguments --fast\n")
    assert "bias + activation" in told and "bias_activation_grad" in told and "exchange(" in told
    assert "if nothing were shared" in told and "never" not in told


def test_it_is_shown_also_where_the_program_catches_all_that_is_an_error(program, capsys) -> None:
    catching = TRAINS.format(before="try:\n    ", after="except Exception:\n    ")
    assert main(["dump_plan", program(HEAD, catching)]) == 0
    assert "never" not in capsys.readouterr().out


GENERATIONS = {
    "v2": (HEAD, TRAINS.format(before="", after="")),
    "fluid": (FLUID,),
    "static": (STATIC,),
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_of_every_generation_it_is_the_plan_that_trains(generation, program, capsys) -> None:
    path = program(*GENERATIONS[generation])
    with fresh():
        assert main(["dump_plan", path]) == 0
    told = capsys.readouterr().out
    assert "trained" not in told and "never" not in told
    assert ("tested (5, 2)\n" in told) == (generation == "fluid")
    shown = told[re.search(r"^\d+ operators", told, re.MULTILINE).start() :]
    plans = list(planned(path))
    (trained,) = [(seen, plan) for seen, plan in plans if plan.trains]
    assert shown == plan_text(*trained) + "\n"
    assert "bias + activation" in shown.split("\n\n")[0]
    ran = [each.type for each in {id(each): each for _, each in trained[1].steps}.values()]
    assert re.findall(r"^ ?\d+  .* = (\w+)\(", shown, re.MULTILINE) == ran
    assert f"memory: {trained[1].layout.size} bytes;" in shown


def planned(path: str) -> Iterator[tuple[Program, Plan]]:
    """Each plan that a program has when it runs as ever, with what was planned."""
    found: list[tuple[Program, Plan]] = []
    config_base._names_given.clear()
    watch_plans(lambda *made: found.append(made))
    try:
        with fresh():
            runpy.run_path(path, run_name="__main__")
    finally:
        watch_plans(None)
    yield from found


def test_of_a_batch_in_parts_it_is_the_plan_of_a_part(program, capsys) -> None:
    words = """
x = paddle.layer.data(name="x", type=paddle.data_type.integer_value_sequence(9))
x = paddle.layer.pooling(paddle.layer.embedding(x, size=3))
"""
    head = re.sub("x = .*\n", words, HEAD.replace("trainer_count=1", "trainer_count=2"))
    rows = TRAINS.format(before="", after="").replace("[1.0, 2.0, 3.0]", "[1, 2, 3]")
    assert main(["dump_plan", program(head, rows)]) == 0
    told = capsys.readouterr().out
    assert (
        "float32[2, 4]" in told
        and "float32[4, 4]" not in told
        and "exchange(" in told
        and "never" not in told
    )


def test_of_a_program_that_predicts_the_first_plan_is_shown(program, capsys) -> None:
    assert main(["dump_plan", program(HEAD, PREDICTS)]) == 0
    told = capsys.readouterr().out
    assert "to the end" in told and "softmax" in told and "exchange" not in told


def test_a_plan_that_cannot_be_printed_is_told_in_one_line(
    program, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    with Path("/dev/full").open("w") as full, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", full)
        assert main(["dump_plan", program(HEAD, PREDICTS)]) == 1
    assert "paddle dump_plan: cannot print: No space left on device\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", HEAD, FLUID.split("feed =")[0], "import sys\nsys.exit(0)", "import sys\nsys.exit()"]
)
def test_a_program_without_a_step_is_said_to_have_none(text, program, capsys) -> None:
    with fresh():
        assert main(["dump_plan", program(text)]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert "train.py has ended without a step" in told and "It has to train (trainer.train in v2" in told


def test_a_program_that_ends_itself_before_its_first_step_has_said_why(program) -> None:
    with pytest.raises(SystemExit, match="give me data"):
        main(["dump_plan", program(HEAD, "sys.exit('give me data')")])


@pytest.mark.parametrize("before", [(HEAD,), (HEAD, PREDICTS)])
def test_a_program_that_fails_before_its_first_step_fails(before, program, capsys) -> None:
    with pytest.raises(ZeroDivisionError) as failed:
        main(["dump_plan", program(*before, "1 / 0")])
    (note,) = failed.value.__notes__
    assert "train.py failed before its first step" in note and "Have `python` run it first" in note
    assert "operators" not in capsys.readouterr().out


def test_where_a_program_cannot_be_read_its_line_is_told_and_what_to_do(program) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "paddle", "dump_plan", program("def f(:")],
        env=os.environ | {"PYTHONPATH": str(Path(paddle.__file__).parents[1])},
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and not done.stdout
    *_, line, _, kind, note = done.stderr.splitlines()
    assert line.strip() == "def f(:" and kind.startswith("SyntaxError") and "Have `python` run it" in note


@pytest.mark.parametrize("arguments", [[], ["--slow"], ["nowhere.py"], ["/"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys) -> None:
    assert main(["dump_plan", *arguments]) == 2
    assert "program" in capsys.readouterr().err
