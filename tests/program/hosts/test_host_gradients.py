"""Gradients of operators of the host that have to stand between others."""

from __future__ import annotations

import numpy as np

import paddle.fluid as fluid
from paddle._program.description.written import fresh

layers = fluid.layers
X = np.random.default_rng(3).normal(size=(2, 3, 2, 2)).astype(np.float32)


def test_what_is_alike_has_no_slope_though_one_comes_by() -> None:
    """A gradient that is held on the host comes by where weights learn: what was chosen is a constant."""
    with fresh(), fluid.scope_guard(fluid.Scope()):
        x = fluid.data("x", [2, 3, 2, 2])
        begin = fluid.initializer.Constant(2.0)
        weight = layers.create_parameter([1], "float32", name="w", default_initializer=begin)
        scaled = x * weight
        focus = layers.similarity_focus(scaled, 1, [0])
        array = layers.array_write(focus * scaled, layers.zeros([1], "int64"))
        loss = layers.reduce_sum(layers.array_read(array, layers.zeros([1], "int64")))
        ((_, slope),) = fluid.backward.append_backward(loss)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        found, slope = exe.run(feed={"x": X}, fetch_list=[focus, slope])
    assert 0 < found.sum() < found.size
    np.testing.assert_allclose(slope, [(found * X).sum()], rtol=1e-5)
