"""A trainer whose process was started again passes over what the one before it has ended, but for the last
end of a pass, in which that one may have been lost."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._launch.errors import FlagError
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module


class Servers(LocalExchange):
    """Stands in for parameter servers that have seen three passes end of this trainer's place."""

    next_pass = 3
    passed = 0

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[int] = []

    def end_pass(self, pass_id: int) -> None:
        self.ended.append(pass_id)
        super().end_pass(pass_id)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Servers:
    servers = Servers()
    monkeypatch.setattr(trainer_module, "_remote", lambda flags: servers)
    return servers


def trained(*num_passes: int) -> list[list[str]]:
    """The passes that every call of ``train`` has begun and ended."""
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.mse_cost(input=paddle.layer.fc(input=x, size=1), label=y)
    optimizer = paddle.optimizer.Momentum()
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer, is_local=False)
    begun: list[list[str]] = []

    def handler(event: object) -> None:
        if isinstance(event, paddle.event.BeginPass):
            begun[-1].append(f"{event.pass_id}")
        if isinstance(event, paddle.event.EndPass):
            begun[-1].append(f"end of {event.pass_id}")
            paddle.parameters.Parameters.from_tar(saved(trainer))

    for number in num_passes:
        begun.append([])
        trainer.train(lambda: iter([[([1.0, 2.0], [3.0])]]), num_passes=number, event_handler=handler)
    return begun


def saved(trainer: Any) -> io.BytesIO:
    file = io.BytesIO()
    trainer.save_parameter_to_tar(file)
    file.seek(0)
    return file


def all_of(*passes: int) -> list[str]:
    return [said for each in passes for said in (f"{each}", f"end of {each}")]


def test_the_first_process_trains_all_passes(servers: Servers) -> None:
    assert trained(3) == [all_of(0, 1, 2)]


def test_another_one_passes_over_those_that_were_ended_in_however_many_calls(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "1")
    assert trained(2, 4, 1) == [[], ["end of 0", *all_of(1, 2, 3)], all_of(0)]
    assert servers.ended == [3, 4, 5, 6], "as the job counts them"


def test_one_whose_predecessor_had_ended_all_passes_trains_none(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "2")
    assert trained(3) == [["end of 2"]]
    assert servers.ended == []


def test_what_was_measured_in_a_pass_of_the_process_before_is_unknown(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "1")
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(3))
    predicted = paddle.layer.fc(input=x, size=3, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=predicted, label=label)
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Momentum(), is_local=False
    )
    heard: list[Any] = []
    trainer.train(lambda: iter([]), num_passes=3, event_handler=heard.append)
    ((name, value),) = heard[0].metrics.items()
    assert (len(heard), name) == (1, "classification_error_evaluator") and math.isnan(value)


def test_dropout_is_that_of_the_process_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain descent keeps nothing but the parameters, which are handed over here as pservers would."""
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(8))
    dropped = paddle.layer.dropout(input=x, dropout_rate=0.5)
    cost = paddle.layer.mse_cost(
        input=paddle.layer.fc(input=dropped, size=1, name="out"),
        label=paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1)),
    )

    def values(begins: int, passes: int, parameters: Any) -> list[np.ndarray]:
        servers = Servers()
        servers.next_pass = begins
        monkeypatch.setattr(trainer_module, "_remote", lambda flags: servers)
        trainer = paddle.trainer.SGD(
            cost, parameters, paddle.optimizer.Momentum(learning_rate=0.01), is_local=False
        )
        rows = [([float(each % 3) for each in range(8)], [1.0])]
        trainer.train(lambda: iter([rows, rows]), num_passes=passes)
        return [parameters.get(name).copy() for name in sorted(parameters.keys())]

    whole = values(0, 4, paddle.parameters.create(cost))
    first = paddle.parameters.create(cost)
    values(0, 2, first)
    again = paddle.parameters.create(cost)
    for name in first:
        again.set(name, first.get(name))
    monkeypatch.setenv("PADDLE_RESTARTS", "1")
    assert [each.tobytes() for each in values(2, 4, again)] == [each.tobytes() for each in whole]
    assert len({value.tobytes() for value in (*whole, *values(0, 4, first))}) > len(whole)


def test_what_is_no_number_is_refused_by_name(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "often")
    with pytest.raises(FlagError, match="PADDLE_RESTARTS: 'often' is not how often"):
        trained(1)


def test_where_the_whole_job_begins_again_batches_that_its_values_have_are_passed_over(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "1")
    servers.passed = 2
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.mse_cost(input=paddle.layer.fc(input=x, size=1), label=y)
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Momentum(), is_local=False
    )
    heard: list[Any] = []
    rows = [([1.0, 2.0], [3.0])]
    trainer.train(lambda: iter([rows] * 3), num_passes=5, event_handler=heard.append)
    told = [
        (type(each).__name__, each.pass_id, getattr(each, "batch_id", None))
        for each in heard
        if not isinstance(each, paddle.event.EndForwardBackward | paddle.event.EndIteration)
    ]
    assert told == [  # no EndPass of the pass before: the values are not those of its end any more
        ("BeginPass", 3, None),
        ("BeginIteration", 3, 2),
        ("EndPass", 3, None),
        ("BeginPass", 4, None),
        *[("BeginIteration", 4, batch) for batch in range(3)],
        ("EndPass", 4, None),
    ]
    assert servers.ended == [3, 4]


def test_one_that_had_ended_its_pass_before_the_job_began_again_ends_it_without_a_batch(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "1")
    servers.passed = 1
    assert trained(4) == [["3", "end of 3"]]
    said = [str(warned.message) for warned in recwarn if warned.category is not ResourceWarning]
    assert (servers.ended, said) == ([3], [])


def test_dropout_is_that_of_the_place_in_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(8))
    dropped = paddle.layer.dropout(input=x, dropout_rate=0.5)
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.mse_cost(input=paddle.layer.fc(input=dropped, size=1, name="out"), label=y)
    rows = [([float(each % 3) for each in range(8)], [1.0])]

    def values(passed: int, batches: int, parameters: Any) -> list[bytes]:
        servers = Servers()
        servers.next_pass, servers.passed = 0, passed
        monkeypatch.setattr(trainer_module, "_remote", lambda flags: servers)
        optimizer = paddle.optimizer.Momentum(learning_rate=0.01)
        trainer = paddle.trainer.SGD(cost, parameters, optimizer, is_local=False)
        trainer.train(lambda: iter([rows] * batches))
        return [parameters.get(name).tobytes() for name in sorted(parameters.keys())]

    whole = values(0, 4, paddle.parameters.create(cost))
    half = paddle.parameters.create(cost)
    values(0, 2, half)
    monkeypatch.setenv("PADDLE_RESTARTS", "1")
    assert values(2, 4, half) == whole
