"""Images told apart by blocks that weigh their channels (SE-ResNeXt): groups, statistics of batches under
names, smoothed labels, momentum with decay, and a rate that warms up and falls as a cosine."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
KINDS, SIDE, RATE, PASS, PASSES = 5, 16, 0.1, 2, 10


def _conv(
    x: Any, filters: int, size: int, name: str, stride: int = 1, groups: int = 1, act: Any = None
) -> Any:
    made = layers.conv2d(
        input=x,
        num_filters=filters,
        filter_size=size,
        stride=stride,
        padding=(size - 1) // 2,
        groups=groups,
        bias_attr=False,
        param_attr=fluid.ParamAttr(name=name + "_weights"),
    )
    return layers.batch_norm(
        input=made,
        act=act,
        param_attr=fluid.ParamAttr(name=name + "_scale"),
        bias_attr=fluid.ParamAttr(name + "_offset"),
        moving_mean_name=name + "_mean",
        moving_variance_name=name + "_variance",
    )


def _block(x: Any, filters: int, stride: int, name: str) -> Any:
    y = _conv(x, filters, 1, name + "_1", act="relu")
    y = _conv(y, filters, 3, name + "_2", stride, groups=2, act="relu")
    y = _conv(y, 2 * filters, 1, name + "_3")
    seen = layers.pool2d(input=y, pool_size=0, pool_type="avg", global_pooling=True)
    few = layers.fc(seen, 4, param_attr=name + "_few_weights", bias_attr=name + "_few_offset", act="relu")
    shares = layers.fc(
        few,
        2 * filters,
        param_attr=name + "_shares_weights",
        bias_attr=name + "_shares_offset",
        act="sigmoid",
    )
    scaled = layers.elementwise_mul(x=y, y=shares, axis=0)
    return layers.elementwise_add(x=_conv(x, 2 * filters, 1, name + "_0", stride), y=scaled, act="relu")


def _rate() -> Any:
    step = layers.learning_rate_scheduler._decay_step_counter()
    rate = layers.create_global_var([1], 0.0, "float32", persistable=True, name="learning_rate")
    warm = layers.fill_constant(shape=[1], dtype="float32", value=2.0, force_cpu=True)
    done = layers.floor(step / PASS)
    with layers.control_flow.Switch() as switch:
        with switch.case(done < warm):
            layers.assign(input=RATE * (step / (PASS * warm)), output=rate)
        with switch.default():
            turn = layers.cos((step - warm * PASS) * (pi / (PASSES * PASS)))
            layers.assign(input=RATE * (turn + 1) / 2, output=rate)
    return rate


def network() -> Any:
    """The costs of training and of a test."""
    image, label = layers.data("image", [3, SIDE, SIDE]), layers.data("label", [1], dtype="int64")
    x = _conv(image, 8, 7, "first", stride=2, act="relu")
    x = layers.pool2d(input=x, pool_size=3, pool_stride=2, pool_padding=1, pool_type="max")
    x = _block(_block(x, 4, 1, "one"), 8, 2, "two")
    pooled = layers.pool2d(input=x, pool_size=7, pool_type="avg", global_pooling=True)
    scores = layers.fc(layers.dropout(pooled, 0.0), KINDS, param_attr="last_weights", bias_attr="last_offset")
    shares = layers.softmax(scores, use_cudnn=False)
    smooth = layers.label_smooth(label=layers.one_hot(label, KINDS), epsilon=0.1, dtype="float32")
    return layers.mean(layers.cross_entropy(input=shares, label=smooth, soft_label=True))


def batch(draw: Any) -> dict[str, np.ndarray]:
    """Noise around an image of each kind."""
    ideal = np.random.RandomState(5).randn(KINDS, 3, SIDE, SIDE)
    label = draw.randint(0, KINDS, (8, 1))
    noise = draw.randn(8, 3, SIDE, SIDE)
    return {"image": (ideal[label[:, 0]] + 0.1 * noise).astype("float32"), "label": label.astype("int64")}


def costs(steps: int) -> list[float]:
    """Of each step, and last what a test costs by the statistics that training has moved."""
    cost = network()
    test = fluid.default_main_program().clone(for_test=True)
    decay = fluid.regularizer.L2Decay(1.2e-4)
    fluid.optimizer.Momentum(learning_rate=_rate(), momentum=0.9, regularization=decay).minimize(cost)
    exe, draw = fluid.Executor(fluid.CPUPlace()), np.random.RandomState(0)
    exe.run(fluid.default_startup_program())
    begin(fluid.default_main_program(), 0.1)
    main = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel(loss_name=cost.name)
    found = [number(exe.run(main, feed=batch(draw), fetch_list=[cost.name])[0]) for _ in range(steps)]
    return [*found, number(exe.run(test, feed=batch(draw), fetch_list=[cost.name])[0])]
