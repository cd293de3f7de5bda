"""What programs before 0.14, and tutorials on them, ask of evaluators and blocks; and shuffled rows."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import NotInitialized


def test_an_accuracy_is_of_all_samples_since_it_was_reset() -> None:
    scores = fluid.layers.data(name="scores", shape=[3], dtype="float32")
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    accuracy = fluid.evaluator.Accuracy(input=scores, label=label)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    rows = np.eye(3, dtype=np.float32)
    found = []
    for labels in ([0, 1, 1], [0, 0]):
        feed = {"scores": rows[: len(labels)], "label": np.array(labels)[:, None]}
        (share,) = exe.run(feed=feed, fetch_list=accuracy.metrics)
        found.append(float(share[0]))
    assert found == [pytest.approx(2 / 3), 0.5]
    assert accuracy.eval(exe).tolist() == [pytest.approx(3 / 5)]
    accuracy.reset(exe)
    with pytest.raises(NotInitialized, match="no run has had a sample since reset"):
        accuracy.eval(exe)


def test_an_accuracy_is_added_to_the_program_that_is_told() -> None:
    scores = fluid.layers.data(name="scores", shape=[3], dtype="float32")
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    train = fluid.evaluator.Accuracy(input=scores, label=label)
    test_program = fluid.default_main_program().clone()
    test = fluid.evaluator.Accuracy(input=scores, label=label, main_program=test_program)
    pruned = fluid.io.get_inference_program(test.metrics + test.states, main_program=test_program)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    feed = {"scores": np.eye(3, dtype=np.float32), "label": np.array([[0], [1], [0]])}
    exe.run(pruned, feed=feed, fetch_list=test.metrics)
    assert test.eval(exe).tolist() == [pytest.approx(2 / 3)]
    with pytest.raises(NotInitialized, match="no run has had a sample"):
        train.eval(exe)


def test_a_variable_is_given_its_first_value_where_it_is_declared() -> None:
    block = fluid.default_startup_program().global_block()
    traits = {"shape": [2], "dtype": "float32", "persistable": True}
    block.create_var(name="threes", initializer=fluid.initializer.Constant(3.0), **traits)
    fluid.Executor(fluid.CPUPlace()).run(fluid.default_startup_program())
    assert np.asarray(fluid.global_scope().find_var("threes").get_tensor()).tolist() == [3.0, 3.0]


def test_rows_are_shuffled_and_their_gradients_go_back_to_them() -> None:
    x = fluid.data("x", [None, 3], "float32")
    weights = fluid.data("weights", [None, 3], "float32")
    x.stop_gradient = False
    shuffled = fluid.contrib.layers.shuffle_batch(x)
    (gradient,) = fluid.gradients(fluid.layers.reduce_sum(shuffled * weights), [x])
    (operator,) = [op for op in x.block.ops if op.type == "shuffle_batch"]
    exe = fluid.Executor(fluid.CPUPlace())
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    feed = {"x": rows, "weights": np.repeat(np.arange(5, dtype=np.float32), 3).reshape(5, 3)}
    orders = set()
    for _ in range(8):
        found, back, order = exe.run(
            feed=feed, fetch_list=[shuffled, gradient, *operator.output("ShuffleIdx")]
        )
        np.testing.assert_array_equal(found[order], rows)
        np.testing.assert_array_equal(back[:, 0], order)
        orders.add(tuple(order))
    assert len(orders) > 1


def test_rows_of_more_axes_are_shuffled_by_their_last_one() -> None:
    x = fluid.data("x", [None, 2, 3], "float32")
    shuffled = fluid.contrib.layers.shuffle_batch(x)
    rows = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    (found,) = fluid.Executor(fluid.CPUPlace()).run(feed={"x": rows}, fetch_list=[shuffled])
    assert found.shape == rows.shape and not np.array_equal(found, rows)
    assert sorted(found.reshape(-1, 3).tolist()) == rows.reshape(-1, 3).tolist()


def test_a_tensor_without_a_shape_has_that_of_what_it_is_fed() -> None:
    a, b = (fluid.layers.create_tensor(dtype="int64", name=name) for name in "ab")
    total = fluid.layers.sum(x=[a, b])
    exe = fluid.Executor(fluid.CPUPlace())
    for feed in ({"a": np.array([3, 2]), "b": np.array([1, 1])}, {"a": np.arange(3), "b": np.arange(3)}):
        found = exe.run(feed=feed, fetch_list=[a, total])
        np.testing.assert_array_equal(found[0], feed["a"])
        np.testing.assert_array_equal(found[1], feed["a"] + feed["b"])
