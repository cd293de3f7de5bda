"""Recurrent groups of which some inputs are sequences of sequences, some sequences and some neither."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import paddle.v2 as paddle

L, types = paddle.layer, paddle.data_type
TEXTS = [([[1, 2], [4, 5, 2]], [1, 2], 0), ([[0, 2], [2, 5], [0, 1, 2]], [2, 3, 0], 1), ([[3]], [4], 1)]


def slots():
    return (
        L.data(name="text", type=types.integer_value_sub_sequence(6)),
        L.data(name="words", type=types.integer_value_sequence(6)),
        L.data(name="label", type=types.integer_value(2)),
    )


def vectors(layer, name: str):
    return L.embedding(input=layer, size=2, param_attr=paddle.attr.Param(name=name))


def goes_on(inputs, kept):
    """A state that inputs reach, moment by moment."""

    def step(*seen):
        former = L.memory(name="state", size=2, boot_layer=kept)
        return L.fc(input=[*seen, former], size=2, name="state", param_attr=named(len(seen) + 1))

    return L.recurrent_group(step=step, input=inputs, name="inner")


def named(count: int):
    return [paddle.attr.Param(name=f"w{number}") for number in range(count)]


def as_they_are(text, words, label):
    """Inner sequences, their words, and what is no sequence, as the groups are given them."""

    def step(sentence, word, kept):
        former = L.memory(name="last", size=2)
        seen = goes_on([vectors(kept, "b"), sentence, L.StaticInput(vectors(word, "a"))], former)
        return L.last_seq(input=seen, name="last")

    return L.recurrent_group(step=step, input=[vectors(text, "t"), words, label], name="outer")


def expanded(text, words, label):
    """The same, where whatever is smaller is expanded to inner sequences before."""
    inner, level = vectors(text, "t"), L.ExpandLevel
    word = L.expand(input=vectors(words, "a"), expand_as=inner, expand_level=level.FROM_SEQUENCE)
    kept = L.expand(input=vectors(label, "b"), expand_as=inner, expand_level=level.FROM_NO_SEQUENCE)

    def step(sentence, word, kept):
        former = L.memory(name="last", size=2)
        return L.last_seq(input=goes_on([kept, sentence, word], former), name="last")

    return L.recurrent_group(step=step, input=[inner, word, kept], name="outer")


def trained(network: Callable) -> tuple[list[float], dict[str, np.ndarray]]:
    """Costs of some steps, and what is learned in them."""
    text, words, label = slots()
    said = L.fc(
        input=L.last_seq(network(text, words, label)), size=2, act=paddle.activation.Softmax(), name="o"
    )
    cost = L.classification_cost(input=said, label=label)
    parameters = paddle.parameters.create(cost)
    for name in parameters:
        local = np.random.default_rng(list(name.split("@")[0].encode()))
        parameters[name] = local.normal(0, 0.5, parameters[name].shape)
    costs: list[float] = []
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.1))
    trainer.train(lambda: iter([TEXTS] * 3), event_handler=lambda e: costs.append(getattr(e, "cost", 0.0)))
    return costs, {name: parameters[name] for name in parameters}


def test_what_is_no_sequence_is_seen_at_all_moments() -> None:
    """The original compares two networks like these (sequence_rnn_mixed_inputs.py)."""
    costs, learned = trained(as_they_are)
    others, expected = trained(expanded)
    np.testing.assert_allclose(costs, others, rtol=1e-5)
    assert learned.keys() == expected.keys() >= {"t", "a", "b", "w0", "w1", "w2", "w3"}
    for name, value in learned.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-5, atol=1e-7)


def test_a_group_walks_along_the_first_that_is_a_sequence() -> None:
    row = L.data(name="row", type=types.dense_vector(2))
    rows = L.data(name="rows", type=types.dense_vector_sequence(2))
    begin = paddle.attr.Param(name="begin")

    def step(kept, moment):
        former = L.memory(name="s", size=2, boot_bias=begin)
        return L.fc(input=[kept, moment, former], size=2, name="s", param_attr=named(3), bias_attr=False)

    given = {"plain": row, "static": L.StaticInput(row)}
    groups = {
        name: L.recurrent_group(step=step, input=[each, rows], name=name) for name, each in given.items()
    }
    parameters = paddle.parameters.create(groups["plain"])
    parameters["begin"] = [[0.5, -0.25]]
    fed = [([1.0, 2.0], [[0.1, 0.2], [0.3, 0.4]]), ([-1.0, 0.5], [[0.5, 0.6]])]
    plain, static = (paddle.infer(each, parameters, fed) for each in groups.values())
    assert plain.shape == (3, 2)
    np.testing.assert_array_equal(plain, static)
    alone = L.recurrent_group(step=lambda kept: L.fc(input=kept, size=2), input=row, name="alone")
    with pytest.raises(ValueError, match=r"layer 'alone' works on sequences, and 'row' gives none"):
        paddle.infer(output_layer=alone, parameters=paddle.parameters.create(alone), input=[([1.0, 2.0],)])
