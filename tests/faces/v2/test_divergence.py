"""A cost that is no number any more ends training, with where it was and what to try."""

import math
import subprocess
import sys
import warnings

import pytest

import paddle.v2 as paddle
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module


def trainer_of(learning_rate, is_local=True):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    out = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear())
    cost = paddle.layer.square_error_cost(input=out, label=y)
    optimizer = paddle.optimizer.Momentum(learning_rate=learning_rate)
    return paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer, is_local=is_local)


def batches(bad=None):
    rows = [[([1.0, 2.0], [float(i)])] for i in range(4)]
    return lambda: iter(
        [[([1.0, bad], [1.0])] if i == 2 and bad is not None else row for i, row in enumerate(rows)]
    )


def test_the_first_batch_whose_cost_is_no_number_ends_training_and_is_named():
    trainer, costs = trainer_of(1e38), []

    def handle(event):
        if isinstance(event, paddle.event.EndIteration):
            costs.append(event.cost)

    with pytest.raises(
        FloatingPointError, match=r"the cost is \S+ at batch \d of pass 0.*smaller learning_rate"
    ):
        trainer.train(batches(), num_passes=2, event_handler=handle)
    assert 0 < len(costs) < 4
    assert all(map(math.isfinite, costs))


def test_a_program_that_meets_one_ends_with_one_paragraph_and_no_status_of_success(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import paddle.v2 as paddle\n"
        "paddle.init(use_gpu=False)\n"
        "x = paddle.layer.data(name='x', type=paddle.data_type.dense_vector(1))\n"
        "cost = paddle.layer.square_error_cost(input=paddle.layer.fc(input=x, size=1), label=x)\n"
        "trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum())\n"
        "trainer.train(lambda: iter([[([1.0],)], [([float('inf')],)]]))\n"
        "print('done')\n"
    )
    ended = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.splitlines()[-1].startswith("train.py:6: the cost is ")
    assert "at batch 1 of pass 0, and training ends" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_value_in_the_data_that_is_not_finite_is_seen_at_its_batch_and_rank(monkeypatch):
    monkeypatch.setattr(trainer_module, "_remote", lambda flags: LocalExchange())
    monkeypatch.setenv("PADDLE_INIT_TRAINER_ID", "3")
    monkeypatch.setenv("PADDLE_INIT_NUM_GRADIENT_SERVERS", "4")
    paddle.init()
    trainer = trainer_of(0.01, is_local=False)
    with pytest.raises(FloatingPointError, match="the cost of trainer 3 is nan at batch 2 of pass 0"):
        trainer.train(batches(bad=float("nan")))


def test_training_that_goes_well_is_told_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer_of(0.01).train(batches(), num_passes=3)
