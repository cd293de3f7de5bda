"""Images drawn by one network and judged by another (DCGAN): two programs over one startup program, which
share parameters by their names; one trains the judge, the other the painter through the judge."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
SIDE, NOISE, FILTERS, BATCH = 12, 6, 8, 4


def _normed(x: Any, name: str, act: Any = "relu") -> Any:
    return layers.batch_norm(
        x,
        act=act,
        param_attr=name + "_scale",
        bias_attr=name + "_offset",
        moving_mean_name=name + "_mean",
        moving_variance_name=name + "_variance",
    )


def _fc(x: Any, size: int, name: str) -> Any:
    return layers.fc(x, size, param_attr=name + "_weights", bias_attr=False)


def judged(images: Any) -> Any:
    """What the judge says."""
    x = layers.reshape(x=images, shape=[-1, 1, SIDE, SIDE])
    x = layers.conv2d(x, FILTERS, 5, padding=2, param_attr="judge_one", bias_attr=False)
    x = layers.leaky_relu(x, alpha=0.2)
    x = layers.conv2d(x, FILTERS, 5, padding=2, param_attr="judge_two", bias_attr=False)
    x = layers.pool2d(_normed(x, "judge_two", None), pool_size=2, pool_stride=2)
    x = _normed(_fc(layers.leaky_relu(x, 0.2), 16, "judge_three"), "judge_three", "leaky_relu")
    return layers.fc(x, 1, param_attr="judge_weights", bias_attr="judge_offset")


def painted(noise: Any) -> Any:
    """What the painter draws."""
    x = _normed(_fc(noise, 32, "paint_one"), "paint_one")
    x = _normed(_fc(x, FILTERS * 9, "paint_two"), "paint_two")
    x = layers.reshape(x, [-1, FILTERS, 3, 3])
    for size, channels, filter_size, padding in ((6, FILTERS, 4, 1), (SIDE, 1, 5, 2)):
        x = layers.conv2d_transpose(
            x,
            channels,
            output_size=[size, size],
            filter_size=filter_size,
            stride=2,
            padding=padding,
            act="relu" if channels > 1 else "tanh",
            param_attr=f"paint_{size}",
            bias_attr=False,
        )
    return layers.reshape(x, shape=[-1, SIDE * SIDE])


def _cost(said: Any, wanted: Any) -> Any:
    return layers.mean(layers.sigmoid_cross_entropy_with_logits(x=said, label=wanted))


def costs(steps: int) -> list[float]:
    """Of the judge on drawings, of it on images, and of the painter, in turns; last, what a test draws."""
    judge, both, startup = fluid.Program(), fluid.Program(), fluid.default_startup_program()
    with fluid.program_guard(judge, startup):
        image, label = layers.data("image", [SIDE * SIDE]), layers.data("label", [1])
        cost = _cost(judged(image), label)
        fluid.optimizer.Adam(2e-3).minimize(cost)
    with fluid.program_guard(both, startup):
        drawn = painted(layers.data("noise", [NOISE]))
        paint, test = both.clone(), both.clone(for_test=True)
        names = [each.name for each in paint.global_block().all_parameters()]
        said = judged(drawn)
        true = layers.fill_constant_batch_size_like(said, [-1, 1], "float32", 1.0)
        fooled = _cost(said, true)
        fluid.optimizer.Adam(2e-3).minimize(fooled, parameter_list=names)
    exe, draw, made = fluid.Executor(fluid.CPUPlace()), np.random.RandomState(5), []
    exe.run(startup)
    begin(judge, 0.1)
    begin(both, 0.1)
    for _ in range(steps // 3):
        real, noise = (draw.uniform(-1, 1, (BATCH, n)).astype("float32") for n in (SIDE * SIDE, NOISE))
        fake = exe.run(paint, feed={"noise": noise}, fetch_list=[drawn])[0]
        for value, images in ((0.0, fake), (1.0, real)):
            feed = {"image": images, "label": np.full((BATCH, 1), value, "float32")}
            made.append(number(exe.run(judge, feed=feed, fetch_list=[cost])[0]))
        made.append(number(exe.run(both, feed={"noise": noise}, fetch_list=[fooled])[0]))
    seen = exe.run(test, feed={"noise": noise}, fetch_list=[drawn])[0]
    return [*made, float(np.abs(seen).mean())]
