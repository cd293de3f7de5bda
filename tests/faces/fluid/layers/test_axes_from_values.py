"""Axes, margins and depths that a run computes, against paddlepaddle 1.8.5, gradients among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

X = np.arange(1, 7, dtype="float32").reshape(2, 3)


def _one(x: Any, number: int) -> Any:
    """A number that only values say: of what is fed, 1 to 6."""
    return layers.cast(layers.reduce_min(x), "int32") * number


def _around(x: Any) -> Any:
    margins = layers.concat([layers.reshape(_one(x, each), [1]) for each in (1, 0, 0, 2)])
    return layers.reshape(layers.pad2d(layers.reshape(x, [1, 1, 2, 3]), margins), [3, 5])


PROGRAMS: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "concat": (lambda x: layers.concat([x, x], axis=_one(x, 1)), np.concatenate([X, X], 1)),
    "split": (lambda x: layers.split(x, 3, dim=_one(x, 1))[2], X[:, 2:]),
    "split in parts": (lambda x: layers.split(x, [1, -1], dim=_one(x, -2))[1], X[1:]),
    "unsqueeze": (lambda x: layers.unsqueeze(x, _one(x, 1)), X[:, None]),
    "unsqueeze twice": (lambda x: layers.unsqueeze(x, [_one(x, 1), 0]), X[None, :, None]),
    "pad2d": (_around, np.pad(X, ((1, 0), (0, 2)))),
}


@pytest.mark.parametrize("which", PROGRAMS)
def test_an_axis_that_is_computed_is_that_axis(which: str) -> None:
    program, wanted = PROGRAMS[which]
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = layers.data("x", [2, 3], append_batch_size=False, stop_gradient=False)
        made = program(x)
        (slope,) = fluid.gradients(layers.reduce_sum(made * made), [x])
        found, learned = fluid.Executor().run(feed={"x": X}, fetch_list=[made, slope])
    assert np.array_equal(found, wanted)
    count = np.array([[(wanted == each).sum() for each in row] for row in X])
    assert np.array_equal(learned, 2 * X * count)


def test_a_run_of_other_numbers_takes_other_axes() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x, axis = layers.data("x", [2, 3], append_batch_size=False), layers.data("a", [1], dtype="int32")
        made, exe = layers.concat([x, x], axis=layers.reduce_max(axis)), fluid.Executor()
        shapes = [
            exe.run(feed={"x": X, "a": np.array([[each]], "int32")}, fetch_list=[made])[0].shape
            for each in (0, 1, 0)
        ]
    assert shapes == [(4, 3), (2, 6), (4, 3)]


def test_depth_of_the_later_one_hot_may_be_computed() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        ids = layers.data("ids", [3], dtype="int64", append_batch_size=False)
        made = fluid.one_hot(ids, depth=layers.cast(layers.reduce_max(ids), "int32") + 2)
        (found,) = fluid.Executor().run(feed={"ids": np.array([1, 0, 2])}, fetch_list=[made])
    assert np.array_equal(found, np.eye(4)[[1, 0, 2]])


def test_a_rate_follows_from_variables() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        told = [layers.fill_constant([1], "float32", each) for each in (4.0, 2.0)]
        rates = [layers.noam_decay(*told), layers.noam_decay(4.0, 2.0)]
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        found = [exe.run(fetch_list=rates) for _ in range(3)]
    assert np.allclose([float(first[0]) for first, _ in found], [0.1768, 0.3536, 0.2887], atol=1e-4)
    assert np.allclose(*zip(*found, strict=True))


def test_a_list_of_margins_holds_numbers() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = layers.data("x", [1, 2, 3])
        one = layers.fill_constant([1], "int32", 1)
        with pytest.raises(ValueError, match="pad2d: paddings are numbers, or one Variable that says all"):
            layers.pad2d(x, [one, 0, 0, 0])
