"""Gradients of layers over sequences in fluid, against central differences of the whole program."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid

layers = fluid.layers
X = np.random.default_rng(21).normal(size=(5, 4)).astype(np.float32)
NONE = np.array([0.5], np.float32)
NUMBERS = {
    "offset": np.array([[1], [0], [1]]),
    "length": np.array([[1], [0], [2]]),
    "none": NONE,
    "ids": fluid.create_lod_tensor(np.array([[1], [0], [3], [3], [2]]), [[2, 1, 2]], None),
    "two": fluid.create_lod_tensor(np.zeros((4, 1), np.int64), [[2, 0, 1], [1, 1, 2]], None),
}


def number(name):
    return layers.data(name, [1], dtype="int64")


def pad_value():
    return layers.data("none", [1], append_batch_size=False)


def ids():
    return layers.data("ids", [1], dtype="int64", lod_level=1)


def unpadded(x):
    return layers.sequence_unpad(*layers.sequence_pad(x, pad_value()))


CASES = {
    "pool": lambda x: layers.sequence_pool(x, "sqrt"),
    "max": lambda x: layers.sequence_pool(x, "max"),
    "last": layers.sequence_last_step,
    "concat": lambda x: layers.sequence_concat([x, x]),
    "slice": lambda x: layers.sequence_slice(x, number("offset"), number("length")),
    "reverse": layers.sequence_reverse,
    "reshape": lambda x: layers.sequence_reshape(x, 2),
    "unpadded": unpadded,
    "expand": lambda x: layers.sequence_expand(x, layers.data("two", [1], dtype="int64", lod_level=2), 0),
    "expand_as": lambda x: layers.sequence_expand_as(layers.sequence_first_step(x), ids()),
    "scatter": lambda x: layers.sequence_scatter(
        layers.sequence_first_step(x), ids(), layers.fc(x, 1, bias_attr=False)
    ),
    "row_conv": lambda x: layers.row_conv(x, 1),
    "conv": lambda x: layers.sequence_conv(x, 2, 3, act=None),
    "softmax": lambda x: layers.sequence_pool(  # of which the sum never changes
        layers.sequence_softmax(layers.fc(x, 1, bias_attr=False)), "max"
    ),
    "reset": lambda x: layers.sequence_last_step(layers.lod_reset(x, target_lod=[0, 1, 5])),
    "gru": lambda x: layers.dynamic_gru(layers.fc(x, 6), 2, candidate_activation="relu"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_the_slope_of_the_program(name: str) -> None:
    x = layers.data("x", [4], lod_level=1)
    x.stop_gradient = False
    loss = layers.mean(layers.fc(CASES[name](x), 1, bias_attr=False))
    (slopes,) = fluid.gradients([loss], [x])
    exe = fluid.Executor()
    fluid.default_startup_program().random_seed = 3  # no relu near its bend
    exe.run(fluid.default_startup_program())
    feed = {key: NUMBERS[key] for key in NUMBERS if fluid.default_main_program().global_block().has_var(key)}

    def run(array, fetch):
        given = fluid.create_lod_tensor(array, [[2, 0, 3]], None)
        found = exe.run(feed={**feed, "x": given}, fetch_list=fetch, return_numpy=False)
        return [np.array(each) for each in found]

    (slope,) = run(X, [slopes])
    assert slope.any()
    for at in [(0, 0), (1, 3), (2, 1), (4, 2)]:
        above, below = X.copy(), X.copy()
        above[at] += 1e-2
        below[at] -= 1e-2
        rise = run(above, [loss])[0] - run(below, [loss])[0]
        assert slope[at] == pytest.approx(float(rise[0]) / 2e-2, rel=2e-2, abs=2e-4)
