"""Costs beside the one that is told, such as those of GoogLeNet's further classifiers, are learned from."""

import io

import numpy as np
import pytest

import paddle.v2 as paddle

L = paddle.layer
NAMES = ("hidden", "said", "aside")
ROWS = [([1.0, 2.0, 3.0], 0), ([0.0, -1.0, 2.0], 1)]


def costs() -> list:
    x = L.data(name="x", type=paddle.data_type.dense_vector(3))
    label = L.data(name="label", type=paddle.data_type.integer_value(2))
    hidden = L.fc(input=x, size=4, name="hidden")
    softmax = paddle.activation.Softmax()
    said, aside = (L.fc(input=hidden, size=2, act=softmax, name=name) for name in ("said", "aside"))
    further = L.cross_entropy_cost(input=aside, label=label, coeff=0.5)
    return [L.cross_entropy_cost(input=said, label=label), further]


def trained(cost, parameters, extra=None):
    """The trainer behind a step, and the cost that it told."""
    plain = paddle.optimizer.Momentum(learning_rate=0.1)
    trainer = paddle.trainer.SGD(cost, parameters, plain, extra_layers=extra)
    for name in parameters:
        parameters[name] = np.linspace(-1, 1, parameters[name].size).reshape(parameters[name].shape)
    told = [trainer.test(lambda: iter([ROWS])).cost]
    trainer.train(lambda: iter([ROWS]), event_handler=lambda e: told.append(getattr(e, "cost", told[-1])))
    assert told[-1] == pytest.approx(told[0])
    return trainer, told[0]


def test_costs_among_extra_layers_are_learned_from_and_not_counted() -> None:
    cost, other = costs()
    parameters = paddle.parameters.create(cost)
    trainer, alone = trained(cost, parameters, [other])
    together = paddle.parameters.create(costs())
    _, both = trained(costs(), together)
    assert alone < both
    saved = io.BytesIO()
    trainer.save_parameter_to_tar(saved)
    saved.seek(0)
    kept = paddle.parameters.Parameters.from_tar(saved)
    assert set(kept.names()) == set(together.names()) == {f"_{n}.{w}" for n in NAMES for w in ("w0", "wbias")}
    for name in kept:
        np.testing.assert_allclose(kept[name], together[name], rtol=1e-5, atol=1e-7)


def test_what_is_only_looked_at_has_parameters_of_the_programs_own() -> None:
    """Whoever looks by parameters that nobody made and nobody trains has forgotten to name them."""
    cost, other = costs()
    guess = L.fc(input=other.parents[0], size=2, name="guess")
    parameters = paddle.parameters.create([cost, other])
    with pytest.raises(ValueError, match=r"has a parameter '_guess.w0', and these Parameters have"):
        paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(), extra_layers=[other, guess])


@pytest.mark.parametrize("added", [lambda a, b: a + b, lambda a, b: L.addto(input=[a, b])])
def test_costs_that_are_added_by_a_layer_keep_their_coefficients(added) -> None:
    apart, together = (paddle.parameters.create(costs()) for _ in range(2))
    _, told = trained(costs(), apart)
    assert trained(added(*costs()), together)[1] == pytest.approx(told)
    for name in apart:
        np.testing.assert_allclose(together[name], apart[name], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "looked_at", [lambda own, other: L.sum_cost(other), lambda own, other: L.sum_cost(own + other)]
)
def test_costs_that_further_costs_are_made_of_are_learned_from_once(looked_at) -> None:
    apart, together = (paddle.parameters.create(costs()) for _ in range(2))
    own, other = costs()
    trained(own, apart, other)
    trained(own, together, looked_at(own, other))
    for name in apart:
        np.testing.assert_allclose(together[name], apart[name], rtol=1e-5, atol=1e-7)
