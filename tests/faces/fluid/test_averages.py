"""Averages of what no optimizer moves: the means and variances that a batch norm keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle.fluid as fluid
from paddle.fluid import layers
from paddle.fluid.optimizer import SGD, ExponentialMovingAverage, ModelAverage

X = np.array([[1.0, -2.0, 0.5], [0.3, 0.1, -1.0]], np.float32)
MEAN, SCALE = "batch_norm_0.w_1", "batch_norm_0.w_0"


def _value(name: str) -> np.ndarray:
    return np.array(fluid.global_scope().find_var(name).get_tensor())


def _run(exe: Any, step: int) -> None:
    exe.run(fluid.default_main_program(), feed={"x": X + step * np.array([1.0, 0.5, -1.0], np.float32)})


def _normalized_loss() -> Any:
    x = layers.data("x", [3])
    return layers.mean(layers.square(layers.batch_norm(layers.fc(x, 2, bias_attr=False)) - 1.0))


def test_moving_means_are_averaged_as_parameters_are() -> None:
    """Which the original's are, too."""
    SGD(0.1).minimize(_normalized_loss())
    averages = ModelAverage(1.0, min_average_window=100, max_average_window=100)
    ema = ExponentialMovingAverage(0.5)
    ema.update()
    exe, seen, name = fluid.Executor(), [], MEAN
    exe.run(fluid.default_startup_program())
    for step in range(3):
        _run(exe, step)
        seen.append(_value(name))
    assert np.abs(seen[2] - seen[0]).max() > 1e-3
    with averages.apply(exe):
        np.testing.assert_allclose(_value(name), np.mean(seen, axis=0), rtol=1e-5)
    with ema.apply(exe):
        expected = (0.125 * seen[0] + 0.25 * seen[1] + 0.5 * seen[2]) / 0.875
        np.testing.assert_allclose(_value(name), expected, rtol=1e-5)
    np.testing.assert_array_equal(_value(name), seen[-1])


def test_a_window_of_moving_means_ends_as_that_of_parameters_does() -> None:
    SGD(0.1).minimize(_normalized_loss())
    averages = ModelAverage(1.0, min_average_window=2, max_average_window=2)
    exe, seen = fluid.Executor(), []
    exe.run(fluid.default_startup_program())
    for step in range(5):
        _run(exe, step)
        seen.append((_value(MEAN), _value(SCALE)))
    means = [np.mean(each[2:], axis=0) for each in zip(*seen, strict=True)]  # of one window and the one begun
    with averages.apply(exe):
        np.testing.assert_allclose(_value(MEAN), means[0], rtol=1e-5)
        np.testing.assert_allclose(_value(SCALE), means[1], rtol=1e-5)


def test_who_wants_no_averages_of_them_says_so() -> None:
    x = layers.data("x", [3])
    y = layers.batch_norm(layers.fc(x, 2), do_model_average_for_mean_and_var=False)
    SGD(0.1).minimize(layers.mean(layers.square(y - 1.0)))
    averages, exe = ModelAverage(1.0, min_average_window=100, max_average_window=100), fluid.Executor()
    exe.run(fluid.default_startup_program())
    for step in range(3):
        _run(exe, step)
    last = _value(MEAN)
    with averages.apply(exe):
        np.testing.assert_array_equal(_value(MEAN), last)


def test_the_direction_and_length_of_weights_are_not_averaged() -> None:
    """As the original's are not, whose attribute for them says so."""
    x = layers.data("x", [3])
    h = layers.fc(x, 2, param_attr=fluid.WeightNormParamAttr(dim=1, name="w"), bias_attr="b")
    SGD(0.1).minimize(layers.mean(layers.square(h - 1.0)))
    ema = ExponentialMovingAverage(0.5)
    ema.update()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for step in range(2):
        _run(exe, step)
    before = {name: _value(name) for name in ("w_g", "w_v", "b")}
    with ema.apply(exe):
        assert {name: bool((_value(name) == was).all()) for name, was in before.items()} == {
            "w_g": True,
            "w_v": True,
            "b": False,
        }
    assert fluid.ParamAttr().do_model_average is True
