"""AdaDelta moves by the mean that has seen the move, as paddlepaddle 1.8.5 does (its numbers stand here)."""

from __future__ import annotations

import numpy as np

import paddle.fluid as fluid

VALUES = [0.49367544, 0.48517251, 0.47449678]


def test_values_are_those_of_the_original() -> None:
    x = fluid.layers.data("x", [3])
    half = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(0.5))
    y = fluid.layers.fc(x, 1, param_attr=half, bias_attr=False)
    fluid.optimizer.Adadelta(0.1, epsilon=1e-6, rho=0.95).minimize(fluid.layers.mean(fluid.layers.square(y)))
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for step, value in enumerate(VALUES, 1):
        exe.run(feed={"x": np.arange(6, dtype=np.float32).reshape(2, 3) * step})
        found = np.array(fluid.global_scope().find_var("w").get_tensor())
        np.testing.assert_allclose(found[:, 0], [value] * 3, rtol=1e-6)
