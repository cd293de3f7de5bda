"""Axes, sizes, places and numbers that a program computes, and what functions of 2.6 take besides.

Costs were computed once by the wheel of 2.6.2.
"""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.nn import functional as F  # noqa: N812  as programs call it
from tests.faces.static.feeding import data, ran
from tests.faces.static.slopes import hold

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(2, 4, 3))


def said(*numbers: int) -> object:
    return paddle.to_tensor(np.array(numbers, np.int32))


def test_an_axis_sizes_and_a_filling_may_be_computed() -> None:
    x, y = data((A, B), feed := {})
    found = ran(
        [
            paddle.concat([x, y], axis=said(1)),
            paddle.split(x, 3, axis=said(1))[2],
            paddle.split(x, [said(1), 2], axis=1)[1],
            paddle.crop(x, said(2, 2), said(1, 0)),
            paddle.crop(x, [2, -1], [said(1), 1]),
            paddle.full([2, 3], paddle.to_tensor(1.5), "float32"),
            paddle.unflatten(paddle.to_tensor(A.astype("float32")), 0, said(2, 2)),
        ],
        feed,
    )
    wanted = [
        np.concatenate([A, B], 1),
        A[:, 2:],
        A[:, 1:],
        A[1:3, :2],
        A[1:3, 1:],
        np.full((2, 3), 1.5),
        A.reshape(2, 2, 3),
    ]
    for value, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_a_scale_that_is_computed_counts_and_learns_nothing() -> None:
    factor = np.array([2.5], np.float32)
    hold(
        {
            "scale": (lambda x, f: paddle.scale(x, f, 0.5), lambda x, f: x * f + 0.5, (A, factor)),
            "before": (
                lambda x, f: paddle.scale(x, f, 0.5, bias_after_scale=False),
                lambda x, f: (x + 0.5) * f,
                (A, factor),
            ),
        }
    )
    learned = paddle.static.create_parameter([1], "float32")
    (slope,) = paddle.static.gradients(paddle.scale(paddle.static.data("x", [1]), learned), learned)
    assert slope is None


def test_integers_and_truths_are_put_on_diagonals_summed_and_halved() -> None:
    line, truths = np.array([3, 1, 2]), np.array([[True, True], [False, True]])
    x, y = data((line, truths), feed := {})
    given = paddle.to_tensor(np.arange(12, dtype=np.int64).reshape(3, 4))
    found = ran(
        [
            paddle.diag(paddle.to_tensor(line)),
            paddle.diag(paddle.to_tensor(line), 1, 6),
            paddle.diagflat(paddle.to_tensor(line)),
            paddle.sum(y),
            paddle.sum(y, 1),
            paddle.median(given, 1),
            paddle.nanmedian(given, (0, 1)),
            paddle.quantile(given, 0.25, [0, 1], keepdim=True),
            x,
        ],
        feed,
    )
    numbers = np.arange(12).reshape(3, 4)
    assert found[0].tolist() == np.diag(line).tolist() and found[0].dtype == np.int64
    padded = np.diag(line, 1) + 6 * (1 - np.eye(4, k=1))
    assert found[1].tolist() == padded.tolist() and found[2].tolist() == np.diag(line).tolist()
    assert (int(found[3].item()), found[4].tolist(), found[3].dtype) == (3, [2, 1], np.int64)
    np.testing.assert_allclose(found[5], np.median(numbers, 1))
    assert found[6].item() == np.median(numbers)
    assert found[7].shape == (1, 1) and found[7].item() == np.quantile(numbers, 0.25)


def test_products_along_axes_of_which_one_list_is_shorter() -> None:
    x, y = RNG.normal(size=(2, 3, 4, 2)), RNG.normal(size=(3, 2, 4, 2))
    hold(
        {
            "tensordot": (
                lambda x, y: paddle.tensordot(x, y, [[0, 1, 3], [1, 0]]),
                lambda x, y: np.tensordot(x, y, [[0, 1, 3], [1, 0, 3]]),
                (x, y),
            )
        }
    )


def test_how_many_elements_differ() -> None:
    a, b = data((np.array([1.0, 2, 3]), np.array([1.0, 0, 3])), feed := {})
    assert ran([paddle.dist(a, b, 0)], feed)[0].item() == 1


