"""Programs written for numbers of 16 bits train as a wheel of 2.6.2 for CPUs trains them: in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle._program.writing import mixed_precision
from paddle.static import amp

LOSSES = [0.8135999441146851, 0.4408055543899536, 0.06707318127155304, 0.09113708883523941]  # of 2.6.2
OF_BF16 = [0.8143692016601562, 0.441314697265625, 0.06925201416015625, 0.087677001953125]
X, Y = np.arange(6, dtype=np.float32).reshape(2, 3) / 6, np.ones((2, 1), np.float32)


@pytest.fixture(autouse=True)
def _told_anew(alone: None) -> None:
    mixed_precision.tell.cache_clear()


def trained(decorate: Callable[[Any], Any]) -> tuple[list[float], Any]:
    constant = paddle.nn.initializer.Constant
    x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [None, 1])
    weights = [paddle.ParamAttr(initializer=constant(each)) for each in (0.1, 0.2)]
    hidden = paddle.static.nn.fc(x, 4, weight_attr=weights[0], activation="relu")
    loss = paddle.mean(paddle.square(paddle.static.nn.fc(hidden, 1, weight_attr=weights[1]) - y))
    optimizer = decorate(paddle.optimizer.Momentum(0.1, 0.9))
    optimizer.minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    if hasattr(optimizer, "amp_init"):
        optimizer.amp_init(paddle.CPUPlace(), scope=paddle.static.global_scope())
    return [float(exe.run(feed={"x": X, "y": Y}, fetch_list=[loss])[0]) for _ in LOSSES], optimizer


@pytest.mark.parametrize(
    ("decorate", "scaling"),
    [
        (amp.decorate, 65536.0),
        (lambda one: amp.decorate(one, init_loss_scaling=128.0, use_dynamic_loss_scaling=True), 128.0),
        (lambda one: amp.decorate(one, use_pure_fp16=True), 32768.0),
        (lambda one: amp.decorate(one, level="O2", dtype="float16"), 65536.0),
        (lambda one: amp.decorate(one, amp.CustomOpLists(custom_black_list={"mul"}), "O1"), 65536.0),
        (paddle.fluid.contrib.mixed_precision.decorate, 32768.0),
    ],
)
def test_a_decorated_optimizer_has_the_losses_of_2_6(decorate: Callable[[Any], Any], scaling: float) -> None:
    with pytest.warns(UserWarning, match="all is computed in float32"):
        found, optimizer = trained(decorate)
    np.testing.assert_allclose(found, LOSSES, rtol=2e-6)
    exe = paddle.static.Executor()
    fetched = exe.run(feed={"x": X, "y": Y}, fetch_list=[optimizer.get_loss_scaling()])
    assert float(fetched[0]) == scaling
    assert optimizer.get_lr is not None  # what is not of the scaling is the optimizer's own


def test_bfloat16_is_not_rounded_to() -> None:
    with pytest.warns(UserWarning, match="float32"):
        found, _ = trained(lambda one: amp.bf16.decorate_bf16(one, amp.bf16.AutoMixedPrecisionListsBF16()))
    np.testing.assert_allclose(found, LOSSES, rtol=2e-6)
    np.testing.assert_allclose(found, OF_BF16, rtol=0.05)  # of 2.6.2, which rounds products by oneDNN


def test_the_notice_comes_once(recwarn: pytest.WarningsRecorder) -> None:
    for _ in range(2):
        amp.decorate(paddle.optimizer.SGD(0.1))
    with amp.fp16_guard():
        pass
    assert ["float32" in str(each.message) for each in recwarn if each.category is UserWarning] == [True]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="mul: an operator is in custom_white_list or"):
        amp.CustomOpLists({"mul"}, {"mul"})
    with pytest.raises(ValueError, match="level is one of"):
        amp.decorate(paddle.optimizer.SGD(0.1), level="O3")
    with pytest.raises(ValueError, match="dtype is 'float16' or 'bfloat16'"):
        amp.decorate(paddle.optimizer.SGD(0.1), dtype="int8")
    with pytest.raises(TypeError, match="has no argument init_scaling"):
        amp.decorate(paddle.optimizer.SGD(0.1), init_scaling=3)
    with pytest.raises(ValueError, match="decorate takes an optimizer"):
        amp.decorate(None)
    with pytest.raises(ValueError, match=r"call minimize\(loss\) before"):
        amp.decorate(paddle.optimizer.SGD(0.1)).get_loss_scaling()
    with pytest.raises(AttributeError, match=r"paddle\.static\.amp\.decorate"):
        _ = paddle.amp
