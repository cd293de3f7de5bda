"""Gradients of gradients, against central differences of programs that hold the first ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadProgram
from tests.faces.fluid.numeric import assert_gradients

layers = fluid.layers
X = np.random.default_rng(8).uniform(0.3, 1.5, size=(3, 4)).astype(np.float32)
IMAGES = np.random.default_rng(9).normal(size=(2, 2, 5, 5)).astype(np.float32)


def data(shape: Any = (4,), name: str = "x") -> Any:
    return layers.data(name, list(shape), stop_gradient=False)


def fc(x: Any, size: int, name: str, act: str | None = None) -> Any:
    return layers.fc(x, size, act=act, param_attr=name, bias_attr=False)


def penalty(of: Any, by: Any) -> Any:
    """As WGAN-GP has it."""
    (slope,) = fluid.gradients(of, by)
    squares = layers.reduce_sum(layers.square(slope), dim=list(range(1, len(by.shape))))
    return layers.mean(layers.square(layers.sqrt(squares + 1e-6) - 1.0))


def test_papers_example_of_calc_gradient() -> None:
    x = layers.data("x", [1], append_batch_size=False, stop_gradient=False)
    (slope,) = fluid.gradients(x * x, x)
    (found,) = fluid.gradients(layers.square(x - slope), x)
    (third,) = fluid.gradients(found * found * found, x)
    values = fluid.Executor().run(feed={"x": np.array([3.0], np.float32)}, fetch_list=[slope, found, third])
    assert [float(np.asarray(each)[0]) for each in values] == [6.0, 6.0, 216.0]  # 2x, 2x, (8x^3)'


ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(layers, name)
        for name in (
            *("tanh", "sigmoid", "exp", "log", "sqrt", "rsqrt", "square", "reciprocal", "abs", "sin", "cos"),
            *("softplus", "logsigmoid", "gelu", "swish", "elu", "leaky_relu", "relu", "softmax"),
        )
    },
    "pow": lambda x: layers.pow(x, 2.5),
    "clip": lambda x: layers.square(layers.clip(x, 0.4, 1.2)),
    "scale": lambda x: layers.square(layers.scale(x, 2.0, 1.0)),
    "div": lambda x: 1.0 / (x + x * x),
    "of two": lambda x: layers.elementwise_max(x * x, layers.elementwise_min(x * x * x, x * 0.5 + 1.0)),
    "mean": lambda x: x * layers.square(layers.reduce_mean(x, 1, keep_dim=True)),
    "sum": lambda x: layers.square(layers.reduce_sum(x, 0)),
    "transpose": lambda x: layers.matmul(layers.transpose(x, [1, 0]), x),
    "matmul": lambda x: layers.matmul(x, x, transpose_y=True, alpha=0.5),
    "across": lambda x: layers.matmul(x, layers.square(x), transpose_x=True),
    "concat": lambda x: layers.square(layers.concat([x, x * x], 1)),
    "reshape": lambda x: layers.square(layers.reshape(x * x, [-1, 2])),
    "slice": lambda x: layers.square(layers.slice(x * x, [1], [1], [3])),
    "pad": lambda x: layers.square(layers.pad(x * x, [0, 0, 1, 2], 0.5)),
    "cond": lambda x: layers.cond(
        layers.reduce_sum(x) > 0.0, lambda: layers.square(x) * x, lambda: layers.tanh(x)
    ),
    "layer_norm": lambda x: layers.layer_norm(x, scale=False, shift=False),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_of_operators(name: str) -> None:
    """The loss holds the squares of gradients that hang on a weight."""

    def build() -> Any:
        x = data()
        h = x * layers.create_parameter(
            [4], "float32", attr=fluid.ParamAttr(name="w", initializer=fluid.initializer.Uniform(0.6, 1.4, 5))
        )
        weights = layers.assign(np.array([[0.5, -1.0, 2.0, 1.5]], np.float32))
        y = ELEMENTWISE[name](h)
        if y.shape[-1] == 4:
            y = layers.elementwise_mul(y, layers.reduce_sum(weights, 0))
        (slope,) = fluid.gradients(layers.reduce_sum(y), x)
        return layers.reduce_sum(layers.square(slope)) + layers.reduce_sum(h)

    assert_gradients(build, {"x": X}, ["w"], step=2e-3)


def test_a_critic_of_layers_learns_its_penalty() -> None:
    def build() -> Any:
        x = data()
        h = layers.leaky_relu(fc(x, 6, "w"), 0.2)
        score = fc(layers.tanh(fc(h, 5, "u")), 1, "v")
        return layers.mean(score) + 10.0 * penalty(score, x)

    assert_gradients(build, {"x": X}, ["w", "u", "v"], step=3e-3)


def test_a_critic_of_convolutions_learns_its_penalty() -> None:
    def build() -> Any:
        x = data((2, 5, 5))
        h = layers.conv2d(x, 3, 3, stride=2, padding=1, param_attr="f", bias_attr="b", act="tanh")
        score = fc(layers.leaky_relu(h, 0.2), 1, "v")
        return layers.mean(score) + penalty(score, x)

    assert_gradients(build, {"x": IMAGES}, ["f", "b", "v"], step=3e-3)


PADDED: dict[str, Callable[[Any], Any]] = {
    "sides": lambda x: layers.conv2d(x, 3, 3, padding=[1, 2, 0, 1], param_attr="f", bias_attr=False),
    "sides and steps": lambda x: layers.conv2d(
        x, 3, [3, 2], stride=[2, 3], padding=[2, 0, 1, 3], param_attr="f", bias_attr=False
    ),
    "same": lambda x: layers.conv2d(x, 3, 3, padding="SAME", param_attr="f", bias_attr=False),
    "same and steps": lambda x: layers.conv2d(
        x, 3, [4, 2], stride=[2, 3], padding="SAME", param_attr="f", bias_attr=False
    ),
    "valid": lambda x: layers.conv2d(x, 3, 2, stride=2, padding="VALID", param_attr="f", bias_attr=False),
    "apart": lambda x: layers.conv2d(
        x, 2, 2, padding=[1, 0, 2, 1], dilation=2, groups=2, param_attr="f", bias_attr=False
    ),
    "transposed": lambda x: layers.conv2d_transpose(
        x, 3, None, 3, padding=[1, 0, 0, 1], stride=2, param_attr="f", bias_attr=False
    ),
    "transposed, same": lambda x: layers.conv2d_transpose(
        x, 3, None, 3, padding="SAME", stride=2, param_attr="f", bias_attr=False
    ),
    "last": lambda x: layers.conv2d(
        layers.transpose(x, [0, 2, 3, 1]),
        3,
        3,
        2,
        "SAME",
        param_attr="f",
        bias_attr=False,
        data_format="NHWC",
    ),
}


@pytest.mark.parametrize("name", PADDED)
def test_penalties_go_through_convolutions_however_they_are_padded(name: str) -> None:
    def build() -> Any:
        x = data((2, 5, 5))
        score = layers.reduce_sum(layers.tanh(PADDED[name](x)), dim=[1, 2, 3], keep_dim=True)
        return layers.mean(score) + penalty(score, x)

    assert_gradients(build, {"x": IMAGES}, ["f"], step=3e-3)


def test_penalties_do_not_go_through_what_is_mirrored() -> None:
    x = fluid.data("x", [-1, 2, 5, 5])
    x.stop_gradient = False
    padded = layers.pad2d(layers.square(x), [1, 1, 1, 1], "reflect")
    slope = fluid.gradients(layers.reduce_sum(layers.square(padded)), x)[0]
    with pytest.raises(BadProgram, match="'pad' in mode 'reflect'"):
        fluid.Executor().run(
            feed={"x": IMAGES}, fetch_list=fluid.gradients(layers.reduce_sum(layers.square(slope)), x)
        )


def _slope_of_a_penalty(shape: list[int]) -> np.ndarray:
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 5
    with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        x = fluid.data("x", shape)
        x.stop_gradient = False
        score = layers.reduce_sum(layers.tanh(layers.conv2d(x, 3, 3, padding="SAME")))
        fluid.backward.append_backward(layers.mean(layers.square(fluid.gradients(score, x)[0])))
        exe = fluid.Executor()
        exe.run(startup)
        (found,) = exe.run(main, feed={"x": IMAGES}, fetch_list=["conv2d_0.w_0@GRAD"])
    return np.asarray(found)


def test_penalties_of_images_of_open_sizes_are_those_of_declared_ones() -> None:
    declared = _slope_of_a_penalty([-1, 2, 5, 5])
    assert np.abs(declared).max() > 0
    np.testing.assert_allclose(_slope_of_a_penalty([-1, 2, -1, -1]), declared, rtol=1e-5, atol=1e-7)


def test_a_penalty_between_samples_trains_as_torch_and_papers_have_it() -> None:
    """Of a linear critic the penalty is (|v| - 1)^2, by hand."""
    real, fake, alpha = data(name="real"), data(name="fake"), data((1,), "alpha")
    between = real * alpha + fake * (1.0 - alpha)
    score = fc(between, 1, "v")
    loss = penalty(score, between)
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    tensor = fluid.global_scope().find_var("v").get_tensor()
    before = np.array(tensor)
    feed = {"real": X, "fake": -X, "alpha": np.array([[0.1], [0.5], [0.9]], np.float32)}
    (found,) = exe.run(feed=feed, fetch_list=[loss])
    norm = np.sqrt((before**2).sum() + 1e-6)
    np.testing.assert_allclose(np.asarray(found).reshape(()), (norm - 1) ** 2, rtol=1e-4)
    wanted = before - 0.1 * 2 * (norm - 1) * before / norm
    np.testing.assert_allclose(np.array(tensor), wanted, rtol=1e-4, atol=1e-6)


def test_an_operator_without_second_gradients_is_refused_by_name_and_line() -> None:
    x = data((2, 4, 4))
    score = fc(layers.pool2d(layers.conv2d(x, 2, 3, param_attr="f"), 2, pool_stride=2), 1, "v")
    fluid.optimizer.SGD(0.1).minimize(penalty(score, x))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.raises(BadProgram, match=r"'max_pool2d' .*asked for at .*test_gradients_of_gradients.py:\d+"):
        exe.run(feed={"x": IMAGES[:, :, :4, :4]})


def test_second_gradients_through_a_loop_are_refused_by_line() -> None:
    x = data()
    h = layers.scale(fc(x, 4, "w"), 1.0)
    i, n = layers.zeros([1], "int64"), layers.fill_constant([1], "int64", 2)
    going = layers.less_than(i, n)
    loop = layers.While(going)
    with loop.block():
        layers.assign(layers.tanh(h), h)
        layers.increment(i, 1, in_place=True)
        layers.less_than(i, n, cond=going)
    loss = penalty(h, x) + layers.mean(h)
    with pytest.raises(BadProgram, match=r"'while_grad' \(written at .*test_gradients_of_gradients.py:\d+"):
        fluid.optimizer.SGD(0.1).minimize(loss)
