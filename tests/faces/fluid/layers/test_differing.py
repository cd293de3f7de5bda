"""Values that differ, bounds, and films whose channels are shifted, as 1.8.5 gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument

from ..numeric import assert_gradients

layers = fluid.layers


def computed(feed: dict[str, np.ndarray], *outs: Any) -> list[np.ndarray]:
    found: list[np.ndarray] = fluid.Executor().run(feed=feed, fetch_list=[*outs])
    return found


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_values_come_in_the_order_in_which_they_are_met(dtype: str) -> None:
    x = fluid.data("x", [None], "int64")
    feed = {"x": np.array([2, 3, 3, 1, 5, 3])}
    out, index, count, same, places = computed(
        feed, *layers.unique_with_counts(x, dtype), *layers.unique(x, dtype)
    )
    assert out.tolist() == same.tolist() == [2, 3, 1, 5]
    assert index.tolist() == places.tolist() == [0, 1, 1, 2, 3, 1]
    assert count.tolist() == [1, 3, 1, 1]
    assert {each.dtype for each in (index, count, places)} == {np.dtype(dtype)}


def test_bounds_may_be_computed() -> None:
    """The figures are those of 1.8.5."""
    x = fluid.data("x", [2, 3])
    x.stop_gradient = False
    low, high = (layers.fill_constant([1], "float32", value) for value in (0.5, 2.5))
    one, two = layers.clamp(x, low, 3.0), layers.clamp(x, low, high)
    (gradient,) = fluid.gradients(layers.reduce_sum(two), x)
    found = computed({"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, one, two, gradient)
    assert [each.ravel().tolist() for each in found] == [
        [0.5, 1, 2, 3, 3, 3],
        [0.5, 1, 2, 2.5, 2.5, 2.5],
        [0, 1, 1, 0, 0, 0],
    ]


def test_one_bound_may_be_left_out() -> None:
    x = fluid.data("x", [None])
    feed = {"x": np.array([-2.0, 0.5, 3.0], np.float32)}
    above, below, both = computed(feed, layers.clamp(x, 0), layers.clamp(x, max=1.0), layers.clamp(x, 0, 1))
    assert (above.tolist(), below.tolist(), both.tolist()) == ([0, 0.5, 3], [-2, 0.5, 1], [0, 0.5, 1])
    with pytest.raises(BadArgument, match="clamp takes min, max or both"):
        layers.clamp(x)


X = np.random.default_rng(2).normal(size=(6, 5, 2, 1)).astype(np.float32)


@pytest.mark.parametrize("share", [0.25, 0.4, 0.5])
def test_channels_come_from_the_image_before_and_the_one_behind(share: float) -> None:
    x = fluid.data("x", [None, *X.shape[1:]])
    (found,) = computed({"x": X}, layers.temporal_shift(x, 3, share))
    films, wanted = X.reshape(2, 3, *X.shape[1:]), X.reshape(2, 3, *X.shape[1:]).copy()
    first, second = int(5 * share), int(10 * share)
    wanted[:, 1:, :first], wanted[:, 0, :first] = films[:, :-1, :first], 0
    wanted[:, :-1, first:second], wanted[:, -1, first:second] = films[:, 1:, first:second], 0
    np.testing.assert_array_equal(found, wanted.reshape(X.shape))


def test_gradients_go_back_to_the_image_that_they_came_from() -> None:
    def built() -> Any:
        begin = fluid.initializer.NumpyArrayInitializer(X)
        x = layers.create_parameter(list(X.shape), "float32", name="x", default_initializer=begin)
        return layers.mean(layers.square(layers.temporal_shift(x, 3, 0.25)))

    assert_gradients(built, {}, ["x"])
    with pytest.raises(BadArgument, match=r"shift_ratio is from 0 to 0\.5"):
        layers.temporal_shift(fluid.data("y", [6, 4, 2, 2]), 3, 0.7)


def test_what_1_8_computes_on_gpus_alone_says_what_there_is_instead() -> None:
    with pytest.raises(NotInThisRelease, match=r"layers\.lstm is not in this release: 1\.8 .*basic_lstm"):
        _ = layers.lstm
