"""Tables that are looked up with is_sparse, and read in another way, too, learn what dense ones learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

WORDS = 7


def _counted(loss: Any) -> Callable[[Any], Any]:
    layers.reduce_sum(fluid.default_main_program().global_block().var("table"))
    fluid.optimizer.SGD(0.5).minimize(loss)
    return lambda exe: _value()


def _moving(loss: Any) -> Callable[[Any], Any]:
    fluid.optimizer.SGD(0.5).minimize(loss)
    averages = fluid.optimizer.ExponentialMovingAverage(0.5)
    averages.update()
    return lambda exe: _within(averages.apply(exe))


def _looking_ahead(loss: Any) -> Callable[[Any], Any]:
    fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.5), 0.5, 2).minimize(loss)
    return lambda exe: _value()


def _averaged(loss: Any) -> Callable[[Any], Any]:
    fluid.optimizer.SGD(0.5).minimize(loss)
    averages = fluid.optimizer.ModelAverage(0.5, min_average_window=2, max_average_window=3)
    return lambda exe: _within(averages.apply(exe))


def _within(shown: Any) -> np.ndarray:
    with shown:
        return _value()


def _value() -> np.ndarray:
    return np.array(fluid.global_scope().find_var("table").get_tensor())


def _trained(
    read: Callable[[Any], Callable[[Any], Any]], *, is_sparse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """What a table has after some steps, each of which passes rows by; and what is shown of it then."""
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.Scope()),
        fluid.unique_name.guard(),
    ):
        fluid.default_startup_program().random_seed = 7
        word = layers.data("word", [1], dtype="int64")
        vector = layers.embedding(word, [WORDS, 3], is_sparse=is_sparse, param_attr="table")
        show = read(layers.mean(layers.square(vector - 1.0)))
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        for step in range(5):
            exe.run(feed={"word": np.array([[step], [step + 2], [step]]) % WORDS})
        return _value(), show(exe)


@pytest.mark.parametrize(
    "read", [_counted, _moving, _looking_ahead, _averaged], ids=lambda each: each.__name__
)
def test_a_table_that_others_read_learns_what_a_dense_one_learns(read: Any) -> None:
    for rows, dense in zip(_trained(read, is_sparse=True), _trained(read, is_sparse=False), strict=True):
        np.testing.assert_allclose(rows, dense, rtol=1e-5, atol=1e-6)


def _decoded(*, is_sparse: bool) -> np.ndarray:
    """The words that a network goes on with, each by what it has computed of the one before."""
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.Scope()),
        fluid.unique_name.guard(),
    ):
        fluid.default_startup_program().random_seed = 7
        word, words = layers.data("word", [1], dtype="int64"), []
        for _ in range(3):
            vector = layers.embedding(word, [WORDS, 8], is_sparse=is_sparse, param_attr="table")
            hidden = layers.fc(layers.reshape(vector, [-1, 8]), WORDS, param_attr="w", bias_attr=False)
            word = layers.reshape(layers.topk(hidden, 1)[1], [-1, 1])
            words.append(word)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        fed = {"word": np.arange(WORDS)[:, None]}
        return np.array(exe.run(feed=fed, fetch_list=[layers.concat(words, 1)])[0])


def test_a_table_is_looked_up_by_words_that_were_computed_of_it() -> None:
    found = _decoded(is_sparse=True)
    assert found.shape == (WORDS, 3)
    np.testing.assert_array_equal(found, _decoded(is_sparse=False))
