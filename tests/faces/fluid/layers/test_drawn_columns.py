"""``sampling_id``, and norms that are bounded within a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers
from tests.faces.fluid.numeric import assert_gradients

CHANCES = np.tile(np.array([[0.1, 0.6, 0.0, 0.3]], np.float32), (4000, 1))


def _drawn(**told: Any) -> np.ndarray:
    x = layers.data("x", [4])
    drawn = layers.sampling_id(x, **told)
    (found,) = fluid.Executor().run(feed={"x": CHANCES}, fetch_list=[drawn])
    return np.asarray(found)


def test_columns_are_drawn_as_often_as_their_chances_say() -> None:
    found = _drawn()
    assert (found.shape, found.dtype) == ((4000,), np.int64)
    np.testing.assert_allclose(np.bincount(found, minlength=4) / 4000, CHANCES[0], atol=0.04)


def test_columns_are_drawn_between_bounds() -> None:
    assert set(_drawn(min=0.2, max=0.65)) == {1}
    assert set(_drawn(min=0.75, max=0.99)) == {3}
    assert set(_drawn(min=1.5, max=1.75)) == {3}  # beyond all chances: the last


def test_a_seed_draws_the_same_in_every_run_and_none_draws_others() -> None:
    x = layers.data("x", [4])
    drawn = [layers.sampling_id(x, seed=seed) for seed in (7, 0)]
    exe = fluid.Executor()
    (same, first), (again, second) = (exe.run(feed={"x": CHANCES}, fetch_list=drawn) for _ in range(2))
    np.testing.assert_array_equal(same, again)
    assert (first != second).any()


@pytest.mark.parametrize("bound", [0.4, 90.0])
def test_what_lies_before_a_bounded_norm_learns(bound: float) -> None:
    def build() -> Any:
        seen = layers.fc(layers.data("x", [3]), 4, act="tanh", param_attr="w", bias_attr="b")
        held = layers.clip_by_norm(seen, bound)
        return layers.reduce_sum(held * held * held + held)

    feed = {"x": np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)}
    assert_gradients(build, feed, ["w", "b"])
