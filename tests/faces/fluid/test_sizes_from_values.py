"""Sizes that programs compute of values, against numbers of paddlepaddle 1.8.5: what a step makes has those
shapes, and what it learns those values.

It takes gradients with what a name has become since; where a size is written over, a formula is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

LENGTHS = ([2, 3, 1], [4, 1], [2, 3, 1])


def _most(lengths: Any) -> Any:
    return layers.cast(layers.reshape(layers.reduce_max(lengths), [1]), "int32")


def _row(w: Any) -> Any:
    return layers.reshape(w, [1, 2])


def _mask(lengths: Any, w: Any) -> list[Any]:
    found = layers.sequence_mask(lengths, maxlen=layers.reduce_max(lengths), dtype="float32")
    return [layers.reduce_sum(found) * layers.reduce_sum(w), found]


def _filled(lengths: Any, w: Any) -> list[Any]:
    found = layers.fill_constant([_most(lengths), 2], "float32", 2.0)
    return [found * w, found]


def _filled_as_a_whole(lengths: Any, w: Any) -> list[Any]:
    sizes = layers.concat([_most(lengths), layers.fill_constant([1], "int32", 2)])
    found = layers.fill_constant(sizes, "float32", 2.0)
    return [found * w, found]


def _reshaped(lengths: Any, w: Any) -> list[Any]:
    found = layers.reshape(layers.expand(w, [6]), [-1, _most(lengths)])
    return [found * found, found]


def _expanded(lengths: Any, w: Any) -> list[Any]:
    found = layers.expand(_row(w), [_most(lengths), 1])
    return [found, found]


def _counted(lengths: Any, w: Any) -> list[Any]:
    found = layers.cast(layers.range(0, layers.reduce_max(lengths), 1, "int64"), "float32")
    return [layers.reduce_sum(found) * layers.reduce_sum(w), found]


def _cut(lengths: Any, w: Any) -> list[Any]:
    found = layers.slice(layers.expand(_row(w), [6, 1]), axes=[0], starts=[0], ends=[_most(lengths)])
    return [found * found, found]


def _cut_in_steps(lengths: Any, w: Any) -> list[Any]:
    whole = layers.expand(_row(w), [6, 1])
    found = layers.strided_slice(whole, axes=[0], starts=[0], ends=[_most(lengths)], strides=[2])
    return [found * found, found]


def _parted(lengths: Any, w: Any) -> list[Any]:
    found, rest = layers.split(layers.expand(_row(w), [6, 1]), [_most(lengths), -1], dim=0)
    return [layers.reduce_sum(found * found) + 2.0 * layers.reduce_sum(rest), found]


def _chosen(lengths: Any, w: Any) -> list[Any]:
    found = layers.one_hot(layers.reshape(lengths, [-1, 1]) - 1, _most(lengths))
    return [layers.reduce_sum(found) * layers.reduce_sum(w), found]


def _best(lengths: Any, w: Any) -> list[Any]:
    found, _ = layers.topk(layers.reshape(layers.expand(w, [6]), [1, -1]), _most(lengths))
    return [layers.reduce_sum(w) * layers.reduce_sum(w), found]


def _of_a_parameter(lengths: Any, w: Any) -> list[Any]:
    wide = _row(w) * 3.0
    size = layers.cast(layers.reshape(layers.ceil(layers.reduce_max(wide)), [1]), "int32")
    found = layers.expand(wide, [size, 1])
    return [layers.reduce_mean(found * found), found]


def _of_a_counter(lengths: Any, w: Any) -> list[Any]:
    count = layers.create_global_var([1], 1, "int32", persistable=True, name="count")
    layers.increment(count, 1)
    found = layers.expand(_row(w), [count, 1])
    return [layers.reduce_mean(found * found), found]


def _halved_and_doubled(lengths: Any, w: Any) -> list[Any]:
    half = layers.cast(layers.shape(lengths), "float32") / 2.0
    found = layers.expand(_row(w), [layers.cast(half * 2.0, "int32"), 1])
    return [layers.reduce_sum(found * found), found]


def _in_a_loop(lengths: Any, w: Any) -> list[Any]:
    turn, last = layers.fill_constant([1], "int64", 0), layers.reshape(layers.reduce_max(lengths), [1])
    total = layers.fill_constant([1], "float32", 0.0)
    goes_on = layers.less_than(turn, last)
    loop = layers.While(goes_on)
    with loop.block():
        made = layers.fill_constant([layers.cast(turn + 1, "int32"), 2], "float32", 1.0)
        layers.assign(total + layers.reduce_sum(made), total)
        layers.increment(turn)
        layers.less_than(turn, last, cond=goes_on)
    return [layers.reduce_sum(w) * total, total]


def _before_and_behind_the_host(lengths: Any, w: Any) -> list[Any]:
    size, first = _most(lengths), layers.fill_constant([1], "int64", 0)
    before = layers.expand(_row(w), [size, 1])
    behind = layers.array_read(layers.array_write(before, first), first)
    found = layers.expand(behind, [size + 1, 1])
    return [layers.reduce_sum(found * found), found]


def _squared(lengths: Any, w: Any) -> list[Any]:
    size = _most(lengths)
    wide = layers.expand(layers.dropout(layers.expand(_row(w), [size, 1]), 0.0), [size, 1])
    found = layers.softmax(layers.transpose(layers.reshape(wide, [size, size, 2]), [0, 2, 1]))
    return [layers.reduce_sum(found * found) + layers.reduce_sum(w * w), found]


def _ran(program: Callable[[Any, Any], list[Any]]) -> tuple[list[tuple[int, ...]], list[float]]:
    lengths = layers.data("lengths", [-1], dtype="int64", append_batch_size=False)
    one = fluid.initializer.Constant(1.0)
    w = layers.create_parameter([2], "float32", name="w", default_initializer=one)
    cost, found = program(lengths, w)
    fluid.optimizer.SGD(0.1).minimize(layers.reduce_sum(cost))
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    shapes, values = [], []
    for each in LENGTHS:
        feed = {"lengths": np.array(each, "int64")}
        made, learned = exe.run(feed=feed, fetch_list=[found, "w"])
        shapes.append(tuple(np.array(made).shape))
        values.append(round(float(np.array(learned)[0]), 5))
    return shapes, values


FOUND: dict[Any, tuple[list[tuple[int, ...]], list[float]]] = {
    _mask: ([(3, 3), (2, 4), (3, 3)], [0.4, -0.1, -0.7]),  # which it has for int32 alone
    _filled: ([(3, 2), (4, 2), (3, 2)], [0.4, -0.4, -1.0]),
    _filled_as_a_whole: ([(3, 2), (4, 2), (3, 2)], [0.4, -0.4, -1.0]),
    _reshaped: ([(4, 3), (3, 4), (4, 3)], [-0.2, 0.04, -0.008]),
    _expanded: ([(3, 2), (4, 2), (3, 2)], [0.7, 0.3, 0.0]),
    _counted: ([(3,), (4,), (3,)], [0.7, 0.1, -0.2]),
    _cut: ([(3, 2), (4, 2), (3, 2)], [0.4, 0.08, 0.032]),
    _cut_in_steps: ([(2, 2), (2, 2), (2, 2)], [0.6, 0.36, 0.216]),
    _parted: ([(3, 2), (4, 2), (3, 2)], [-0.2, -0.44, -0.776]),
    _chosen: ([(3, 3), (2, 4), (3, 3)], [0.7, 0.5, 0.2]),
    _best: ([(1, 3), (1, 4), (1, 3)], [0.6, 0.36, 0.216]),
    _of_a_parameter: ([(3, 2), (1, 2), (1, 2)], [0.1, 0.01, 0.001]),
    _of_a_counter: ([(2, 2), (3, 2), (4, 2)], [0.9, 0.81, 0.729]),
    _halved_and_doubled: ([(3, 2), (2, 2), (3, 2)], [0.4, 0.24, 0.096]),
    _in_a_loop: ([(1,), (1,), (1,)], [-0.2, -2.2, -3.4]),
    _before_and_behind_the_host: ([(12, 2), (20, 2), (12, 2)], [-1.4, 4.2, -5.88]),
    _squared: ([(3, 2, 3), (4, 2, 4), (3, 2, 3)], [0.8, 0.64, 0.512]),
}


@pytest.mark.parametrize("program", FOUND, ids=lambda each: each.__name__.strip("_"))
def test_sizes_are_those_of_the_original(program: Callable[[Any, Any], list[Any]]) -> None:
    shapes, values = _ran(program)
    assert shapes == FOUND[program][0]
    np.testing.assert_allclose(values, FOUND[program][1], atol=1e-5)


def test_a_size_that_is_written_over_is_what_it_was_to_each_reader() -> None:
    def program(lengths: Any, w: Any) -> list[Any]:
        size = _most(lengths)
        first = layers.expand(_row(w), [size, 1])
        layers.assign(size + 1, size)
        second = layers.expand(_row(w) * 2.0, [size, 1])
        return [layers.reduce_sum(first) + layers.reduce_sum(second), second]

    shapes, values = _ran(program)
    assert shapes == [(4, 2), (5, 2), (4, 2)]
    np.testing.assert_allclose(values, [1 - 1.1, 1 - 1.1 - 1.4, 1 - 1.1 - 1.4 - 1.1], atol=1e-5)


def _walked(padded: Any, length: Any) -> tuple[Any, Any]:
    cell = layers.GRUCell(2, param_attr=fluid.ParamAttr("w", fluid.initializer.Constant(0.3)))
    out, last = layers.rnn(cell, padded, sequence_length=length)
    loss = layers.mean(layers.square(last)) + 0.1 * layers.mean(out)
    fluid.optimizer.SGD(0.5).minimize(loss)
    return loss, out


def _batch(lengths: list[int]) -> np.ndarray:
    return np.random.default_rng(len(lengths)).normal(size=(sum(lengths), 3)).astype("float32")


def _fed_in_rows(lengths: list[int]) -> dict[str, Any]:
    return {"rows": fluid.create_lod_tensor(_batch(lengths), [lengths], fluid.CPUPlace())}


def _fed_padded(lengths: list[int]) -> dict[str, Any]:
    whole = np.zeros((len(lengths), max(lengths), 3), np.float32)
    whole[np.arange(max(lengths)) < np.array(lengths)[:, None]] = _batch(lengths)
    return {"padded": whole, "length": np.array(lengths)}


def _steps(data: Any, feed: Callable[[list[int]], dict[str, Any]]) -> list[Any]:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()):
        fetches = list(_walked(*data()))
        exe = fluid.Executor()
        exe.run(startup)
        return [exe.run(main, feed=feed(lengths), fetch_list=fetches) for lengths in LENGTHS]


def test_a_cell_walks_along_sequences_that_are_padded_to_the_longest_of_a_batch() -> None:
    """As along those that are fed so: in each batch as many moments as its longest has."""
    here = _steps(
        lambda: layers.sequence_pad(
            layers.data("rows", [3], lod_level=1), layers.fill_constant([1], "float32", 0.0)
        ),
        _fed_in_rows,
    )
    fed = _steps(
        lambda: (fluid.data("padded", [None, None, 3]), fluid.data("length", [None], "int64")), _fed_padded
    )
    for own, other in zip(here, fed, strict=True):
        assert own[1].shape == other[1].shape
        np.testing.assert_allclose(own[0], other[0], rtol=1e-5)
        np.testing.assert_allclose(own[1], other[1], rtol=1e-5)


def _joined(lengths: tuple[list[int], list[int]]) -> tuple[Any, Any]:
    """A step of descent on rows of a learned table, twice joined and padded: their squares' sum."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()):
        ids = [fluid.data(name, [None, 1], "int64", lod_level=1) for name in ("first", "second")]
        table = fluid.ParamAttr(name="table", initializer=fluid.initializer.NumpyArrayInitializer(_TABLE))
        rows = [layers.reduce_sum(fluid.embedding(each, [9, 2], param_attr=table), 1) for each in ids]
        once = layers.sequence_concat(rows)
        padded, length = layers.sequence_pad(
            layers.sequence_concat([once, rows[0]]), layers.fill_constant([1], "float32", 0.0)
        )
        fluid.optimizer.SGD(0.5).minimize(layers.reduce_sum(layers.square(padded)))
        exe = fluid.Executor()
        exe.run(startup)
        feed = {
            name: fluid.create_lod_tensor(_ids(many), [many], fluid.CPUPlace())
            for name, many in zip(("first", "second"), lengths, strict=True)
        }
        return tuple(exe.run(main, feed=feed, fetch_list=[padded, length, "table"]))


