"""Branches: what is not taken is not computed, and each row goes one way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from tests.faces.fluid.numeric import assert_gradients

layers = fluid.layers
X = np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32)


def fc(x: Any, size: int, name: str) -> Any:
    return layers.fc(x, size, param_attr=name, bias_attr=False)


def data() -> Any:
    return layers.data("x", [1], append_batch_size=False, stop_gradient=False)


@pytest.mark.parametrize("value", [0.0, -2.0, 4.0])
def test_the_slope_of_a_branch_that_is_not_taken_does_not_count(value: float) -> None:
    """At 0 it is that of the other one, and not 0 times infinity."""
    x = data()
    found = layers.cond(x > 0.0, lambda: layers.log(x) + layers.sqrt(x), lambda: x * 3.0)
    (slope,) = fluid.gradients(layers.reduce_sum(found), x)
    fetch = fluid.Executor().run(feed={"x": np.array([value], np.float32)}, fetch_list=[found, slope])
    wanted = (np.log(4) + 2, 1 / 4 + 1 / 4) if value > 0 else (3 * value, 3.0)
    np.testing.assert_allclose([float(np.asarray(each)[0]) for each in fetch], wanted, rtol=1e-6)


def test_a_branch_that_is_not_taken_counts_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    x = data()

    def taken() -> Any:
        return layers.Print(x * 2.0, message="here")

    found = layers.cond(x > 0.0, taken, lambda: x * 3.0)
    exe = fluid.Executor()
    assert float(exe.run(feed={"x": np.array([-1.0], np.float32)}, fetch_list=[found])[0][0]) == -3.0
    assert "here" not in capfd.readouterr().out
    assert float(exe.run(feed={"x": np.array([1.0], np.float32)}, fetch_list=[found])[0][0]) == 2.0
    assert "here" in capfd.readouterr().out


@pytest.mark.parametrize("shift", [-9.0, 9.0])
def test_weights_of_the_branch_that_is_taken_learn(shift: float) -> None:
    def build() -> Any:
        x = layers.data("x", [3])
        total = layers.reduce_sum(layers.square(fc(x, 2, "w"))) + shift
        yes = layers.cond(
            total > 0.0, lambda: layers.exp(fc(x, 1, "v") * 0.1), lambda: layers.square(fc(x, 1, "u"))
        )
        return layers.mean(yes) + layers.log(layers.mean(layers.square(fc(x, 2, "w"))) + 1.0)

    assert_gradients(build, {"x": X * 0.3}, ["w", "v", "u"])


def test_each_row_goes_one_way_and_a_mean_there_is_over_its_rows() -> None:
    x = layers.data("x", [3])
    limit = layers.fill_constant([1], "float32", 0.0)
    ways = layers.IfElse(layers.reduce_sum(x, 1, keep_dim=True) > limit)
    with ways.true_block():
        rows = ways.input(x)
        ways.output(layers.elementwise_sub(rows, layers.reduce_mean(rows, 0)))
    with ways.false_block():
        ways.output(ways.input(x) * 10.0)
    (out,) = ways()
    (found,) = fluid.Executor().run(feed={"x": X}, fetch_list=[out])
    high = X.sum(axis=1) > 0
    assert 0 < high.sum() < len(X)
    np.testing.assert_allclose(found[high], X[high] - X[high].mean(axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[~high], X[~high] * 10)


@pytest.mark.parametrize("shift", [0.0, 9.0])
def test_weights_of_both_ways_learn_from_their_rows(shift: float) -> None:
    """Also where no row goes one of them."""

    def build() -> Any:
        x = layers.data("x", [3])
        ways = layers.IfElse(layers.reduce_sum(x, 1, keep_dim=True) > -shift)
        h = fc(x, 3, "w")
        with ways.true_block():
            ways.output(layers.square(fc(ways.input(h), 2, "v")))
        with ways.false_block():
            ways.output(layers.tanh(fc(ways.input(h), 2, "u")))
        (out,) = ways()
        return layers.mean(out)

    assert_gradients(build, {"x": X}, ["w", "v", "u"])


def test_sequences_go_whole() -> None:
    x, mask = layers.data("x", [1], lod_level=1), layers.data("mask", [1], dtype="bool")
    ways = layers.IfElse(mask)
    with ways.true_block():
        ways.output(ways.input(x) * 2.0)
    with ways.false_block():
        ways.output(ways.input(x) * -1.0)
    (out,) = ways()
    rows = np.arange(1, 7, dtype=np.float32).reshape(6, 1)
    feed = {"x": fluid.create_lod_tensor(rows, [[2, 1, 3]], None), "mask": np.array([[0], [1], [0]], bool)}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[out], return_numpy=False)
    assert found.lod() == [[0, 2, 3, 6]]
    assert np.array(found).reshape(-1).tolist() == [-1, -2, 6, -4, -5, -6]


@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_what_a_loop_has_computed_stays_where_no_case_holds(value: float) -> None:
    x, i = data(), layers.fill_constant([1], "int64", 0)
    n, state = layers.fill_constant([1], "int64", 3), layers.fill_constant([1], "float32", 1.0)
    going = layers.less_than(i, n)
    loop = layers.While(going)
    with loop.block():
        layers.assign(state * 2.0, state)
        layers.increment(i, 1, in_place=True)
        layers.less_than(i, n, cond=going)
    with layers.Switch() as switch, switch.case(x > 0.0):
        layers.assign(layers.fill_constant([1], "float32", -5.0), state)
    (found,) = fluid.Executor().run(feed={"x": np.array([value], np.float32)}, fetch_list=[state])
    assert float(np.asarray(found)[0]) == (-5.0 if value > 0 else 8.0)


@pytest.mark.parametrize(("value", "wanted"), [(1.0, np.full((2, 3), 1)), (-1.0, np.full((3, 2), 2))])
def test_what_is_given_has_the_sizes_of_the_branch_that_was_taken(value: float, wanted: Any) -> None:
    x = data()
    found = layers.cond(
        x > 0.0,
        lambda: {"table": layers.fill_constant([2, 3], "int32", 1), "rows": [x]},
        lambda: {"table": layers.fill_constant([3, 2], "int32", 2), "rows": [x * 2.0]},
    )
    assert found["table"].shape == (-1, -1)
    fetch = [found["table"], layers.reduce_sum(found["table"]), found["rows"][0]]
    table, total, row = fluid.Executor().run(feed={"x": np.array([value], np.float32)}, fetch_list=fetch)
    np.testing.assert_array_equal(table, wanted)
    assert (int(total), float(row)) == (int(wanted.sum()), value if value > 0 else 2 * value)


@pytest.mark.parametrize(("value", "wanted"), [(1.0, 1.5), (-1.0, 3.0)])
def test_a_branch_of_whole_numbers_cuts_nothing_of_the_other(value: float, wanted: float) -> None:
    x = data()

    def number(dtype: str, given: float) -> Any:
        return lambda: layers.fill_constant([1], dtype, given)

    found = [
        layers.cond(x > 0.0, number("float32", 1.5), number("int32", 3)),
        layers.case([(x > 0.0, number("float32", 1.5))], default=number("int64", 3)),
        layers.cond(x < 0.0, number("int32", 3), number("float32", 1.5)),
    ]
    got = fluid.Executor().run(feed={"x": np.array([value], np.float32)}, fetch_list=found)
    assert [each.item() for each in got] == [wanted] * 3


def test_one_number_is_not_spread_to_the_sizes_of_the_other_branch() -> None:
    x = data()
    many, one = layers.fill_constant([2, 3], "float32", 1.0), layers.fill_constant([1], "float32", 2.0)
    found = layers.cond(x > 0.0, lambda: many, lambda: one)
    (total,) = fluid.Executor().run(
        feed={"x": np.array([-1.0], np.float32)}, fetch_list=[layers.reduce_sum(found)]
    )
    assert float(total) == 2.0


@pytest.mark.parametrize(("value", "learned"), [(1.0, 2.0), (-1.0, 2.1)])
def test_a_branch_of_numbers_keeps_the_other_from_learning_only_when_it_is_taken(
    value: float, learned: float
) -> None:
    x = data()
    begin = fluid.initializer.Constant(2.0)
    found = layers.cond(
        x > 0.0,
        lambda: layers.fill_constant([1], "float32", 1.0),
        lambda: x * layers.create_parameter([1], "float32", name="w", default_initializer=begin),
    )
    fluid.optimizer.SGD(0.1).minimize(layers.mean(found))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": np.array([value], np.float32)})
    held = np.array(fluid.global_scope().find_var("w").get_tensor())
    np.testing.assert_allclose(held, [learned], rtol=1e-6)


def test_branches_that_give_not_alike_are_refused() -> None:
    x = data()
    one = layers.fill_constant([1], "float32", 1.0)
    for yes, no in ((lambda: one, None), (lambda: one, lambda: (one, one)), (lambda: [one], lambda: 3)):
        with pytest.raises(ValueError, match="cond"):
            layers.cond(x > 0.0, yes, no)
    with pytest.raises(TypeError, match="true_fn"):
        layers.cond(x > 0.0, one, lambda: one)
    with pytest.raises(TypeError, match="bool"), layers.Switch() as switch, switch.case(x):
        pass


def test_the_highest_number_stands_for_all_others() -> None:
    index = layers.fill_constant([1], "int32", 5)
    functions = [(at, lambda at=at: layers.fill_constant([1], "int32", at)) for at in (1, 3, 2)]
    (found,) = fluid.Executor().run(fetch_list=[layers.switch_case(index, functions)])
    assert int(found) == 3
    with pytest.raises(ValueError, match="two functions for 3"):
        layers.switch_case(index, [*functions, functions[1]])


def test_what_the_last_function_makes_is_named_first() -> None:
    x, index = layers.data("x", [3]), layers.fill_constant([1], "int32", 1)
    widths = {0: 2, 1: 4, 2: 5}
    layers.switch_case(
        index, {at: lambda n=n: layers.reduce_sum(layers.fc(x, n)) for at, n in widths.items()}
    )
    made = {each.name: each.shape for each in fluid.default_main_program().all_parameters()}
    assert [made[f"fc_{at}.w_0"][1] for at in range(3)] == [4, 2, 5]  # as 1.8.5: the last stands for others


def test_training_in_a_branch_is_refused() -> None:
    """It had been done in any case."""
    x = data()
    loss = layers.mean(layers.fc(layers.reshape(x, [1, 1]), 1))
    with pytest.raises(ValueError, match="within a branch"):
        layers.cond(x > 0.0, lambda: fluid.optimizer.SGD(0.1).minimize(loss))
