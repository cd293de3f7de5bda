"""A program that is run again as it was run before is looked at no more than is needed; what was changed in
between is seen all the same. The model is linear, so that what a run gives is known."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from gc import collect
from typing import Any
from weakref import ref

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._engine import executor
from paddle._engine.profile import Profile, switch
from paddle._program import upstream_flags
from paddle._program.description.written import fresh
from paddle._program.errors import BadFeed, NotFinite, NotInitialized

X = np.arange(6, dtype=np.float32).reshape(2, 3)
RATE = 0.125


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


class Line:
    """x w, its mean, and SGD; w is 1, 1, 1 at first. It was run three times when it is given."""

    def __init__(self, optimizer: Any = None) -> None:
        begin = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(1.0))
        x = fluid.layers.data("x", [3])
        self.given = fluid.layers.fc(x, 1, param_attr=begin, bias_attr=False)
        self.loss = fluid.layers.mean(self.given)
        self.test = fluid.default_main_program().clone(for_test=True)
        (optimizer or fluid.optimizer.SGD(RATE)).minimize(self.loss)
        self.main, self.exe = fluid.default_main_program(), fluid.Executor()
        self.begin()
        for _ in range(3):
            self.step()

    def begin(self) -> None:
        self.exe.run(fluid.default_startup_program())

    def step(self, x: Any = X, fetch: Any = None, **options: Any) -> list[Any]:
        return self.exe.run(feed={"x": x}, fetch_list=[self.loss] if fetch is None else fetch, **options)

    def check(self, x: np.ndarray = X) -> None:
        """A step gives, and leaves, what it should."""
        before = weight()
        np.testing.assert_allclose(self.step(x)[0], [(x @ before).mean()], rtol=1e-5)
        moved = x.mean(0, dtype=np.float32)[:, None] * np.float32(RATE)
        np.testing.assert_allclose(weight(), before - moved, rtol=1e-5, atol=1e-6)


def tensor(name: str = "w") -> Any:
    return fluid.global_scope().find_var(name).get_tensor()


def weight() -> np.ndarray:
    return np.array(tensor())


def test_other_sizes_and_dtypes_are_what_they_are() -> None:
    line = Line()
    for x in (X, np.ones((5, 3), np.float32), X, X.astype(np.float64) + 0.5, X.astype(np.int32), X):
        line.check(x)
        line.check(x)


def test_numbers_that_are_none_are_refused_behind_such_that_are() -> None:
    line = Line()
    for wrong in (X.astype(np.complex64), np.ones((2, 4), np.float32)):
        before = weight()
        with pytest.raises(BadFeed, match=r"data .*x"):
            line.step(wrong)
        np.testing.assert_array_equal(weight(), before)
        line.check()
    with pytest.raises(ValueError, match="no numbers"):
        line.step(np.array([["a", "b", "c"]]))
    with pytest.raises(ValueError, match="x"):
        line.exe.run(feed={}, fetch_list=[line.loss])
    line.check()


def test_what_is_fed_is_read_at_every_step() -> None:
    line, x = Line(), X.copy()
    line.check(x)
    x += 1.0
    line.check(x)
    assert float(line.step([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])[0]) == pytest.approx(
        float((np.array([[1.0, 2.0, 3.0]]) @ (weight() + np.array([[1.0], [2.0], [3.0]]) * RATE)).item())
    )
    line.exe.run(feed={fluid.default_main_program().global_block().var("x"): x}, fetch_list=[line.loss])
    line.check(line.step(x, fetch=["x"])[0])


def test_other_fetches_are_given_in_between() -> None:
    line = Line()
    for fetch in ([], [line.given, line.loss], ["w"], line.loss, (line.loss.name, line.loss), None):
        before = weight()
        known = {line.given.name: X @ before, line.loss.name: [(X @ before).mean()], "w": None}
        for value, name in zip(line.step(fetch=fetch), _names(fetch, line), strict=True):
            np.testing.assert_allclose(value, weight() if name == "w" else known[name], rtol=1e-5)
        line.check()


def _names(fetch: Any, line: Line) -> list[str]:
    several = [line.loss] if fetch is None else fetch if isinstance(fetch, list | tuple) else [fetch]
    return [each if isinstance(each, str) else each.name for each in several]


def test_what_was_fetched_is_the_callers() -> None:
    line, x = Line(), X.copy()
    for fetch in ([line.given, "w"], [line.given, "x"]):
        line.step(x, fetch=fetch)
        first = line.step(x, fetch=fetch)
        kept = [np.array(each) for each in first]
        x += 1.0
        line.step(x, fetch=fetch)
        for was, value in zip(kept, first, strict=True):
            np.testing.assert_array_equal(value, was)
            value[...] = 7.0
        line.check(x)
    (tensor_of_rows,) = line.step(fetch=[line.given], return_numpy=False)
    assert isinstance(tensor_of_rows, fluid.LoDTensor)


def test_a_program_that_was_changed_is_run_as_it_is() -> None:
    line = Line()
    doubled = fluid.layers.scale(line.loss, 2.0)
    before = weight()
    assert float(line.step(fetch=[doubled])[0]) == pytest.approx(2 * (X @ before).mean(), rel=1e-5)
    (op,) = [op for op in line.main.global_block().ops if op.type == "scale"]
    for factor in (3.0, 4.0):
        op._set_attr("scale", factor)
        before = weight()
        assert float(line.step(fetch=[doubled])[0]) == pytest.approx(factor * (X @ before).mean(), rel=1e-5)
    line.main.global_block()._remove_op(line.main.global_block().ops.index(op))
    line.check()


def test_a_seed_that_was_changed_is_drawn_from() -> None:
    drawn = fluid.layers.uniform_random([4])
    main, exe = fluid.default_main_program(), fluid.Executor()
    found = []
    for seed in (3, 3, 4, 3):
        main.random_seed = seed
        exe = fluid.Executor()
        found.append([np.array(exe.run(main, fetch_list=[drawn])[0]) for _ in range(3)])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[3])
    assert not np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0][1], found[0][2])


def test_each_scope_has_its_own_values() -> None:
    line, other = Line(), fluid.executor.Scope()
    here = weight()
    with fluid.scope_guard(other):
        line.begin()
        for _ in range(3):
            line.check()
    np.testing.assert_array_equal(weight(), here)
    line.check()
    there = np.array(other.find_var("w").get_tensor())
    line.step(scope=other)
    assert not np.array_equal(np.array(other.find_var("w").get_tensor()), there)
    line.check()
    with pytest.raises(NotInitialized, match="startup"):
        line.step(scope=fluid.executor.Scope())
    line.check()


def test_values_that_were_set_are_computed_with() -> None:
    line = Line()
    tensor().set(np.full((3, 1), 2.0, np.float32), None)
    line.check()
    np.copyto(tensor().array(), 3.0)
    line.check()
    tensor().set(np.full((1, 3), 4.0, np.float32), None)  # another array
    tensor().set(np.full((3, 1), 5.0, np.float32), None)
    line.check()
    np.testing.assert_allclose(weight(), 5.0 - X.mean(0)[:, None] * RATE, rtol=1e-6)
    line.begin()
    line.check()
    np.testing.assert_allclose(weight(), 1.0 - X.mean(0)[:, None] * RATE, rtol=1e-6)


def test_copies_and_parts_run_in_between() -> None:
    line = Line()
    for _ in range(3):
        before = weight()
        for program in (line.test, line.main.clone(for_test=True)):
            (found,) = line.exe.run(program, feed={"x": X}, fetch_list=[line.loss])
            np.testing.assert_allclose(found, [(X @ before).mean()], rtol=1e-5)
        np.testing.assert_array_equal(weight(), before)
        line.step(use_prune=True)
        line.exe.run(line.main.clone(), feed={"x": X}, fetch_list=[line.loss.name])
        line.exe.run(fluid.CompiledProgram(line.main), feed={"x": X}, fetch_list=[line.loss])
        line.exe.run(line.main._prune([line.loss]), feed={"x": X}, fetch_list=[line.loss])
        np.testing.assert_allclose(weight(), before - 3 * RATE * X.mean(0)[:, None], rtol=1e-5)
        line.check()


def test_other_executors_and_threads_run_in_between() -> None:
    line, other = Line(), fluid.Executor()
    before = weight()
    thread = threading.Thread(target=lambda: [line.step() for _ in range(2)])
    thread.start()
    thread.join()
    for _ in range(2):
        other.run(feed={"x": X}, fetch_list=[line.loss])
    np.testing.assert_allclose(weight(), before - 4 * RATE * X.mean(0)[:, None], rtol=1e-5)
    line.check()
    line.exe.close()
    with pytest.raises(ValueError, match="closed"):
        line.step()


def test_a_flag_and_a_profile_are_heeded_at_once() -> None:
    line, profile = Line(), Profile()
    switch(profile)
    try:
        line.check()
        line.check()
    finally:
        switch(None)
    line.check()
    assert profile.runs == 2
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(NotFinite):
            line.step(np.full_like(X, np.inf))
    finally:
        upstream_flags._set.pop("FLAGS_check_nan_inf")
        upstream_flags.checks_finite.cache_clear()


def test_a_learning_rate_is_what_was_said_last() -> None:
    line = Line()
    (rate,) = [name for name in fluid.global_scope().local_var_names() if "learning_rate" in name]
    for told in (0.5, 0.25):
        tensor(rate).set(np.array([told], np.float32), None)
        before = weight()
        line.step()
        np.testing.assert_allclose(weight(), before - told * X.mean(0)[:, None], rtol=1e-5)


def test_a_rate_that_the_program_drives_is_asked_for_at_every_step() -> None:
    paddle.enable_static()
    schedule = paddle.optimizer.lr.StepDecay(0.5, 1, 0.5)
    line = Line(paddle.optimizer.SGD(schedule))
    for told in (0.5, 0.25, 0.125):
        before = weight()
        line.step()
        np.testing.assert_allclose(weight(), before - told * X.mean(0)[:, None], rtol=1e-5)
        schedule.step()


def test_a_step_is_counted_from_where_the_program_has_said() -> None:
    line = Line(fluid.optimizer.Adam(0.1, epsilon=0.0))
    names = fluid.global_scope().local_var_names()
    kept = {name: np.array(tensor(name)) for name in names if "moment" in name or "pow" in name}
    moved = []
    for _ in range(2):
        for name, value in kept.items():
            tensor(name).set(value, None)
        tensor().set(np.ones((3, 1), np.float32), None)
        line.step(X + 1.0)
        line.step(X)
        moved.append(weight())
    np.testing.assert_array_equal(moved[0], moved[1])


def test_what_operators_write_outlives_each_run() -> None:
    x = fluid.layers.data("x", [3])
    loss = fluid.layers.mean(fluid.layers.batch_norm(x, momentum=0.5, moving_mean_name="mean"))
    count = fluid.layers.autoincreased_step_counter()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    mean = np.zeros(3, np.float32)
    for step in range(1, 6):
        found = exe.run(feed={"x": X * step}, fetch_list=[loss, count])
        mean = (mean + X.mean(0) * step) / 2
        np.testing.assert_allclose(np.array(tensor("mean")), mean, rtol=1e-5)
        assert int(found[1]) == step
    tensor("mean").set(np.zeros(3, np.float32), None)
    exe.run(feed={"x": X}, fetch_list=[loss])
    np.testing.assert_allclose(np.array(tensor("mean")), X.mean(0) / 2, rtol=1e-6)


def test_what_is_written_to_a_variable_that_outlives_a_run_is_there_after_each() -> None:
    x = fluid.layers.data("x", [3])
    last = fluid.layers.create_global_var([2, 3], 0.0, "float32", persistable=True, name="last")
    fluid.layers.assign(x, last)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for step in range(1, 5):
        exe.run(feed={"x": X * step})
        np.testing.assert_array_equal(np.array(tensor("last")), X * step)


def test_each_of_two_optimizers_has_its_own_rate_at_every_step() -> None:
    x, begin = fluid.layers.data("x", [3]), fluid.initializer.Constant(1.0)
    rates = {"w": 0.5, "v": 0.125}
    for name, rate in rates.items():
        weights = fluid.ParamAttr(name=name, initializer=begin)
        cost = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr=weights, bias_attr=False))
        told = fluid.layers.create_global_var([1], rate, "float32", persistable=True, name=f"rate of {name}")
        fluid.optimizer.SGD(told).minimize(cost, parameter_list=[name])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in range(4):
        before = {name: np.array(tensor(name)) for name in rates}
        exe.run(feed={"x": X})
        for name, rate in rates.items():
            wanted = before[name] - rate * X.mean(0)[:, None]
            np.testing.assert_allclose(np.array(tensor(name)), wanted, rtol=1e-5)
            rates[name] = rate / 2
            tensor(f"rate of {name}").set(np.array([rate / 2], np.float32), None)


def test_a_rate_that_the_program_computes_falls_at_every_step() -> None:
    line, rate = Line(fluid.optimizer.SGD(fluid.layers.exponential_decay(0.5, 1, 0.5))), 0.5**4
    for _ in range(3):
        before = weight()
        line.step()
        np.testing.assert_allclose(weight(), before - rate * X.mean(0)[:, None], rtol=1e-5)
        rate /= 2


def test_sequences_and_arrays_may_come_in_turns() -> None:
    total = fluid.layers.reduce_sum(fluid.layers.data("words", [1], lod_level=1))
    exe, rows = fluid.Executor(), np.arange(5, dtype=np.float32)[:, None]
    for lengths in ([2, 3], [2, 3], [1, 4], [5]):
        fed = fluid.create_lod_tensor(rows, [lengths], None)
        for given in (fed, fed, rows, rows, fluid.LoDTensor(rows)):
            assert float(exe.run(feed={"words": given}, fetch_list=[total])[0]) == 10.0


def test_sequences_begin_where_each_feed_says() -> None:
    words = fluid.layers.data("words", [1], lod_level=1)
    sums = fluid.layers.sequence_pool(words, "sum")
    exe, rows = fluid.Executor(), np.arange(5, dtype=np.float32)[:, None]
    for lengths in ([2, 3], [2, 3], [3, 2], [1, 4]):
        fed = fluid.create_lod_tensor(rows, [lengths], None)
        (found,) = exe.run(feed={"words": fed}, fetch_list=[sums])
        np.testing.assert_allclose(found, np.add.reduceat(rows, [0, lengths[0]]), rtol=1e-6)
        with pytest.raises(BadFeed, match="sequences"):
            exe.run(feed={"words": rows}, fetch_list=[sums])


def _of_ids(fetch: Callable[[Any], Any]) -> Any:
    ids = fluid.layers.data("ids", [1], dtype="int64")
    return fetch(fluid.layers.embedding(ids, [4, 2], param_attr=fluid.initializer.Constant(1.0)))


def test_ids_that_no_row_has_are_refused_behind_such_that_have_one() -> None:
    loss = _of_ids(fluid.layers.reduce_sum)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    good = np.array([[0], [3]])
    for _ in range(3):
        assert float(exe.run(feed={"ids": good}, fetch_list=[loss])[0]) == 4.0
    for wrong in (np.array([[0], [4]]), np.array([[0], [-1]])):
        with pytest.raises(BadFeed, match="test_asked_again"):
            exe.run(feed={"ids": wrong}, fetch_list=[loss])
    for dtype in (np.float32, np.int32, np.uint64):
        assert float(exe.run(feed={"ids": good.astype(dtype)}, fetch_list=[loss])[0]) == 4.0
    with pytest.raises(BadFeed):
        exe.run(feed={"ids": good.astype(np.float32) + 0.5}, fetch_list=[loss])
    with pytest.raises(BadFeed, match="holds"):
        exe.run(feed={"ids": np.array([[0], [1 << 63]], np.uint64)}, fetch_list=[loss])
    assert float(exe.run(feed={"ids": good}, fetch_list=[loss])[0]) == 4.0


def test_a_program_that_is_not_run_again_keeps_no_memory_that_was_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A larger batch of another program takes a larger arena, which all that is run here shares."""
    line, plans = Line(), []
    monkeypatch.setattr(executor, "_watcher", lambda program, plan: plans.append(ref(plan)))
    line.exe.run(line.test, {"x": X}, [line.given])
    line.exe.run(fed := line.test.clone(), {"x": np.ones((50000, 3), np.float32)}, [line.given.name])
    collect()
    assert [plan() is None for plan in plans] == [True, False]
    assert fed is not None
