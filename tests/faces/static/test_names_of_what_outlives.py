"""Names of what outlives a step are those that 2.6.2 gives: saved models are read by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle import nn
from tests.faces.static.feeding import data, ran

pytestmark = pytest.mark.usefixtures("alone")

static = paddle.static
RNG = np.random.default_rng(5)


def _kept() -> list[str]:
    return sorted(each.name for each in static.default_main_program().list_vars() if each.persistable)


def _image() -> Any:
    return static.data("image", [-1, 4, 3, 3])


def _measures() -> Any:
    return static.ctr_metric_bundle(
        nn.functional.sigmoid(static.data("chance", [-1, 1])), static.data("click", [-1, 1], "int64")
    )


def _of_channels_apart() -> None:
    """Names of what they give are counted apart from others'."""
    for given in (nn.Conv2D(4, 4, 1, groups=4), nn.Conv2D(4, 4, 1), nn.Conv2DTranspose(4, 4, 1, groups=4)):
        given(_image())
    nn.Conv2D(4, 4, 1, bias_attr=False)
    nn.Conv2DTranspose(4, 4, 1, bias_attr=False)


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        (
            _of_channels_apart,
            [
                *("conv2d_0.b_0", "conv2d_0.w_0", "conv2d_1.b_0", "conv2d_1.w_0", "conv2d_3.w_0"),
                *("conv2d_transpose_0.b_0", "conv2d_transpose_0.w_0", "conv2d_transpose_1.w_0"),
            ],
        ),
        (
            lambda: static.nn.sparse_embedding(static.data("ids", [-1, 1], "int64"), [9, 3]),
            ["sparse_embedding_0.w_0"],
        ),
        (lambda: paddle.create_parameter([2], "float32"), ["create_parameter_0.w_0"]),
        (lambda: paddle.create_parameter([2], "float32", "own", paddle.ParamAttr()), ["own.w_0"]),
        (lambda: static.create_global_var([1], 1.0, "float32", persistable=True), ["_generated_var_0"]),
        (_measures, [f"_generated_var_{number}" for number in range(6)]),
        (lambda: static.nn.instance_norm(_image()), []),
        (
            lambda: static.nn.instance_norm(_image(), 1e-5, paddle.ParamAttr(), paddle.ParamAttr()),
            ["instance_norm_0.b_0", "instance_norm_0.w_0"],
        ),
        (
            lambda: nn.BatchNorm2D(4, weight_attr=False, bias_attr=False),
            ["batch_norm2d_0.w_0", "batch_norm2d_0.w_1"],
        ),
        (
            lambda: nn.BatchNorm(4, moving_mean_name="mean", moving_variance_name="variance"),
            ["batch_norm_0.b_0", "batch_norm_0.w_0", "mean", "variance"],
        ),
        (
            lambda: static.nn.prelu(_image(), "channel", data_format="NHWC"),
            ["prelu_0.w_0"],
        ),
    ],
)
def test_of_a_layer(layer: Callable[[], Any], names: list[str]) -> None:
    with paddle.utils.unique_name.guard():
        layer()
    assert _kept() == names


@pytest.mark.parametrize(("name", "prefix"), [(None, ""), ("mine", "mine")])
def test_of_a_moving_average(name: str | None, prefix: str) -> None:
    with paddle.utils.unique_name.guard():
        loss = paddle.mean(static.nn.fc(static.data("x", [-1, 2]), 1, bias_attr=False))
        paddle.optimizer.SGD(0.1).minimize(loss)
        static.ExponentialMovingAverage(0.9, name=name).update()
    told = ["@EMA_STEP_COUNTER@", "scheduled_ema_decay_rate"]
    assert _kept() == sorted([*told, "fc_0.w_0", f"{prefix}fc_0.w_0_ema_0", "learning_rate_0"])


def test_a_moving_average_that_begins_fast_is_divided_as_1_8_5_divides_it() -> None:
    weight = paddle.ParamAttr("w", nn.initializer.Constant(1.0))
    loss = paddle.mean(static.nn.fc(static.data("x", [-1, 1]), 1, weight_attr=weight, bias_attr=False))
    steps = static.create_global_var([1], 0, "float32", persistable=True)
    paddle.increment(steps)
    paddle.optimizer.SGD(0.1).minimize(loss)
    averages = static.ExponentialMovingAverage(0.3, steps)
    averages.update()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for _ in range(3):
        exe.run(feed={"x": np.ones((2, 1), "float32")})

    def value(name: str) -> float:
        return float(np.asarray(static.global_scope().find_var(name).get_tensor()).reshape(-1)[0])

    assert value("w_ema_0") == pytest.approx(0.7252272)  # of the wheel, as are those below
    assert (value("@EMA_STEP_COUNTER@"), value("scheduled_ema_decay_rate")) == (3, pytest.approx(0.3))
    with averages.apply(exe):
        assert value("w") == pytest.approx(0.74535173)


def test_a_batch_norm_without_a_scale_or_a_bias_is_one_of_1_and_0() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((RNG.normal(size=(4, 2, 3, 3)),), feed)
    layers = [
        nn.BatchNorm2D(2),
        nn.BatchNorm2D(2, weight_attr=False),
        nn.BatchNorm2D(2, bias_attr=False),
        nn.BatchNorm2D(2, weight_attr=False, bias_attr=False),
    ]
    whole, *others = ran([layer(x) for layer in layers], feed)
    for other in others:
        assert other == pytest.approx(whole, abs=1e-6)
    assert list(layers[-1].state_dict()) == ["_mean", "_variance"]
    assert (layers[1].weight, layers[2].bias) == (None, None)
