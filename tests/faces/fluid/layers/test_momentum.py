"""Batch norms: of a momentum that another operator may compute in each step, and of one sample."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadProgram

IMAGES = np.random.RandomState(1).randn(2, 3, 2, 2).astype("float32")
MEAN = IMAGES.mean((0, 2, 3))


def moved(momentum: object) -> list[np.ndarray]:
    """The moving mean after each of three steps."""
    x = fluid.layers.data("x", [3, 2, 2])
    out = fluid.layers.batch_norm(x, momentum=momentum, moving_mean_name="mean")
    cost = fluid.layers.mean(fluid.layers.square(out))
    fluid.optimizer.SGD(0.1).minimize(cost)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found = []
    for _ in range(3):
        exe.run(feed={"x": IMAGES}, fetch_list=[cost])
        found.append(np.array(fluid.global_scope().find_var("mean").get_tensor()))
    return found


def test_a_variable_moves_the_mean_as_its_number_does() -> None:
    kept = fluid.layers.create_global_var([1], 0.7, "float32", persistable=True)
    first, second, _ = moved(kept)
    np.testing.assert_allclose(first, 0.3 * MEAN, rtol=1e-5)
    np.testing.assert_allclose(second, (0.7 * 0.3 + 0.3) * MEAN, rtol=1e-5)


def test_a_momentum_may_be_of_the_step() -> None:
    step = fluid.layers.autoincreased_step_counter()  # 1, 2, 3
    first, second, third = moved(fluid.layers.cast(step, "float32") * 0.25)
    np.testing.assert_allclose(first, 0.75 * MEAN, rtol=1e-5)
    np.testing.assert_allclose(second, (0.5 * 0.75 + 0.5) * MEAN, rtol=1e-5)
    np.testing.assert_allclose(third, (0.75 * 0.875 + 0.25) * MEAN, rtol=1e-5)


def test_several_numbers_are_no_momentum() -> None:
    x = fluid.layers.data("x", [3, 2, 2])
    with pytest.raises(BadProgram, match="Momentum is one number"):
        fluid.layers.batch_norm(x, momentum=fluid.layers.fill_constant([2], "float32", 0.5))


@pytest.mark.parametrize(
    ("given", "named"), [((3, "x"), "targets"), (([], "x"), "targets"), (("x", 3), "inputs")]
)
def test_gradients_are_of_variables_by_variables(given: tuple[object, object], named: str) -> None:
    x = fluid.layers.data("x", [4])
    y = fluid.layers.square(x)
    targets, inputs = (y if each == "x" else each for each in given)
    with pytest.raises(ValueError, match=f"gradients: {named} is a Variable"):
        fluid.gradients(targets, inputs)
    with pytest.raises(ValueError, match="gradients: target_gradients is a Variable"):
        fluid.gradients(y, x, target_gradients=3)


def test_a_batch_of_one_sample_is_given_as_it_is_and_teaches_the_norm_nothing() -> None:
    """As in 1.8.5 and 2.6.2: the last batch of an epoch may have one, which would be 0 whatever it is."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        x = fluid.layers.data("x", [2], stop_gradient=False)
        first = fluid.initializer.Constant(3.0)
        names = {"moving_mean_name": "mean", "moving_variance_name": "variance"}
        scale, bias = (fluid.ParamAttr(name=name, initializer=first) for name in ("scale", "bias"))
        out = fluid.layers.batch_norm(x, param_attr=scale, bias_attr=bias, **names)
        fluid.optimizer.SGD(0.5).minimize(fluid.layers.mean(fluid.layers.square(out)))
        exe, of_x = fluid.Executor(), "x@GRAD"
        exe.run(fluid.default_startup_program())
        fed = np.array([[1.0, -2.0]], np.float32)
        found, slope = exe.run(feed={"x": fed}, fetch_list=[out, of_x])
        assert (found.tolist(), slope.tolist()) == (fed.tolist(), fed.tolist())
        scope = fluid.global_scope()
        kept = [np.array(scope.find_var(name).get_tensor()).tolist() for name in ("scale", "bias", "mean")]
        assert kept == [[3.0, 3.0], [3.0, 3.0], [0.0, 0.0]]
        (several,) = exe.run(feed={"x": np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)}, fetch_list=[out])
        np.testing.assert_allclose(several, [[0.0, 0.0], [6.0, 6.0]], atol=1e-3)
