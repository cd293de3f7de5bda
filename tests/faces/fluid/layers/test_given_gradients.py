"""``gradients(targets, inputs, target_gradients)`` where these come from outside of the program."""

from __future__ import annotations

import numpy as np

import paddle.fluid as fluid

X = np.array([[1.0, -2.0, 3.0]], np.float32)
GIVEN = np.array([[0.5, 4.0, 2.0]], np.float32)


def test_they_may_be_fed() -> None:
    x, given = fluid.data("x", [None, 3]), fluid.data("given", [None, 3])
    x.stop_gradient = False
    (slope,) = fluid.gradients(fluid.layers.square(x), x, given)
    (found,) = fluid.Executor().run(feed={"x": X, "given": GIVEN}, fetch_list=[slope])
    np.testing.assert_allclose(found, 2 * X * GIVEN)


def test_they_may_lie_in_the_scope_under_the_name_of_the_gradient() -> None:
    x = fluid.data("x", [1, 3])
    x.stop_gradient = False
    y = fluid.layers.square(x)
    program = fluid.default_main_program().clone()
    block = program.global_block()
    given = block.create_var(name=y.name + "@GRAD", shape=y.shape, dtype=y.dtype, persistable=True)
    (slope,) = fluid.gradients(block.var(y.name), block.var("x"), given)
    fluid.global_scope().var(given.name).get_tensor().set(GIVEN, fluid.CPUPlace())
    (found,) = fluid.Executor().run(program, feed={"x": X}, fetch_list=[slope])
    np.testing.assert_allclose(found, 2 * X * GIVEN)


def test_gradients_are_taken_of_gradients_that_nothing_else_reads() -> None:
    x, given, beyond = (fluid.data(name, [None, 3]) for name in ("x", "given", "beyond"))
    x.stop_gradient = given.stop_gradient = False
    (slope,) = fluid.gradients(fluid.layers.square(x), x, given)
    wanted = fluid.gradients(slope, [x, given], beyond)
    feed = {"x": X, "given": GIVEN, "beyond": np.full((1, 3), 3.0, np.float32)}
    found, by_given = fluid.Executor().run(feed=feed, fetch_list=[*wanted])
    np.testing.assert_allclose(found, 3 * 2 * GIVEN)
    np.testing.assert_allclose(by_given, 3 * 2 * X)


def test_what_the_gradient_alone_does_not_read_is_known_by_its_sizes() -> None:
    x, given = fluid.data("x", [None, 3]), fluid.data("given", [None])
    x.stop_gradient = False
    whole = fluid.layers.reduce_sum(fluid.layers.scale(x, 2.0), dim=[1])
    (slope,) = fluid.gradients(whole, x, given)
    feed = {"x": np.ones((2, 3), np.float32), "given": np.array([1.0, 5.0], np.float32)}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[slope])
    np.testing.assert_allclose(found, [[2.0] * 3, [10.0] * 3])