def test_smoothed_labels_and_weights_of_shares_cost_what_they_cost_in_the_original() -> None:
    draw = np.random.RandomState(0)
    x, weight = draw.randn(3, 4), draw.rand(4) + 0.5
    soft = draw.dirichlet(np.ones(4), 3)
    scores, kinds, shares, label = data((x, weight, soft, np.array([1, 3, 0])), feed := {})
    told = {"soft_label": True, "weight": kinds}
    smooth = nn.CrossEntropyLoss(label_smoothing=0.1)
    found = ran(
        [
            smooth(scores, label),
            smooth(scores, paddle.unsqueeze(label, 1)),
            F.cross_entropy(scores, label, kinds, label_smoothing=0.1),
            F.cross_entropy(scores, label, label_smoothing=0.2, reduction="none"),
            F.cross_entropy(scores, shares, **told),
            F.cross_entropy(scores, shares, label_smoothing=0.1, **told),
        ],
        feed,
    )
    each = [2.3754868507, 2.3682241439, 2.0472884178]
    wanted = [2.333634615, 2.333634615, 2.334982395, each, 1.415799856, 1.444214702]
    for value, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value.reshape(-1), np.atleast_1d(expected), rtol=1e-5)


def test_what_is_not_likely_at_all_costs_nothing() -> None:
    target = np.array([[-3.0, 0.5], [0.0, 0.25]])
    x, y = data((A[:2, :2], target), feed := {})
    (found,) = ran([F.kl_div(x, y, "none")], feed)
    with np.errstate(all="ignore"):
        wanted = np.where(target > 0, target * (np.log(target) - A[:2, :2]), 0)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_layer_appends_operators_by_its_helper() -> None:
    class Product(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weight = self.create_parameter([3, 2])

        def forward(self, x: object) -> object:
            made = self._helper.create_variable_for_type_inference("float32")
            self._helper.append_op(type="mul", inputs={"X": x, "Y": self.weight}, outputs={"Out": made})
            return made

    (x,) = data((A,), feed := {})
    layer = Product()
    product, weight = ran([layer(x), layer.weight], feed)
    np.testing.assert_allclose(product, A @ weight, rtol=1e-5)
    assert layer.weight.is_parameter and not x.is_parameter


def test_a_generator_of_names_is_left_and_taken_again() -> None:
    before, _ = paddle.utils.unique_name.switch()
    assert paddle.utils.unique_name.generate("fresh") == "fresh_0"
    paddle.utils.unique_name.switch(before)
    program = paddle.static.Program()
    program.global_seed(102)
    assert program.random_seed == 102


def test_layers_that_are_functions_take_inputs_by_name_from_where_the_original_has_them() -> None:
    from paddle.nn.layer.transformer import Transformer

    x, y = data((A, B), feed := {})
    images = paddle.to_tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))
    larger = nn.Upsample(scale_factor=2, mode="nearest")(x=images)
    cost = nn.loss.CosineEmbeddingLoss()(input1=x, input2=y, label=paddle.to_tensor([1, 1, 1, 1]))
    found = ran([nn.ReLU()(x=x), larger, cost], feed)
    np.testing.assert_allclose(found[0], np.maximum(A, 0), rtol=1e-6)
    assert found[1].shape == (1, 1, 4, 4) and found[2].size == 1
    assert Transformer is nn.Transformer


def test_whether_gradients_are_computed_at_once_changes_nothing() -> None:
    (x,) = data((A,), feed := {})
    with paddle.no_grad(), paddle.enable_grad(), paddle.set_grad_enabled(False):
        cost = paddle.sum(paddle.square(x))
    (slope,) = ran(paddle.static.gradients([cost], [x]), feed)
    np.testing.assert_allclose(slope, 2 * A, rtol=1e-5)
    assert not paddle.is_grad_enabled()


def test_whole_degrees_are_angles_and_nan_may_be_near_nan() -> None:
    holes = paddle.to_tensor(np.array([1.0, np.nan], np.float32))
    angle, back = paddle.deg2rad(paddle.to_tensor([180])), paddle.rad2deg(paddle.to_tensor([1]))
    near = [paddle.allclose(holes, holes, equal_nan=each) for each in (False, True)]
    found = ran([angle, back, *near], {})
    assert [round(float(each.item()), 4) for each in found[:2]] == [3.1416, 57.2958]
    assert [bool(each.item()) for each in found[2:]] == [False, True]
