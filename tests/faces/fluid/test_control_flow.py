"""Loops, branches, arrays, and steps along sequences, as programs of fluid write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument
from paddle._program.running.lod_tensor import LoDTensor

layers = fluid.layers


def _constant(value: float, dtype: str = "float32") -> Any:
    helper = fluid.layer_helper.LayerHelper("fill_constant")
    out = helper.create_variable_for_type_inference(dtype)
    attrs = {"shape": [1], "value": value, "dtype": int(out.dtype)}
    helper.append_op("fill_constant", outputs={"Out": [out]}, attrs=attrs)
    out.stop_gradient = True
    return out


def _op(type: str, x: Any, y: Any = None, out: Any = None, **attrs: Any) -> Any:
    helper = fluid.layer_helper.LayerHelper(type)
    out = helper.create_variable_for_type_inference(x.dtype) if out is None else out
    inputs = {"X": [x]} if y is None else {"X": [x], "Y": [y]}
    helper.append_op(type, inputs, {"Out": [out]}, attrs)
    return out


def _less(x: Any, y: Any, out: Any = None) -> Any:
    made = fluid.default_main_program().current_block().create_var(dtype="bool") if out is None else out
    return _op("less_than", x, y, made)


def _ran(fetch: list[Any], feed: dict[str, Any] | None = None, **options: Any) -> list[Any]:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe.run(feed=feed or {}, fetch_list=fetch, **options)


def test_a_loop_goes_round_while_its_condition_holds() -> None:
    i, n, total = _constant(0, "int64"), _constant(5, "int64"), _constant(1.0)
    condition = _less(i, n)
    loop = layers.While(condition)
    with loop.block():
        _op("scale", total, out=total, scale=2.0)
        _op("increment", i, out=i, step=1.0)
        _less(i, n, condition)
    assert [each.tolist() for each in _ran([total, i])] == [[32.0], [5]]


def test_a_loop_writes_and_reads_an_array() -> None:
    x = layers.data("x", [2], append_batch_size=False)
    i, n = _constant(0, "int64"), _constant(3, "int64")
    array = layers.array_write(x, i)
    condition = _less(i, n)
    loop = layers.While(condition)
    with loop.block():
        held = layers.array_read(array, i)
        _op("increment", i, out=i, step=1.0)
        layers.array_write(_op("scale", held, scale=3.0), i, array)
        _less(i, n, condition)
    fetched = _ran(
        [layers.array_read(array, n), layers.array_length(array)], {"x": np.array([1, 2], np.float32)}
    )
    assert [each.tolist() for each in fetched] == [[27.0, 54.0], [4]]


def test_a_loop_that_never_sets_its_condition_is_refused() -> None:
    condition = _less(_constant(0), _constant(1))
    with pytest.raises(BadArgument, match="never sets its condition"), layers.While(condition).block():
        _constant(1)


@pytest.mark.parametrize(("x", "expected"), [(1.0, 10.0), (5.0, 20.0), (9.0, 30.0)])
def test_a_switch_takes_the_first_case_that_holds(x: float, expected: float) -> None:
    given = layers.data("x", [1], append_batch_size=False)
    out = _constant(0.0)
    with layers.Switch() as switch:
        for limit, value in ((3.0, 10.0), (6.0, 20.0)):
            with switch.case(_less(given, _constant(limit))):
                _op("assign", _constant(value), out=out)
        with switch.default():
            _op("assign", _constant(30.0), out=out)
    assert _ran([out], {"x": np.array([x], np.float32)})[0].tolist() == [expected]


def test_a_gradient_goes_through_the_branch_that_was_taken() -> None:
    x = layers.data("x", [2], append_batch_size=False, stop_gradient=False)
    out = _op("scale", x, scale=1.0)
    branch = layers.ConditionalBlock([_less(_constant(0), _constant(1))], is_scalar_condition=True)
    with branch.block():
        _op("assign", _op("scale", x, scale=7.0), out=out)
    (gradient,) = fluid.backward.gradients(layers.mean(out), x)
    assert _ran([gradient], {"x": np.ones(2, np.float32)})[0].tolist() == [3.5, 3.5]


def test_rows_go_the_way_that_their_condition_says() -> None:
    x = layers.data("x", [1])
    limit = _op("scale", x, scale=0.0, bias=2.0)
    ways = layers.IfElse(_less(x, limit))
    with ways.true_block():
        ways.output(_op("scale", ways.input(x), scale=10.0))
    with ways.false_block():
        ways.output(_op("scale", ways.input(x), scale=-1.0))
    (out,) = ways()
    assert _ran([out], {"x": np.array([[1], [3]], np.float32)})[0].tolist() == [[10.0], [-3.0]]


def _recurrent_loss() -> tuple[Any, Any]:
    x = layers.data("x", [3], lod_level=1)
    rnn = layers.DynamicRNN()
    with rnn.block():
        word = rnn.step_input(x)
        before = rnn.memory(shape=[4], value=0.5)
        now = layers.fc([word, before], 4, act="tanh")
        rnn.update_memory(before, now)
        rnn.output(now)
    last = layers.sequence_last_step(rnn())
    return rnn(), layers.mean(layers.fc(last, 1))


def test_a_step_is_taken_at_each_moment_of_each_sequence() -> None:
    states, loss = _recurrent_loss()
    fluid.optimizer.SGD(0.5).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    rows = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    feed = {"x": LoDTensor(rows, [[0, 2, 5]])}
    scope = fluid.global_scope()
    w, u, b = (np.array(scope.find_var(f"fc_0.{name}").get_tensor()) for name in ("w_0", "w_1", "b_0"))
    found, before = exe.run(feed=feed, fetch_list=[states, loss], return_numpy=False)
    expected = []
    for begin, end in ((0, 2), (2, 5)):
        state = np.full(4, 0.5, np.float32)
        for row in rows[begin:end]:
            state = np.tanh(row @ w + state @ u + b)
            expected.append(state)
    np.testing.assert_allclose(np.array(found), expected, rtol=1e-4, atol=1e-6)
    assert found.lod() == [[0, 2, 5]]
    (after,) = exe.run(feed=feed, fetch_list=[loss])
    assert float(after[0]) < float(np.array(before)[0])


def test_a_memory_begins_with_what_it_is_given_and_a_static_input_stays() -> None:
    x = layers.data("x", [1], lod_level=1)
    first, more = layers.data("first", [1]), layers.data("more", [1])
    rnn = layers.DynamicRNN()
    with rnn.block():
        element, added = rnn.step_input(x), rnn.static_input(more)
        total = rnn.memory(init=first)
        now = _op("elementwise_add", _op("elementwise_add", total, element), added)
        rnn.update_memory(total, now)
        rnn.output(now)
    column = np.array([[1], [2], [3]], np.float32)
    feed = {
        "x": LoDTensor(column, [[0, 2, 3]]),
        "first": np.array([[10], [20]], np.float32),
        "more": np.array([[100], [200]], np.float32),
    }
    (found,) = _ran([rnn()], feed, return_numpy=False)
    assert np.array(found).tolist() == [[111.0], [213.0], [223.0]]


def test_a_memory_that_is_its_own_next_value_may_be_sequences() -> None:
    """Decoders carry what they attend to along in their state, which is updated as a whole."""
    x, attended = layers.data("x", [1], lod_level=1), layers.data("attended", [1], lod_level=1)
    rnn = layers.DynamicRNN()
    with rnn.block():
        element = rnn.step_input(x)
        same = rnn.memory(init=attended, need_reorder=True)
        rnn.update_memory(same, same)
        rnn.output(_op("elementwise_add", element, layers.sequence_pool(same, "sum")))
    column = np.array([[1], [2], [3]], np.float32)
    feed = {
        "x": LoDTensor(column, [[0, 1, 3]]),
        "attended": LoDTensor(10 * column, [[0, 2, 3]]),
    }
    (found,) = _ran([rnn()], feed, return_numpy=False)
    assert np.array(found).tolist() == [[31.0], [32.0], [33.0]]


def test_steps_along_an_axis_of_a_known_size_are_differentiable() -> None:
    x = layers.data("x", [3, -1, 2], append_batch_size=False, stop_gradient=False)
    rnn = layers.StaticRNN()
    with rnn.step():
        element = rnn.step_input(x)
        before = rnn.memory(shape=[-1, 2], batch_ref=element)
        now = _op("elementwise_add", before, element)
        rnn.update_memory(before, now)
        rnn.step_output(now)
    values = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    (gradient,) = fluid.backward.gradients(layers.mean(rnn()), x)
    found, slopes = _ran([rnn(), gradient], {"x": values})
    np.testing.assert_array_equal(found, np.cumsum(values, axis=0))
    np.testing.assert_allclose(slopes[:, 0, 0] * 12, [3, 2, 1], rtol=1e-6)


def test_as_many_steps_are_taken_as_a_feed_has_along_the_first_axis() -> None:
    x = layers.data("x", [2], stop_gradient=False)
    first, rnn = layers.fill_constant([2], "float32", 1.0), layers.StaticRNN()
    with rnn.step():
        element, before = rnn.step_input(x), rnn.memory(init=first)
        now = _op("elementwise_add", _op("scale", before, scale=0.5), element)
        rnn.update_memory(before, now)
        rnn.step_output(now)
    assert rnn().shape == (-1, 2)
    last = layers.reduce_sum(layers.slice(rnn(), [0], [-1], [2**31 - 1]))
    (gradient,) = fluid.backward.gradients(last, x)
    for moments in (3, 1, 3):
        given = np.arange(2 * moments, dtype=np.float32).reshape(moments, 2)
        found, slopes = _ran([rnn(), gradient], {"x": given})
        weights = 0.5 ** np.arange(moments - 1, -1, -1)
        np.testing.assert_allclose(found[-1], 0.5**moments + weights @ given, rtol=1e-6)
        np.testing.assert_allclose(slopes[:, 0], weights, rtol=1e-6)


def test_what_is_printed_is_what_the_run_computed(capsys: pytest.CaptureFixture[str]) -> None:
    x = layers.data("x", [2], append_batch_size=False, stop_gradient=False)
    shown = layers.Print(_op("scale", x, scale=2.0), message="doubled")
    (gradient,) = fluid.backward.gradients(layers.mean(shown), x)
    fetched = _ran([gradient], {"x": np.array([1, 2], np.float32)})
    assert fetched[0].tolist() == [1.0, 1.0]
    said = capsys.readouterr().out
    assert "doubled" in said
    assert "[2.0, 4.0]" in said
    before_2_0 = layers.Print(x, -1, "whole", 20, True, True, True, False, "forward").op
    assert (before_2_0.attr("print_tensor_lod"), before_2_0.attr("print_phase")) == (False, "FORWARD")


def test_a_rate_that_operators_compute_is_told_step_by_step() -> None:
    block = fluid.default_main_program().global_block()
    rate = fluid.layer_helper.LayerHelper("rate").create_global_variable(
        persistable=True, name="rate", shape=[1], dtype="float32"
    )
    fluid.initializer.Constant(0.4)(rate, fluid.default_startup_program().global_block())
    with fluid.default_main_program()._lr_schedule_guard():
        block.append_op("scale", {"X": [rate]}, {"Out": [rate]}, {"scale": 0.5})
    x = layers.data("x", [1])
    loss = layers.mean(layers.fc(x, 1, bias_attr=False))
    fluid.optimizer.SGD(rate).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    weights = [np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())]
    for _ in range(3):
        (seen,) = exe.run(feed={"x": np.ones((2, 1), np.float32)}, fetch_list=[rate])
        weights.append(np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor()))
    np.testing.assert_allclose(np.diff(np.ravel(weights)), [-0.2, -0.1, -0.05], rtol=1e-5)
    assert seen == pytest.approx([0.05])


@pytest.mark.parametrize(("x", "expected"), [(1.0, 3.0), (5.0, -5.0)])
def test_a_condition_chooses_between_what_two_functions_give(x: float, expected: float) -> None:
    given = layers.data("x", [1], append_batch_size=False)
    out = layers.cond(
        _less(given, _constant(2.0)),
        lambda: _op("scale", given, scale=3.0),
        lambda: _op("scale", given, scale=-1.0),
    )
    assert _ran([out], {"x": np.array([x], np.float32)})[0].tolist() == [expected]


@pytest.mark.parametrize(("number", "expected"), [(0, 10.0), (1, 20.0), (7, 30.0)])
def test_a_number_chooses_among_functions(number: int, expected: float) -> None:
    index = layers.data("index", [1], append_batch_size=False, dtype="int64")
    functions = {at: (lambda at=at: _constant(10.0 * (at + 1))) for at in range(2)}
    out = layers.switch_case(index, functions, default=lambda: _constant(30.0))
    assert _ran([out], {"index": np.array([number])})[0].tolist() == [expected]


def test_a_loop_of_functions_goes_round() -> None:
    i, total = _constant(0, "int64"), _constant(1.0)
    i, total = layers.while_loop(
        lambda i, total: _less(i, _constant(4, "int64")),
        lambda i, total: [_op("increment", i, out=i, step=1.0), _op("scale", total, scale=2.0)],
        [i, total],
    )
    assert [each.tolist() for each in _ran([i, total])] == [[4], [16.0]]


def test_a_function_of_python_is_called_with_tensors() -> None:
    x = layers.data("x", [2], append_batch_size=False)
    out = fluid.default_main_program().current_block().create_var("out", shape=[2], dtype="float32")
    layers.py_func(lambda tensor: np.array(tensor)[::-1], x, out)
    doubled = _op("scale", out, scale=2.0)
    assert _ran([doubled], {"x": np.array([1, 2], np.float32)})[0].tolist() == [4.0, 2.0]


def test_a_body_of_several_places_is_done_once() -> None:
    places = layers.get_places()
    both = layers.ParallelDo(places)
    x = layers.data("x", [2], append_batch_size=False)
    with both.do():
        both.write_output(_op("scale", both.read_input(x), scale=2.0))
    assert _ran([both()], {"x": np.array([1, 2], np.float32)})[0].tolist() == [2.0, 4.0]


def test_gradients_go_back_past_what_python_computes_on_the_way() -> None:
    x = layers.data("x", [2])
    hidden = layers.fc(x, 2, bias_attr=False, param_attr="a")
    factor = fluid.default_main_program().current_block().create_var("factor", shape=[-1, 2], dtype="float32")
    factor.stop_gradient = True
    layers.py_func(lambda tensor: np.sign(np.array(tensor)), hidden, factor)
    loss = layers.mean(layers.elementwise_mul(hidden, factor))
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    values = np.array([[1, 2], [3, -1]], np.float32)
    for _ in range(2):
        before = np.array(fluid.global_scope().find_var("a").get_tensor())
        (found,) = exe.run(feed={"x": values}, fetch_list=[loss])
        signs = np.sign(values @ before)
        assert found == pytest.approx([np.abs(values @ before).mean()], rel=1e-5)
        after = np.array(fluid.global_scope().find_var("a").get_tensor())
        np.testing.assert_allclose(before - after, 0.1 * values.T @ signs / 4, rtol=1e-4, atol=1e-7)


def test_what_a_loop_goes_round_with_may_be_nested_and_changes_places_at_once() -> None:
    i, end = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    begin = {
        "first": layers.fill_constant([1], "float32", 1.0),
        "rest": [layers.fill_constant([1], "float32", 2.0)],
    }

    def body(i: Any, held: Any) -> Any:
        return [i + 1, {"first": held["rest"][0], "rest": [held["first"]]}]

    count, held = layers.while_loop(lambda i, held: i < end, body, [i, begin])
    found = fluid.Executor().run(fetch_list=[count, held["first"], held["rest"][0]])
    assert [float(each) for each in found] == [3.0, 2.0, 1.0]


def test_a_loop_of_functions_refuses_what_is_not_as_it_takes_it() -> None:
    i, two = layers.fill_constant([1], "int64", 0), layers.fill_constant([2], "int64", 3)

    def longer(i: Any, held: list[Any]) -> Any:
        held.append(i)
        return i, held

    for cond, body, given in (
        (lambda i: i < 3, lambda i: [i, i], [i]),
        (lambda i: i < two, lambda i: i + 1, [i]),
        (lambda i, held: i < 3, longer, [i, [i]]),
        (lambda i: i < 3, i, [i]),
        (lambda i: i < 3, lambda i: i, []),
    ):
        with pytest.raises(ValueError, match=r"[Ww]hile"):
            layers.while_loop(cond, body, given)
