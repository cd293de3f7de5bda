"""A softmax over the label and some classes that are drawn: what it costs, and what it draws."""

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument

CLASSES, SAMPLES, ROWS = 40, 12, 6


def drawn(**told: Any) -> tuple[Any, list[str]]:
    """The cost over ``CLASSES`` classes, and names of what is drawn."""
    fluid.default_main_program().random_seed = 5
    x = fluid.data("x", [None, CLASSES], "float32")
    x.stop_gradient = False
    y = fluid.data("y", [None, 1], "int64")
    cost = fluid.layers.sampled_softmax_with_cross_entropy(x, y, **{"num_samples": SAMPLES, **told})
    op = next(op for op in fluid.default_main_program().global_block().ops if op.type == "sample_logits")
    return cost, [op.output("Samples")[0], op.output("Probabilities")[0]]


@pytest.mark.parametrize("keeps_hits", [False, True])
def test_it_costs_what_the_softmax_over_what_is_drawn_does(keeps_hits: bool) -> None:
    cost, told = drawn(remove_accidental_hits=not keeps_hits)
    (slope,) = fluid.gradients(cost, fluid.default_main_program().global_block().var("x"))
    x = np.random.default_rng(3).standard_normal((ROWS, CLASSES)).astype(np.float32)
    label = np.zeros((ROWS, 1), np.int64)  # which is drawn nearly always
    found, samples, chances, dx = fluid.Executor().run(
        feed={"x": x, "y": label}, fetch_list=[cost, *told, slope]
    )
    assert (samples[:, :1] == label).all() and (samples[:, 1:] == samples[0, 1:]).all()
    assert len(set(samples[0, 1:])) == SAMPLES and 0 in samples[0, 1:]
    scores = np.take_along_axis(x, samples, 1) - np.log(chances)
    if not keeps_hits:
        scores[:, 1:][samples[:, 1:] == label] = -np.inf
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(found, -np.log(shares[:, :1]), rtol=1e-5)
    expected = np.zeros_like(x)
    for row in range(ROWS):
        np.add.at(expected[row], samples[row], shares[row] - np.eye(1 + SAMPLES)[0])
    np.testing.assert_allclose(dx, expected, atol=1e-6)


def test_small_numbers_are_drawn_more_often_as_often_as_is_said_and_anew_each_step() -> None:
    _, told = drawn()
    feed = {"x": np.zeros((1, CLASSES), np.float32), "y": np.array([[CLASSES - 1]])}
    exe, seen, chances = fluid.Executor(), np.zeros(CLASSES), np.zeros(CLASSES)
    for _ in range(400):
        samples, said = exe.run(feed=feed, fetch_list=told)
        seen[samples[0, 1:]] += 1 / 400
        chances[samples[0]] = said[0]
    assert seen.sum() == pytest.approx(SAMPLES) and seen[0] > 0.85 > 0.4 > seen[20:].max()
    np.testing.assert_allclose(seen, chances, atol=0.15)


def test_what_is_not_built_or_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(NotInThisRelease, match="num_true=2"):
        drawn(num_true=2)
    with pytest.raises(BadArgument, match="use_customized_samples wants customized_samples"):
        drawn(use_customized_samples=True)
    with pytest.raises(BadArgument, match="from 1 to 40, the number of classes, not 41"):
        drawn(num_samples=41)
