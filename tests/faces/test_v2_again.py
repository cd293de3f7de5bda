"""A trainer whose process was started again passes over what the one before it has ended."""

from __future__ import annotations

import pytest

import paddle.v2 as paddle
from paddle._launch.errors import FlagError
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module


class Servers(LocalExchange):
    """Stands in for parameter servers that have seen three passes end of this trainer's place."""

    next_pass = 3

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


def trained(*num_passes: int) -> list[list[int]]:
    """The passes that every call of ``train`` has begun."""
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.mse_cost(input=paddle.layer.fc(input=x, size=1), label=y)
    optimizer = paddle.optimizer.Momentum()
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer, is_local=False)
    begun: list[list[int]] = []

    def handler(event: object) -> None:
        if isinstance(event, paddle.event.BeginPass):
            begun[-1].append(event.pass_id)

    for number in num_passes:
        begun.append([])
        trainer.train(lambda: iter([[([1.0, 2.0], [3.0])]]), num_passes=number, event_handler=handler)
    return begun


def test_the_first_process_trains_all_passes(servers: Servers) -> None:
    assert trained(5) == [[0, 1, 2, 3, 4]]


def test_another_one_passes_over_those_that_were_ended_in_however_many_calls(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "1")
    assert trained(2, 4, 1) == [[], [1, 2, 3], [0]]
    assert servers.ended == [3, 4, 5, 6], "as the job counts them"


def test_one_whose_predecessor_had_ended_all_passes_trains_none(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "2")
    assert trained(3) == [[]]
    assert servers.ended == []


def test_what_is_no_number_is_refused_by_name(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_RESTARTS", "often")
    with pytest.raises(FlagError, match="PADDLE_RESTARTS: 'often' is not how often"):
        trained(1)