_TABLE = np.arange(18, dtype=np.float32).reshape(9, 2)


def _ids(lengths: list[int]) -> np.ndarray:
    return np.arange(sum(lengths), dtype=np.int64)[:, None]


def test_joined_sequences_of_learned_rows_are_padded_to_the_longest() -> None:
    """Its length follows from what is fed, though the rows follow from a parameter."""
    padded, length, table = _joined(([2, 1], [0, 4]))
    assert length.tolist() == [4, 6]
    assert padded.shape == (2, 6, 2)
    np.testing.assert_array_equal(padded[0], [*_TABLE[[0, 1, 0, 1]], [0, 0], [0, 0]])
    np.testing.assert_array_equal(padded[1], _TABLE[[2, 0, 1, 2, 3, 2]])
    uses = np.array([3, 3, 3, 1, 0, 0, 0, 0, 0], np.float32)[:, None]
    np.testing.assert_allclose(table, _TABLE - 0.5 * 2 * _TABLE * uses, rtol=1e-6)


def test_joined_sequences_of_different_numbers_are_refused_where_they_are_padded() -> None:
    with pytest.raises(ValueError, match="sequence"):
        _joined(([2, 1], [1, 1, 1]))


def test_places_that_are_counted_on_ones_of_learned_rows_are_cut_out_of_padding() -> None:
    """``rows * 0 + 1``, padded and added up, are lengths: they follow from sizes alone."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()):
        ids = fluid.data("ids", [None, 1], "int64", lod_level=1)
        rows = layers.reduce_sum(fluid.embedding(ids, [9, 2]), [1, 2], keep_dim=False)
        ones = layers.reshape(rows, [-1, 1]) * 0 + 1
        padded = layers.squeeze(layers.sequence_pad(ones, layers.assign(np.zeros(1, "float32")))[0], [2])
        length = layers.squeeze(layers.cast(layers.reduce_sum(padded, 1, keep_dim=True), "int64"), [1])
        places = layers.cast(layers.cumsum(padded, 1, exclusive=True), "int64")
        found = layers.sequence_unpad(places, length)
        cost = layers.reduce_sum(layers.square(fluid.embedding(found, [4, 2]))) + layers.reduce_sum(rows)
        fluid.optimizer.SGD(0.5).minimize(cost)
        exe = fluid.Executor()
        exe.run(startup)
        feed = {"ids": fluid.create_lod_tensor(_ids([2, 3]), [[2, 3]], fluid.CPUPlace())}
        (each,) = exe.run(main, feed=feed, fetch_list=[found], return_numpy=False)
    assert each.lod() == [[0, 2, 5]]
    assert np.array(each).reshape(-1).tolist() == [0, 1, 0, 1, 2]
