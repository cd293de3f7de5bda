"""Optimizers with a decay of weights beside the gradients, against their formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers
from paddle.fluid.contrib.extend_optimizer import extend_with_decoupled_weight_decay

X = np.array([[1.0, -2.0], [0.5, 0.25]], np.float32)


def _trained(weight_decay: Any, **options: Any) -> tuple[np.ndarray, Any]:
    """The weights 1 and 1 after two steps, whose gradient is the mean of X."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        x = layers.data("x", [2])
        attr = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(1.0))
        loss = layers.mean(layers.fc(x, 1, param_attr=attr, bias_attr=False))
        made = extend_with_decoupled_weight_decay(fluid.optimizer.SGD)
        optimizer = made(learning_rate=0.1, weight_decay=weight_decay, **options)
        optimizer.minimize(loss)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        for _ in range(2):
            exe.run(feed={"x": X})
        return np.array(fluid.global_scope().find_var("w").get_tensor()).ravel(), optimizer


def _expected(share: float) -> np.ndarray:
    w = np.ones(2)
    for _ in range(2):
        w = w - share * w - 0.1 * X.mean(axis=0)
    return w


def test_a_step_takes_a_share_of_the_weights_and_then_moves_them() -> None:
    found, optimizer = _trained(0.25)
    np.testing.assert_allclose(found, _expected(0.25), rtol=1e-5)
    assert str(optimizer) == "Weight Decay, params: w"


@pytest.mark.parametrize("options", [{"apply_decay_param_fun": lambda name: name != "w"}, {}])
def test_what_does_not_decay_is_only_moved(options: dict[str, Any]) -> None:
    found, optimizer = _trained(0.25 if options else 0.0, **options)
    np.testing.assert_allclose(found, _expected(0.0), rtol=1e-5)
    assert str(optimizer) == "Weight Decay, params: "


def test_a_share_is_a_number_with_a_fraction() -> None:
    assert fluid.contrib.extend_with_decoupled_weight_decay is extend_with_decoupled_weight_decay
    with pytest.raises(ValueError, match="weight_decay is a number with a fraction"):
        _trained("much")
