"""What is compared with, weighs, or only has a size that is asked learns nothing by it, as in 1.8.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

layers = fluid.layers
X = np.array([[1.0, -2.0, 0.5], [0.5, 3.0, -1.0]], np.float32)

COSTS: dict[str, Callable[[Any, Any], Any]] = {
    "softmax_with_cross_entropy": lambda x, t: layers.softmax_with_cross_entropy(
        x, layers.softmax(t), soft_label=True
    ),
    "cross_entropy": lambda x, t: layers.cross_entropy(layers.softmax(x), layers.softmax(t), soft_label=True),
    "sigmoid_cross_entropy_with_logits": lambda x, t: layers.sigmoid_cross_entropy_with_logits(
        x, layers.sigmoid(t)
    ),
    "log_loss": lambda x, t: layers.log_loss(_first(layers.sigmoid(x)), _first(layers.sigmoid(t))),
    "kldiv_loss": lambda x, t: layers.kldiv_loss(layers.log(layers.softmax(x)), layers.softmax(t)),
    "smooth_l1": lambda x, t: layers.smooth_l1(x, layers.zeros_like(x), inside_weight=t, outside_weight=t),
    "scale": lambda x, t: layers.scale(x, scale=layers.mean(t)),
    "zeros_like": lambda x, t: x + layers.zeros_like(t),
}


def _first(x: Any) -> Any:
    return layers.slice(x, axes=[1], starts=[0], ends=[1])


def _pupil_and_teacher() -> tuple[Any, Any]:
    x = layers.data("x", [3])
    return (layers.fc(x, 3, param_attr=f"{name}.w", bias_attr=f"{name}.b") for name in ("pupil", "teacher"))  # type: ignore[return-value]


def _learned(loss: Any, feed: Any = None) -> tuple[list[str], dict[str, Any]]:
    """The parameters that an optimizer moves, and how far a step of decay and gradients moves them all."""
    _, pairs = fluid.optimizer.SGD(0.5, regularization=fluid.regularizer.L2Decay(0.1)).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    names = [each.name for each in fluid.default_main_program().all_parameters()]
    tensors = {name: fluid.global_scope().find_var(name).get_tensor() for name in names}
    before = {name: np.array(each) for name, each in tensors.items()}
    exe.run(feed=feed or {"x": X})
    return sorted(each.name for each, _ in pairs), {
        n: np.array(each) - before[n] for n, each in tensors.items()
    }


@pytest.mark.parametrize("cost", COSTS)
def test_who_only_says_what_is_right_does_not_learn(cost: str) -> None:
    moved, by = _learned(layers.mean(COSTS[cost](*_pupil_and_teacher())))
    assert moved == ["pupil.b", "pupil.w"]
    assert np.abs(by["pupil.w"]).max() > 0
    assert not by["teacher.w"].any() and not by["teacher.b"].any()


@pytest.mark.parametrize("cost", COSTS)
def test_who_has_a_cost_of_its_own_learns_by_that_alone(cost: str) -> None:
    pupil, teacher = _pupil_and_teacher()
    (alone,) = fluid.gradients(layers.mean(layers.square(teacher)), teacher)
    both = layers.mean(COSTS[cost](pupil, teacher)) + layers.mean(layers.square(teacher))
    (beside,) = fluid.gradients(both, teacher)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found = exe.run(feed={"x": X}, fetch_list=[alone, beside])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("expand", [layers.sequence_expand, layers.sequence_expand_as, layers.lod_reset])
def test_a_table_that_is_only_expanded_by_stays_and_is_no_hindrance(expand: Any, is_sparse: bool) -> None:
    x = layers.data("x", [3])
    ids = layers.data("ids", [1], dtype="int64", lod_level=1)
    table = layers.embedding(ids, [9, 4], is_sparse=is_sparse, param_attr="table")
    rows = layers.fc(x, 2, param_attr="w", bias_attr=False)
    loss = layers.mean(layers.square(expand(rows, table)))
    of_two = fluid.create_lod_tensor(np.array([[1], [8]]), [[1, 1]], fluid.CPUPlace())
    moved, by = _learned(loss, {"x": X, "ids": of_two})
    assert moved == ["w"]
    assert by["w"].any() and not by["table"].any()


def test_a_factor_that_is_a_variable_counts_before_or_behind_the_bias() -> None:
    x, factor = layers.data("x", [3]), layers.fill_constant([1], "float32", 2.0)
    several = [layers.scale(x, factor, bias=1.0, bias_after_scale=after) for after in (True, False)]
    found = fluid.Executor().run(feed={"x": X}, fetch_list=several)
    np.testing.assert_allclose(found, [X * 2 + 1, (X + 1) * 2])
