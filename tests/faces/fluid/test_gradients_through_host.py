"""Gradients that go through loops, arrays of tensors, rank tables and functions of Python, against central
differences of the whole program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadProgram
from tests.faces.fluid.numeric import assert_gradients

layers = fluid.layers
X = np.random.default_rng(4).normal(size=(3, 4)).astype(np.float32)
ROWS = np.random.default_rng(5).normal(size=(6, 3)).astype(np.float32)


def fc(x: Any, size: int, name: str) -> Any:
    return layers.fc(x, size, param_attr=name, bias_attr=False)


def goes_round(times: int, body: Callable[[Any], None]) -> None:
    i, n = layers.zeros([1], "int64"), layers.fill_constant([1], "int64", times)
    going = layers.less_than(i, n)
    loop = layers.While(going)
    with loop.block():
        body(i)
        layers.less_than(i, n, cond=going)


def through_an_array() -> Any:
    i = layers.zeros([1], "int64")
    array = layers.array_write(fc(layers.data("x", [4]), 4, "w"), i)
    again = layers.array_read(array, i)
    return layers.mean(layers.square(fc(again, 1, "v") + layers.reduce_sum(layers.array_read(array, i))))


def written_over() -> Any:
    """What an element was before it was written again has no share in the loss."""
    i = layers.zeros([1], "int64")
    x = layers.data("x", [4])
    array = layers.array_write(fc(x, 4, "w"), i)
    first = layers.array_read(array, i)
    layers.array_write(layers.tanh(fc(x, 4, "v")), i, array)
    return layers.mean(layers.array_read(array, i) * first)


def of_array_elements() -> Any:
    """A loop whose state lies in an array, as people wrote them before there were others."""
    i = layers.zeros([1], "int64")
    array = layers.array_write(fc(layers.data("x", [4]), 4, "w"), i)

    def body(i: Any) -> None:
        before = layers.array_read(array, i)
        layers.increment(i, 1, in_place=True)
        layers.array_write(layers.tanh(fc(before, 4, "u") + before), i, array)

    goes_round(3, body)
    joined = layers.tensor_array_to_tensor(array, axis=1)[0]
    return layers.mean(layers.square(joined))


def in_place() -> Any:
    """A loop that gives a variable from around it another value each time."""
    state = fc(layers.data("x", [4]), 4, "w")

    def body(i: Any) -> None:
        layers.assign(layers.tanh(fc(state, 4, "u")), state)
        layers.increment(i, 1, in_place=True)

    goes_round(3, body)
    return layers.mean(layers.square(fc(state, 1, "v")))


def beside_a_loop() -> Any:
    """No gradient goes through the loop: what it has computed is a factor of one."""
    h = fc(layers.data("x", [4]), 4, "w")
    factor = layers.fill_constant([1], "float32", 1.0)

    def body(i: Any) -> None:
        layers.assign(factor * 2.0, factor)
        layers.increment(i, 1, in_place=True)

    goes_round(3, body)
    return layers.mean(layers.square(layers.elementwise_mul(h, factor)))


def halved(x: Any) -> np.ndarray:
    return np.asarray(x) ** 2 / 2


def through_python() -> Any:
    h = fc(layers.data("x", [4]), 4, "w")
    out = (
        fluid.default_main_program().current_block().create_var(name="halved", shape=[-1, 4], dtype="float32")
    )
    layers.py_func(halved, h, out, lambda x, slope: np.asarray(x) * np.asarray(slope), out)
    return layers.mean(layers.square(fc(out, 1, "v")))


CASES = {
    "array": (through_an_array, ["w", "v"]),
    "written over": (written_over, ["w", "v"]),
    "elements": (of_array_elements, ["w", "u"]),
    "in place": (in_place, ["w", "u", "v"]),
    "beside": (beside_a_loop, ["w"]),
    "python": (through_python, ["w", "v"]),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_go_through_what_is_computed_on_the_host(case: str) -> None:
    build, names = CASES[case]
    assert_gradients(build, {"x": X}, names)


def test_a_recurrent_network_of_rank_tables_and_arrays_learns_all_its_weights() -> None:
    def build() -> Any:
        x = layers.data("x", [3], lod_level=1)
        table = layers.lod_rank_table(x)
        n, i = layers.max_sequence_len(table), layers.zeros([1], "int64")
        moments = layers.lod_tensor_to_array(fc(x, 4, "w"), table)
        boot = layers.reorder_lod_tensor_by_rank(fc(layers.sequence_pool(x, "sum"), 4, "b"), table)
        memory, given = layers.array_write(boot, i), layers.create_array("float32")
        going = layers.less_than(i, n)
        loop = layers.While(going)
        with loop.block():
            before = layers.shrink_memory(layers.array_read(memory, i), i, table)
            now = layers.tanh(layers.array_read(moments, i) + fc(before, 4, "u"))
            layers.array_write(now, i, given)
            layers.increment(i, 1, in_place=True)
            layers.array_write(now, i, memory)
            layers.less_than(i, n, cond=going)
        out = layers.array_to_lod_tensor(given, table)
        return layers.mean(layers.square(layers.sequence_pool(fc(out, 2, "v"), "sum")))

    feed = {"x": fluid.create_lod_tensor(ROWS, [[2, 1, 3]], None)}
    assert_gradients(build, feed, ["w", "b", "u", "v"])


def test_a_table_of_rows_learns_through_a_loop() -> None:
    """Also one whose gradients would be rows: here they are added up."""
    ids = layers.data("ids", [1], dtype="int64")
    state = layers.embedding(ids, [5, 2], is_sparse=True, param_attr="table")

    def body(i: Any) -> None:
        layers.assign(state * 2.0, state)
        layers.increment(i, 1, in_place=True)

    goes_round(2, body)
    loss = layers.reduce_sum(state)
    fluid.optimizer.SGD(0.5).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    tensor = fluid.global_scope().find_var("table").get_tensor()
    before = np.array(tensor)
    exe.run(feed={"ids": np.array([[1], [3], [1]])}, fetch_list=[loss])
    moved = before - np.array(tensor)
    np.testing.assert_allclose(moved, 2.0 * np.array([[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]]), rtol=1e-5)


def test_the_gradient_of_what_a_loop_has_changed_is_that_of_its_last_value() -> None:
    x = layers.data("x", [4], stop_gradient=False)
    h = layers.scale(x, 3.0)
    goes_once = layers.scale(h, 1.0)

    def body(i: Any) -> None:
        layers.assign(goes_once * 2.0, goes_once)
        layers.increment(i, 1, in_place=True)

    goes_round(2, body)
    loss = layers.reduce_sum(goes_once)
    slopes = fluid.gradients(loss, [x, h, goes_once])
    found = fluid.Executor().run(feed={"x": X}, fetch_list=slopes)
    for slope, wanted in zip(found, (12.0, 4.0, 1.0), strict=True):
        np.testing.assert_allclose(slope, np.full_like(X, wanted))


def _slope(*, is_clipped: bool) -> np.ndarray:
    """The gradient of weights that a function of Python stands between; they may be clipped at the end."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        x = layers.data("x", [4])
        first = fluid.initializer.NumpyArrayInitializer(np.arange(16, dtype="float32").reshape(4, 4) / 16)
        attr = fluid.ParamAttr(name="w", initializer=first)
        hidden = layers.fc(x, 4, act="tanh", param_attr=attr, bias_attr=False)
        block = fluid.default_main_program().current_block()
        seen = block.create_var(name="seen", dtype="float32", shape=[-1, 4])
        layers.py_func(func=lambda given: np.array(given), x=x, out=seen)
        loss = layers.mean(layers.square(layers.fc(hidden, 4, param_attr="w", bias_attr=False)))
        fluid.optimizer.SGD(0.1).minimize(loss)
        if is_clipped:
            layers.assign(layers.clip(block.var("w"), -0.1, 0.1), block.var("w"))
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        return np.array(exe.run(feed={"x": X}, fetch_list=["w@GRAD"])[0])


