"""Labels that costs pass over, against numbers of paddlepaddle 1.8.5.

Its softmax_with_cross_entropy gives labels that are ignored a gradient; that of cross_entropy is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

SCORES = np.array([[1, 2, 3], [0, 1, 0], [2, 0, 1]], np.float32)
COSTS = [[2.40761], [0.0], [1.40761]]
SLOPES = [[-0.30332, 0.08158, 0.22175], [0.0, 0.0, 0.0], [0.22175, 0.03001, -0.25176]]
ALL_COSTS = [[2.40761], [0.55144], [1.40761]]
OF_TWO = [[1.31326, 2.12693, 3.04859], [0.0, 0.0, 0.0], [-1.87307, 0.69315, -0.68674]]
OF_TWO_SLOPES = [[0.08123, 0.09787, 0.10584], [0.0, 0.0, 0.0], [-0.12436, -0.16667, -0.14099]]

Cost = Callable[..., Any]


def _of_scores(x: Any, label: Any, **named: Any) -> Any:
    return fluid.layers.softmax_with_cross_entropy(x, label, **named)


def _of_chances(x: Any, label: Any, **named: Any) -> Any:
    return fluid.layers.cross_entropy(fluid.layers.softmax(x), label, **named)


def _of_chances_that_are_read(x: Any, label: Any, **named: Any) -> Any:
    chances = fluid.layers.softmax(x)
    twice = fluid.layers.scale(chances, 2.0)  # so that the two stay apart
    return fluid.layers.cross_entropy(chances, label, **named) + 0.0 * fluid.layers.reduce_sum(twice)


def _behind_a_bias(x: Any, label: Any, **named: Any) -> Any:
    bias = fluid.layers.create_parameter([3], "float32", default_initializer=fluid.initializer.Constant(0.0))
    return fluid.layers.softmax_with_cross_entropy(
        fluid.layers.elementwise_add(x, bias, axis=1), label, **named
    )


def _of_another_axis(x: Any, label: Any, **named: Any) -> Any:
    turned = fluid.layers.transpose(fluid.layers.unsqueeze(x, [2]), [0, 1, 2])
    found = fluid.layers.softmax_with_cross_entropy(
        turned, fluid.layers.unsqueeze(label, [2]), axis=1, **named
    )
    return fluid.layers.squeeze(found, [2])


def _ran(cost: Cost, labels: list[int], **named: Any) -> list[np.ndarray]:
    x = fluid.layers.data("x", [3])
    x.stop_gradient = False
    label = fluid.layers.data("label", [1], dtype="int64")
    each = cost(x, label, **named)
    (slope,) = fluid.backward.gradients([fluid.layers.mean(each)], [x])
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    feed = {"x": SCORES, "label": np.array(labels, np.int64)[:, None]}
    return exe.run(feed=feed, fetch_list=[each, slope])


@pytest.mark.parametrize(
    "cost", [_of_scores, _of_chances, _of_chances_that_are_read, _behind_a_bias, _of_another_axis]
)
@pytest.mark.parametrize(("ignored", "named"), [(-100, {}), (-1, {"ignore_index": -1})])
def test_a_label_that_is_ignored_costs_nothing_and_has_no_gradient(
    cost: Cost, ignored: int, named: dict[str, int]
) -> None:
    costs, slopes = _ran(cost, [0, ignored, 2], **named)
    np.testing.assert_allclose(costs, COSTS, atol=1e-5)
    np.testing.assert_allclose(slopes, SLOPES, atol=1e-5)


def test_a_class_may_be_ignored() -> None:
    costs, slopes = _ran(_of_scores, [0, 1, 2], ignore_index=1)
    np.testing.assert_allclose(costs, COSTS, atol=1e-5)
    np.testing.assert_allclose(slopes, SLOPES, atol=1e-5)


def test_labels_that_are_classes_all_cost() -> None:
    np.testing.assert_allclose(_ran(_of_scores, [0, 1, 2])[0], ALL_COSTS, atol=1e-5)


@pytest.mark.parametrize(
    ("labels", "named", "wrong"),
    [([0, -1, 2], {}, -1), ([0, 5, 2], {}, 5), ([0, -100, 2], {"ignore_index": -1}, -100)],
)
@pytest.mark.parametrize("cost", [_of_scores, _of_chances, _behind_a_bias])
def test_other_labels_are_refused_by_the_name_of_what_holds_them(
    cost: Cost, labels: list[int], named: dict[str, int], wrong: int
) -> None:
    with pytest.raises(ValueError, match=f"'label' holds {wrong}, but .* takes 0 to 2 only"):
        _ran(cost, labels, **named)


def test_of_two_classes_elements_are_ignored() -> None:
    def cost(x: Any, label: Any) -> Any:
        wide = fluid.layers.cast(fluid.layers.expand(label, [1, 3]), "float32")
        return fluid.layers.sigmoid_cross_entropy_with_logits(x, wide)

    costs, slopes = _ran(cost, [0, -100, 2])
    np.testing.assert_allclose(costs, OF_TWO, atol=1e-5)
    np.testing.assert_allclose(slopes, OF_TWO_SLOPES, atol=1e-5)


def test_a_share_of_nearly_nothing_costs_64_however_it_is_written() -> None:
    """1.8.5 and 2.6.2 give these numbers."""
    x = fluid.layers.data("x", [2, 3], append_batch_size=False)
    y = fluid.layers.data("y", [2, 1], append_batch_size=False, dtype="int64")
    layers, eye = fluid.layers, fluid.initializer.NumpyArrayInitializer(np.eye(3, dtype="float32"))
    shares = layers.softmax(x)
    costs = [layers.cross_entropy(shares, y), layers.softmax_with_cross_entropy(x, y)]
    biased = layers.cross_entropy(layers.fc(x, 3, act="softmax", param_attr=eye), y)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.array([[0, -70, -200], [1, 2, 300]], "float32"), "y": np.array([[2], [0]])}
    logarithms = [layers.log(shares), layers.log_softmax(x)]
    found = exe.run(feed=feed, fetch_list=[*costs, biased, *logarithms])
    for cost in found[:3]:
        np.testing.assert_allclose(cost, [[64], [64]], rtol=1e-6)
    for logarithm in found[3:]:
        np.testing.assert_allclose(logarithm, [[0, -64, -64], [-64, -64, 0]], rtol=1e-6, atol=1e-6)
