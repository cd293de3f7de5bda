"""Moves valued by what they lead to (Q-learning): one network learns, another, which follows it, says what
is to be learned; and the rate falls by an assignment behind the step."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
SIZE, MOVES, WIDTH, LATER, FOLLOWS = 4, 3, 8, 0.9, 0.5


def _valued(state: Any, whose: str) -> Any:
    hidden = layers.fc(state, WIDTH, act="relu", param_attr=whose + "_one", bias_attr=whose + "_one_offset")
    return layers.fc(hidden, MOVES, param_attr=whose + "_two", bias_attr=whose + "_two_offset")


def network() -> Any:
    """The cost, and the value of each move that was made."""
    state, then = layers.data("state", [SIZE]), layers.data("then", [SIZE])
    move, gain, is_over = (
        layers.data("move", [1], dtype="int64"),
        layers.data("gain", [1]),
        layers.data("over", [1]),
    )
    best = layers.reduce_max(_valued(then, "other"), dim=1, keep_dim=True)
    wanted = gain + (1.0 - is_over) * LATER * best
    wanted.stop_gradient = True
    chosen = layers.elementwise_mul(_valued(state, "own"), layers.one_hot(move, MOVES))
    value = layers.reduce_sum(chosen, dim=1, keep_dim=True)
    return layers.reduce_mean(layers.square_error_cost(value, wanted)), value


def costs(steps: int) -> list[float]:
    """Of each step, and last its rate and the mean value of the moves."""
    cost, value = network()
    rate = layers.create_global_var([1], 0.5, "float32", persistable=True, name="rate")
    block = fluid.default_main_program().global_block()
    own = [each.name for each in block.all_parameters() if each.name.startswith("own")]
    clip = fluid.clip.GradientClipByGlobalNorm(1.0)
    fluid.optimizer.SGD(rate, grad_clip=clip).minimize(cost, parameter_list=own)
    for name in own:
        other = block.var("other" + name[3:])
        layers.assign(other * (1.0 - FOLLOWS) + block.var(name) * FOLLOWS, output=other)
    layers.assign(rate * 0.8, output=rate)
    exe, made = fluid.Executor(fluid.CPUPlace()), []
    exe.run(fluid.default_startup_program())
    begin(fluid.default_main_program(), 0.5)
    for step in range(steps):
        draw = np.random.RandomState(step)
        feed = {
            "state": draw.rand(6, SIZE).astype("float32"),
            "then": draw.rand(6, SIZE).astype("float32"),
            "move": draw.randint(0, MOVES, (6, 1)).astype("int64"),
            "gain": draw.rand(6, 1).astype("float32"),
            "over": draw.randint(0, 2, (6, 1)).astype("float32"),
        }
        found = exe.run(feed=feed, fetch_list=[cost, rate, value])
        made.append(number(found[0]))
    return [*made, number(found[1]), float(np.mean(found[2]))]