def test_weights_that_are_clipped_behind_their_update_learn_through_all_that_reads_them() -> None:
    np.testing.assert_allclose(_slope(is_clipped=True), _slope(is_clipped=False), rtol=1e-6)


def _looped(*, trains: bool) -> list[float]:
    """What a loop has made of a variable, read behind it where no gradient goes, and a loss of that."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        half = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.5))
        value = layers.fc(layers.data("x", [1]), 1, param_attr=half, bias_attr=False)
        state = layers.scale(value, 1.0)
        goes_round(3, lambda i: (layers.assign(layers.scale(state, 2.0), state), layers.increment(i, 1)))
        found = layers.assign(state)
        found.stop_gradient = True
        loss = layers.mean(layers.elementwise_mul(found, value))
        if trains:
            fluid.optimizer.SGD(0.0).minimize(loss)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        fed = {"x": np.array([[2.0]], np.float32)}
        return [float(each) for each in exe.run(feed=fed, fetch_list=[found, loss])]


def test_what_a_loop_has_written_over_is_read_behind_it_where_a_program_trains_too() -> None:
    assert _looped(trains=True) == _looped(trains=False) == [8.0, 8.0]


def test_an_operator_without_a_gradient_between_loss_and_weights_is_refused_with_its_line() -> None:
    x = layers.data("x", [4])
    h = fc(x, 4, "w")
    ids = layers.data("ids", [1], dtype="int64", lod_level=2)
    scores = layers.data("scores", [1], lod_level=2)
    _, chosen = layers.beam_search(ids, scores, ids, fc(h, 1, "u"), 2, 0)
    loss = layers.mean(fc(h, 1, "v")) + layers.mean(chosen)
    with pytest.raises(BadProgram, match=r"'beam_search' \(written at .*test_gradients_through_host.py:\d+"):
        fluid.optimizer.SGD(0.1).minimize(loss)
