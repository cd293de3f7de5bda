"""Who deals with a shard, when its line shares memory and when it does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.messages import Answer, Push
from paddle._pserver.trainer.courier import Apart, Courier, Here
from paddle._pserver.trainer.delivery import APART_BYTES, Delivery
from tests.waiting import PATIENCE_S


class Shard:
    """One that answers at once; ``line`` comes back with or without shared memory."""

    def __init__(self, values: int) -> None:
        self.line = SimpleNamespace(client=SimpleNamespace(takes_gradients=True), what="a shard", way=None)
        segment = SimpleNamespace(parameter=ParameterSpec(name="w", shape=(values,)), size=values)
        segment.span = slice(0, values)
        self.layout = SimpleNamespace(segments=[segment])
        self.bytes_per_value = 4
        self.asked: list[Any] = []
        self.bind = Mock()
        self.landing = Mock()
        self.tell_part = Mock()

    def ask_push(self, push: Push, gradients: Any, *, told: Any = None, **_: Any) -> None:
        self.asked.append(push.step)

    def hear_pushed(self, landing: Any) -> Answer:
        return Answer(self.asked[-1])


def step(delivery: Delivery, number: int, gradient: np.ndarray) -> Courier:
    delivery.begin()
    delivery.give("w", gradient)  # type: ignore[arg-type]
    delivery.push(Push(number, 0, 1), {"w": gradient}, forms=False)  # type: ignore[dict-item]
    delivery.settle()
    assert delivery.answer == Answer(number)
    return delivery.courier


@pytest.mark.parametrize("values", [APART_BYTES // 4, APART_BYTES // 4 - 1], ids=["large", "small"])
def test_a_line_that_comes_back_without_shared_memory_or_with_it_is_dealt_with_as_it_is(values: int) -> None:
    shard = Shard(values)
    delivery = Delivery(shard)  # type: ignore[arg-type]
    delivery.bind([], {}, Mock(), whole=False)
    gradient = np.zeros(values, np.float32)
    where: type[Courier] = Apart if 4 * values >= APART_BYTES else Here
    assert type(step(delivery, 1, gradient)) is Here
    shard.line.client.takes_gradients = False
    first = step(delivery, 2, gradient)
    assert type(first) is where
    assert step(delivery, 3, gradient) is first
    shard.line.client.takes_gradients = True
    assert type(step(delivery, 4, gradient)) is Here
    if isinstance(first, Apart) and first._thread is not None:
        first._thread.join(PATIENCE_S)
        assert not first._thread.is_alive(), "it was told to leave"
    assert shard.asked == [1, 2, 3, 4]
