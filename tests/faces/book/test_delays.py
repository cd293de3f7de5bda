"""Memories of memories: a line of these remembers what was some moments earlier."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import paddle.v2 as paddle

L = paddle.layer
RNG = np.random.default_rng(5)
ROWS = [(RNG.normal(size=(length, 2)), RNG.normal(size=2)) for length in (6, 1, 3)]


def delayed(order: tuple[str, ...]):
    """Of each sequence what was said three moments earlier reaches what is said now."""
    moments = L.data(name="x", type=paddle.data_type.dense_vector_sequence(2))
    begin = L.fc(
        input=L.data(name="b", type=paddle.data_type.dense_vector(2)), size=2, name="begin", bias_attr=False
    )

    def step(moment):
        line = {name: L.memory(name=name, size=2, boot_layer=begin) for name in order}
        said = L.fc(input=[moment, line["three"]], size=2, name="one", bias_attr=False)
        L.addto(input=line["one"], name="two", bias_attr=False)
        L.addto(input=line["two"], name="three", bias_attr=False)
        return said

    return L.recurrent_group(step=step, input=moments, name="g")


def by_hand(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The same with numpy."""
    found: list[np.ndarray] = []
    for moments, begin in ROWS:
        one = two = three = np.tanh(begin @ values["_begin.w0"])
        for moment in moments:
            said = np.tanh(moment @ values["_one@g.w0"] + three @ values["_one@g.w1"])
            one, two, three = said, one, two
            found.append(said)
    return np.array(found)


@pytest.mark.parametrize("order", [("one", "two", "three"), ("three", "two", "one"), ("two", "one", "three")])
def test_what_was_some_moments_earlier_is_remembered_and_gradients_come_back(order) -> None:
    out = delayed(order)
    cost = L.sum_cost(input=out)
    parameters = paddle.parameters.create(cost)
    for name in parameters:
        local = np.random.default_rng(list(name.encode()))
        parameters[name] = local.normal(0, 0.7, parameters[name].shape)
    values = {name: parameters[name].astype(np.float64) for name in parameters}
    found = paddle.infer(output_layer=out, parameters=parameters, input=ROWS)
    np.testing.assert_allclose(found, by_hand(values), rtol=1e-5, atol=1e-6)
    learned = {}

    def look(event):
        if isinstance(event, paddle.event.EndIteration):
            learned.update({name: parameters.get_grad(name) for name in values})

    paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.0)).train(
        lambda: iter([ROWS]), event_handler=look
    )
    for name, value in values.items():
        for place in np.ndindex(*value.shape):
            moved = [{**values, name: value.copy()} for _ in range(2)]
            moved[0][name][place] += 1e-5
            moved[1][name][place] -= 1e-5
            up, down = (by_hand(each).sum() for each in moved)
            assert learned[name][place] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-4)
