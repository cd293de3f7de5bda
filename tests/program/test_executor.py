"""What Executor.run is told beside the program, and what it makes of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._program.description.written import fresh

FEED = {"x": np.ones((2, 3), np.float32)}


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def ready() -> tuple[fluid.Executor, Any, Any]:
    loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("x", [3]), 1, param_attr="w"))
    step = fluid.layers.autoincreased_step_counter()
    made = fluid.optimizer.SGD(fluid.layers.cast(step, "float32") * 0.0 + 0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, loss, made


def weight() -> np.ndarray:
    found = fluid.global_scope().find_var("w")
    assert found is not None
    return np.array(found.get_tensor())


def test_a_pruned_run_learns_and_computes_what_is_fetched_alone() -> None:
    exe, loss, _ = ready()
    before = weight()
    other = fluid.layers.fc(fluid.layers.data("y", [3]), 1)  # fetched by nobody, and fed nothing
    exe.run(fluid.default_startup_program())
    fluid.global_scope().find_var("w").get_tensor().set(before)
    for step in (1, 2):
        exe.run(feed=FEED, fetch_list=[loss], use_prune=True)
        np.testing.assert_allclose(weight(), before - 0.1 * step, rtol=1e-5)
    assert len(fluid.default_main_program()._twins) == 1
    test = fluid.default_main_program().clone(for_test=True)
    exe.run(test, feed=FEED, fetch_list=[loss], use_prune=True)
    np.testing.assert_allclose(weight(), before - 0.2, rtol=1e-5)
    with pytest.raises(ValueError, match="y"):
        exe.run(feed=FEED, fetch_list=[other], use_prune=True)


def test_a_pruned_run_learns_where_updates_are_fetched() -> None:
    exe, loss, made = ready()
    before = weight()
    assert len(exe.run(feed=FEED, fetch_list=[loss, made], use_prune=True)) == 1
    np.testing.assert_allclose(weight(), before - 0.1, rtol=1e-6)
    exe.run(feed=FEED, fetch_list=[loss.name, *made[0]], use_prune=True)
    np.testing.assert_allclose(weight(), before - 0.2, rtol=1e-6)
    assert len(exe.run(feed=FEED, fetch_list=[[loss], made])) == 1  # it says itself that it is pruned
    np.testing.assert_allclose(weight(), before - 0.3, rtol=1e-5)


def test_of_two_optimizers_of_one_parameter_the_one_that_is_fetched_moves_it() -> None:
    weight_of_two = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(1.0))
    chosen = fluid.layers.fc(fluid.layers.data("x", [3]), 1, param_attr=weight_of_two, bias_attr=False)
    rise, fall = fluid.layers.mean(chosen), fluid.layers.mean(chosen * -1.0)
    one = fluid.optimizer.SGD(0.5).minimize(rise)
    copied = fluid.default_main_program().clone()
    other, _ = fluid.optimizer.SGD(0.25).minimize(fall)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed=FEED, fetch_list=[rise, one])
    np.testing.assert_allclose(weight(), np.full((3, 1), 0.5))
    exe.run(feed=FEED, fetch_list=[rise, other])
    np.testing.assert_allclose(weight(), np.full((3, 1), 0.75))
    for pruned in (True, False):  # nobody says which: both
        exe.run(feed=FEED, fetch_list=[rise], use_prune=pruned)
    np.testing.assert_allclose(weight(), np.full((3, 1), 0.25))
    exe.run(copied, feed=FEED, fetch_list=[rise, one])  # it has a copy of them
    np.testing.assert_allclose(weight(), np.full((3, 1), -0.25))
    with pytest.raises(ValueError, match="own operators, and 'sgd'"):
        exe.run(copied, feed=FEED, fetch_list=[rise, other])


def test_two_optimizers_of_one_program_move_what_each_is_told_though_one_reads_what_the_other_moves() -> None:
    def named(name: str, value: float) -> fluid.ParamAttr:
        return fluid.ParamAttr(name=name, initializer=fluid.initializer.Constant(value))

    made = fluid.layers.fc(fluid.layers.data("x", [3]), 4, param_attr=named("maker", 0.1), bias_attr=False)
    judged = fluid.layers.fc(made, 1, param_attr=named("w", 0.5), bias_attr=False)
    up, down = fluid.layers.mean(judged), fluid.layers.mean(judged * -1.0)
    fluid.optimizer.SGD(0.5).minimize(up, parameter_list=["w"])
    fluid.optimizer.SGD(0.5).minimize(down, parameter_list=["maker"])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed=FEED)
    moved = 0.5 - 0.5 * 0.3  # by what the maker made, 0.1 of three ones
    np.testing.assert_allclose(weight(), np.full((4, 1), moved), rtol=1e-6)
    maker = fluid.global_scope().find_var("maker")
    assert maker is not None
    np.testing.assert_allclose(np.array(maker.get_tensor()), np.full((3, 4), 0.1 + 0.5 * 0.5), rtol=1e-6)


def test_two_optimizers_that_are_applied_behind_all_gradients_both_move_a_parameter() -> None:
    weight_of_two = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(1.0))
    chosen = fluid.layers.fc(fluid.layers.data("x", [3]), 1, param_attr=weight_of_two, bias_attr=False)
    several = fluid.optimizer.SGD(0.5), fluid.optimizer.SGD(0.25)
    losses = fluid.layers.mean(chosen), fluid.layers.mean(chosen * -1.0)
    pairs = [each.backward(loss) for each, loss in zip(several, losses, strict=True)]
    for each, own in zip(several, pairs, strict=True):
        each.apply_gradients(own)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed=FEED)
    np.testing.assert_allclose(weight(), np.full((3, 1), 0.75))


def test_a_pruned_run_refuses_to_learn_by_what_is_not_fed() -> None:
    hidden = fluid.layers.fc(fluid.layers.data("x", [3]), 2)
    loss = fluid.layers.mean(hidden)
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {hidden.name: np.ones((2, 2), np.float32)}
    with pytest.raises(ValueError, match=r"learn by 'x' .*not fed"):
        exe.run(feed=feed, fetch_list=[loss], use_prune=True)
    test = fluid.default_main_program().clone(for_test=True)
    assert exe.run(test, feed=feed, fetch_list=[loss], use_prune=True)[0].item() == 1.0


@pytest.mark.parametrize("given", [0, 2, 0.5, [3.0], np.float64(1.5)])
def test_numbers_that_are_fed_have_the_dtype_of_their_variable(given: Any) -> None:
    rate = fluid.layers.data("rate", [1], append_batch_size=False)
    count = fluid.layers.data("count", [1], append_batch_size=False, dtype="int64")
    for as_arrays in (True, False):
        feed = {"rate": given, "count": 4}
        found = fluid.Executor().run(feed=feed, fetch_list=[rate, rate * 2.0, count], return_numpy=as_arrays)
        told, twice, counted = (np.array(each) for each in found)
        assert (told.dtype, told.shape, told.item()) == (np.float32, (1,), np.ravel(given)[0])
        assert twice.item() == 2 * told.item()
        assert (counted.dtype, counted.tolist()) == (np.int64, [4])


@pytest.mark.parametrize("wrong", ["feeds", "fetchlist", "batch_size"])
def test_a_word_that_is_none_of_its_own_is_refused(wrong: str) -> None:
    exe, loss, _ = ready()
    with pytest.raises(TypeError, match=wrong):
        exe.run(feed=FEED, fetch_list=[loss], **{wrong: FEED})


def test_the_words_of_all_releases_are_known() -> None:
    exe, loss, _ = ready()
    words = {"feed_var_name": "feed", "fetch_var_name": "fetch", "use_program_cache": True}
    (found,) = exe.run(feed=FEED, fetch_list=[loss], return_merged=False, **words)
    assert found.shape == (1,)


def test_a_copy_made_before_an_optimizer_drives_no_rate_of_its_own() -> None:
    with paddle.static.program_guard(fluid.default_main_program(), fluid.default_startup_program()):
        paddle.enable_static()
        loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("x", [3]), 1))
        before = fluid.default_main_program().clone(for_test=True)
        paddle.optimizer.SGD(paddle.optimizer.lr.ExponentialDecay(0.1, 0.5)).minimize(loss)
        paddle.disable_static()
    assert len(fluid.default_main_program()._rates) == 1
    assert before._rates == {}


def test_a_value_that_nobody_reads_is_told_once() -> None:
    exe, loss, _ = ready()
    for expected in (1, 0):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            exe.run(feed={**FEED, "z": np.ones(1)}, fetch_list=[loss])
        here = [str(one.message) for one in told if one.filename == __file__]
        assert len(here) == expected and all("feed gives 'z'" in text for text in here)


def test_what_is_fed_to_a_variable_that_outlives_a_run_stays_there() -> None:
    exe, loss, _ = ready()
    exe.run(fluid.default_main_program(), feed=FEED, fetch_list=[loss])
    test = fluid.default_main_program().clone(for_test=True)
    given = np.array([[1.0], [2.0], [3.0]], np.float32)
    bias = np.zeros(1, np.float32)
    name = next(each.name for each in test.all_parameters() if each.name != "w")
    held, found = exe.run(test, feed={**FEED, "w": given, name: bias}, fetch_list=["w", loss])
    np.testing.assert_array_equal(held, given)
    assert float(found) == 6.0
    assert float(exe.run(test, feed=FEED, fetch_list=[loss])[0]) == 6.0


def test_what_a_run_makes_of_a_fed_variable_that_outlives_it_is_fetched() -> None:
    x = fluid.data("x", [1])
    x.persistable = True
    fluid.default_main_program().global_block().append_op(
        "scale", inputs={"X": [x]}, outputs={"Out": [x]}, attrs={"bias": 1.0}
    )
    exe = fluid.Executor()
    assert float(exe.run(feed={"x": np.array([-1.0], np.float32)}, fetch_list=[x])[0]) == 0.0
    assert float(exe.run(fetch_list=[x])[0]) == 1.0


@pytest.mark.parametrize("wrong", [None, "abc", [None], np.array([[1], [2, 3]], dtype=object)])
def test_what_is_fed_and_holds_no_numbers_is_refused_by_name(wrong: Any) -> None:
    loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("rows", [4]), 1))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.raises(ValueError, match=r"feed gives 'rows' no numbers \(dtype .*\) but "):
        exe.run(feed={"rows": wrong}, fetch_list=[loss])
