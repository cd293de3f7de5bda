"""A linear regression, written as programs of fluid are, learns in this process."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid


def _network() -> fluid.Variable:
    x = fluid.layers.data(name="x", shape=[3], dtype="float32")
    y = fluid.layers.data(name="y", shape=[1], dtype="float32")
    predicted = fluid.layers.fc(input=x, size=1, act=None)
    return fluid.layers.mean(fluid.layers.square_error_cost(input=predicted, label=y))


def _batch() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(8, 3)).astype(np.float32)
    return {"x": x, "y": (x @ [[1.0], [-2.0], [0.5]]).astype(np.float32)}


def test_losses_are_those_of_gradient_descent() -> None:
    loss = _network()
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    batch, scope = _batch(), fluid.global_scope()
    w = np.array(scope.find_var("fc_0.w_0").get_tensor())
    b = np.array(scope.find_var("fc_0.b_0").get_tensor())
    for _ in range(5):
        (found,) = exe.run(feed=batch, fetch_list=[loss])
        error = batch["x"] @ w + b - batch["y"]
        assert found.shape == (1,)
        np.testing.assert_allclose(found, np.mean(error**2), rtol=1e-5)
        w = w - 0.1 * batch["x"].T @ (2 * error / len(error))
        b = b - 0.1 * np.sum(2 * error / len(error), axis=0)
    np.testing.assert_allclose(np.array(scope.find_var("fc_0.w_0").get_tensor()), w, rtol=1e-5, atol=1e-6)


def test_a_value_set_in_the_scope_is_what_the_next_run_computes_with() -> None:
    loss = _network()
    test = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    batch = _batch()
    exe.run(feed=batch)
    weights = fluid.global_scope().find_var("fc_0.w_0").get_tensor()
    weights.set(np.array([[1.0], [-2.0], [0.5]], np.float32), None)
    fluid.global_scope().find_var("fc_0.b_0").get_tensor().set(np.zeros(1, np.float32), None)
    assert exe.run(test, feed=batch, fetch_list=[loss.name])[0] == pytest.approx(0, abs=1e-10)
    exe.run(feed=batch)
    np.testing.assert_allclose(np.array(weights), [[1.0], [-2.0], [0.5]], atol=1e-5)


def test_the_learning_rate_is_what_its_variable_says_at_that_step() -> None:
    loss = _network()
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.global_scope().find_var("learning_rate_0").get_tensor().set(np.zeros(1, np.float32), None)
    first, second = (exe.run(feed=_batch(), fetch_list=[loss])[0] for _ in range(2))
    assert first == second


def test_gradients_are_fetched_by_name() -> None:
    loss = _network()
    pairs = fluid.backward.append_backward(loss)
    assert [(p.name, g.name) for p, g in pairs] == [
        ("fc_0.w_0", "fc_0.w_0@GRAD"),
        ("fc_0.b_0", "fc_0.b_0@GRAD"),
    ]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    batch = _batch()
    fetched = exe.run(feed=batch, fetch_list=["fc_0.b_0@GRAD", "fc_0.tmp_1"])
    np.testing.assert_allclose(fetched[0], [np.mean(2 * (fetched[1] - batch["y"]))], rtol=1e-5)


def test_a_run_without_the_startup_program_says_what_to_do() -> None:
    loss = _network()
    with pytest.raises(RuntimeError, match="run the startup program first"):
        fluid.Executor().run(feed=_batch(), fetch_list=[loss])


def test_a_lacking_feed_and_a_wrong_fetch_are_named() -> None:
    loss = _network()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.raises(ValueError, match=r"the feed lacks 'y' .*test_regression\.py"):
        exe.run(feed={"x": _batch()["x"]}, fetch_list=[loss])
    with pytest.raises(ValueError, match="'los'"):
        exe.run(feed=_batch(), fetch_list=["los"])


def test_a_seed_says_all_that_is_drawn() -> None:
    x = fluid.layers.data(name="x", shape=[3], dtype="float32")
    loss = fluid.layers.mean(fluid.layers.dropout(fluid.layers.fc(x, 4), 0.5))
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    seen = []
    for seed in (3, 3, 4):
        fluid.default_startup_program().random_seed = fluid.default_main_program().random_seed = seed
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        seen.append([exe.run(feed={"x": _batch()["x"]}, fetch_list=[loss])[0].item() for _ in range(3)])
    assert seen[0] == seen[1] != seen[2]
    assert len(set(seen[0])) == 3


def test_what_no_fetch_depends_on_need_not_be_fed() -> None:
    _network()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed={"x": _batch()["x"]}, fetch_list=["fc_0.tmp_1"])
    assert found.shape == (8, 1)


def test_an_error_of_a_run_names_the_line_that_wrote_the_operator() -> None:
    ids = fluid.layers.data(name="ids", shape=[1], dtype="int64")
    row = fluid.layers.embedding(ids, size=[5, 2])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.raises(ValueError, match=r"lookup_table.*test_regression\.py") as found:
        exe.run(feed={"ids": np.array([[7]])}, fetch_list=[row])
    assert "7" in str(found.value)


def test_an_error_in_a_layer_names_the_line_that_wrote_it() -> None:
    x = fluid.layers.data(name="x", shape=[3], dtype="float32")
    y = fluid.layers.data(name="y", shape=[2], dtype="float32")
    with pytest.raises(ValueError, match=r"elementwise_sub.*test_regression\.py"):
        fluid.layers.square_error_cost(x, y)
