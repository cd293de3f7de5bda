"""What was run is let go: programs, scopes and executors that nobody else holds."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadProgram

X = {"x": np.ones((2, 3), np.float32)}


@pytest.fixture(scope="module", autouse=True)
def _what_was_there() -> Iterator[None]:
    """It is not looked through: what other tests of this process have left makes each collection last."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _names() -> Any:
    with fluid.unique_name.guard(), fluid.scope_guard(fluid.executor.Scope()):
        yield


def straight(x: Any) -> Any:
    return fluid.layers.mean(fluid.layers.fc(x, 1))


def with_a_function(x: Any) -> Any:
    out = fluid.default_main_program().current_block().create_var("out", shape=[-1, 1], dtype="float32")
    hidden = fluid.layers.fc(x, 1)
    fluid.layers.py_func(lambda given: np.asarray(given) * 2, hidden, out)
    return fluid.layers.mean(hidden) + fluid.layers.mean(out)


def with_a_loop(x: Any) -> Any:
    count = fluid.layers.fill_constant([1], "int64", 0)
    most = fluid.layers.fill_constant([1], "int64", 3)
    is_less = fluid.layers.less_than(count, most)
    loop = fluid.layers.While(is_less)
    with loop.block():
        fluid.layers.increment(count)
        fluid.layers.less_than(count, most, cond=is_less)
    return fluid.layers.mean(fluid.layers.fc(x, 1)) + fluid.layers.cast(count, "float32")


def with_a_loop_that_learns(x: Any) -> Any:
    count = fluid.layers.fill_constant([1], "int64", 0)
    most = fluid.layers.fill_constant([1], "int64", 3)
    hidden = fluid.layers.fc(x, 3)
    moments = fluid.layers.array_write(hidden, count)
    is_less = fluid.layers.less_than(count, most)
    loop = fluid.layers.While(is_less)
    with loop.block():
        before = fluid.layers.array_read(moments, count)
        fluid.layers.increment(count)
        fluid.layers.array_write(fluid.layers.fc(before, 3, param_attr="w"), count, moments)
        fluid.layers.less_than(count, most, cond=is_less)
    return fluid.layers.mean(fluid.layers.array_read(moments, count))


def with_branches(x: Any) -> Any:
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    return fluid.layers.cond(loss > 0.0, lambda: loss, lambda: loss * 2.0)


def with_a_recurrence(x: Any) -> Any:
    rnn, moments = fluid.layers.StaticRNN(), fluid.layers.reshape(x, [3, 2, 1])
    with rnn.step():
        step = rnn.step_input(moments)
        before = rnn.memory(shape=[-1, 1], batch_ref=step)
        after = fluid.layers.fc([step, before], 1)
        rnn.update_memory(before, after)
        rnn.step_output(after)
    return fluid.layers.mean(rnn())


def shown(x: Any) -> Any:
    return fluid.layers.mean(fluid.layers.Print(fluid.layers.fc(x, 1)))


def written(network: Callable[[Any], Any], learns: bool = True) -> tuple[fluid.Program, fluid.Program, Any]:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        loss = network(fluid.layers.data("x", [3]))
        if learns:
            fluid.optimizer.Adam(0.1).minimize(loss)
    return main, startup, loss.name


NETWORKS = [
    straight,
    with_a_function,
    with_a_loop,
    with_a_loop_that_learns,
    with_branches,
    with_a_recurrence,
    shown,
]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.__name__)
def test_a_program_goes_when_nobody_holds_it(network: Callable[[Any], Any]) -> None:
    main, startup, loss = written(network)
    exe = fluid.Executor()
    exe.run(startup)
    exe.run(main, feed=X, fetch_list=[loss])
    exe.run(main.clone(for_test=True), feed=X, fetch_list=[loss])
    held = [weakref.ref(main), weakref.ref(startup)]
    del main, startup
    gc.collect()
    assert [each() for each in held] == [None, None]
    assert not list(exe._programs)
    assert not [p for programs in fluid.global_scope().ready.values() for p in programs]


def test_copies_of_a_program_do_not_stay_with_the_scope_that_they_ran_in() -> None:
    main, startup, loss = written(straight)
    exe = fluid.Executor()
    exe.run(startup)
    exe.run(main, feed=X, fetch_list=[loss])
    runner = next(iter(fluid.global_scope().keepers.values())).runner
    before = len(runner._programs)
    for _ in range(3):
        exe.run(main.clone(), feed=X, fetch_list=[loss])
    gc.collect()
    assert len(runner._programs) == before


def test_a_scope_goes_with_all_that_it_holds() -> None:
    main, startup, loss = written(straight)
    exe, held = fluid.Executor(), []
    for _ in range(3):
        scope = fluid.executor.Scope()
        with fluid.scope_guard(scope):
            exe.run(startup)
            exe.run(main, feed=X, fetch_list=[loss])
        held.append(weakref.ref(scope))
        del scope
    gc.collect()
    assert [each() for each in held] == [None] * 3


def test_an_executor_goes_with_what_it_made_ready() -> None:
    main, startup, loss = written(straight)
    exe = fluid.Executor()
    exe.run(startup)
    exe.run(main, feed=X, fetch_list=[loss])
    held = weakref.ref(exe)
    del exe
    gc.collect()
    assert held() is None
    assert not list(fluid.global_scope().ready)


def test_what_is_run_for_one_list_of_fetches_after_another_is_bounded() -> None:
    main, startup, _ = written(straight)
    exe = fluid.Executor()
    exe.run(startup)
    names = [
        name
        for name in ("mean_0.tmp_0", "fc_0.tmp_0", "fc_0.w_0", "fc_0.b_0")
        if main.global_block().has_var(name)
    ]
    for number in range(100):
        exe.run(main, feed=X, fetch_list=[names[number >> at & 1] for at in range(7)])
    (programs,) = (of[main] for of in fluid.global_scope().ready.values() if main in of)
    assert len(programs.ready) <= 64


def test_a_function_goes_with_the_programs_that_call_it() -> None:
    held: list[weakref.ref[Any]] = []

    def network(x: Any) -> Any:
        def double(given: Any) -> np.ndarray:
            return np.asarray(given) * 2

        held.append(weakref.ref(double))
        out = fluid.default_main_program().current_block().create_var("out", shape=[-1, 3], dtype="float32")
        return fluid.layers.mean(fluid.layers.py_func(double, x, out))

    main, startup, loss = written(network, learns=False)
    assert fluid.Executor().run(main.clone(), feed=X, fetch_list=[loss])[0] == 2.0
    del main, startup
    gc.collect()
    assert [each() for each in held] == [None]


def test_a_program_that_was_read_has_no_functions_and_says_so() -> None:
    main, startup, _ = written(with_a_function, learns=False)
    read = fluid.Program.parse_from_string(main.serialize_to_string())
    exe = fluid.Executor()
    exe.run(startup)
    with pytest.raises(BadProgram, match="a function of the process that wrote this program"):
        exe.run(read, feed=X, fetch_list=["out"])
