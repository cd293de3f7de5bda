"""Groups of v2 whose step gives a sequence at each moment: what attention looked at, as programs show it."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease

layer = paddle.layer
LENGTHS = (2, 5, 1, 3)
RNG = np.random.default_rng(4)
SEQUENCES = [RNG.normal(size=(length, 3)).astype(np.float32) for length in LENGTHS]
ROWS = [(each.tolist(),) for each in SEQUENCES]


def words():
    return layer.data(name="x", type=paddle.data_type.dense_vector_sequence(3))


def computed(outputs, rows=ROWS, parameters=None):
    parameters = parameters or paddle.parameters.create(outputs)
    return paddle.infer(output_layer=outputs, parameters=parameters, input=rows), parameters


def split(flat: np.ndarray) -> list[np.ndarray]:
    return np.split(flat, np.cumsum(LENGTHS)[:-1])


def attended(x, given):
    """Of each word the words near it, and how near each is; with a step that remembers nothing."""

    def step(word, all_words):
        near = layer.dot_prod(layer.expand(word, all_words), all_words)
        weights = layer.fc(near, size=1, act=paddle.activation.SequenceSoftmax(), bias_attr=False, name="w")
        return layer.pooling(layer.scaling(all_words, weights), paddle.pooling.Sum()), weights

    return layer.recurrent_group(step=step, input=[x, given])


def test_a_step_gives_at_each_moment_a_sequence_like_one_that_it_sees_whole() -> None:
    x = words()
    near, weights = attended(x, layer.StaticInput(x))
    alone, parameters = computed(near)
    (name,) = parameters.names()
    most = layer.pooling(weights, paddle.pooling.Max(), agg_level=layer.AggregateLevel.TO_SEQUENCE)
    (found, flat, greatest), _ = computed([near, weights, most], parameters=parameters)
    np.testing.assert_allclose(found, alone, rtol=1e-6)
    shown = np.split(flat[:, 0], np.cumsum(np.square(LENGTHS))[:-1])
    for rows, one, each, top in zip(SEQUENCES, split(found), shown, split(greatest), strict=True):
        shares = np.exp((rows @ rows.T) * parameters[name].item())
        shares /= shares.sum(1, keepdims=True)
        np.testing.assert_allclose(one, shares @ rows, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(each.reshape(shares.shape), shares, rtol=1e-4)
        np.testing.assert_allclose(top[:, 0], shares.max(1), rtol=1e-4)


def test_inside_of_another_group_nobody_reads_a_sequence_of_each_moment_outside() -> None:
    nested = layer.data(name="nested", type=paddle.data_type.dense_vector_sub_sequence(3))

    def outer(sentence):
        _, weights = attended(sentence, layer.StaticInput(sentence))
        return layer.pooling(weights, paddle.pooling.Max())

    most = layer.recurrent_group(step=outer, input=nested)
    with pytest.raises(NotInThisRelease, match=r"gives a sequence at each moment.* pool it in the step"):
        computed(most, [([np.eye(3)[:2], np.ones((1, 3))],)])


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_come_back_through_sequences_of_each_moment(reverse) -> None:
    asked = layer.data(name="asked", type=paddle.data_type.dense_vector_sequence(2))
    named = paddle.attr.Param(name="w")

    def step(row, words):
        former = layer.memory(name="state", size=3)
        near = layer.dot_prod(layer.expand(former, words), words)
        weights = layer.fc(near, size=1, act=paddle.activation.SequenceSoftmax(), param_attr=named)
        context = layer.pooling(layer.scaling(words, weights), paddle.pooling.Sum())
        return layer.fc([row, context, former], size=3, name="state"), weights

    inputs = [asked, layer.StaticInput(words())]
    states, weights = layer.recurrent_group(step=step, input=inputs, reverse=reverse)
    most = layer.pooling(weights, paddle.pooling.Max(), agg_level=layer.AggregateLevel.TO_SEQUENCE)
    costs = [layer.sum_cost(layer.fc(each, size=1)) for each in (layer.last_seq(states), most)]
    parameters, found = paddle.parameters.create(costs), []
    for name in parameters.names():
        parameters[name] = RNG.normal(size=parameters.get_shape(name))
    rows = [(words, RNG.normal(size=(n, 2))) for words, n in zip(SEQUENCES, (3, 1, 2, 4), strict=True)]
    feeding = {"x": 0, "asked": 1}

    def handler(event) -> None:
        if isinstance(event, paddle.event.EndIteration):
            found.append(parameters.get_grad("w").item())

    trainer = paddle.trainer.SGD(costs, parameters, paddle.optimizer.Momentum(learning_rate=0.0))
    trainer.train(lambda: iter([rows]), event_handler=handler, feeding=feeding)
    at, weight = [], parameters["w"]
    for value in (weight + 5e-3, weight - 5e-3):
        parameters["w"] = value
        at.append(trainer.test(lambda: iter([rows]), feeding).cost * len(rows))
    assert abs(found[0]) > 1e-2
    assert found[0] == pytest.approx((at[0] - at[1]) / 1e-2, rel=3e-2)
