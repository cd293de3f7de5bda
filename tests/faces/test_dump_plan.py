"""`paddle dump_plan SCRIPT`: a program runs up to its first step, which is shown and not taken."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from paddle.__main__ import main

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


def test_a_program_without_a_step_is_said_to_have_none(program, capsys) -> None:
    assert main(["dump_plan", program(HEAD)]) == 1
    assert "train.py has ended without a step" in capsys.readouterr().err


def test_a_program_that_fails_before_its_first_step_fails(program) -> None:
    with pytest.raises(ZeroDivisionError):
        main(["dump_plan", program(HEAD, "1 / 0")])


@pytest.mark.parametrize("arguments", [[], ["--slow"], ["nowhere.py"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys) -> None:
    assert main(["dump_plan", *arguments]) == 2
    assert "program" in capsys.readouterr().err
