"""linspace whose bounds or count are computed, as paddlepaddle 1.8.5 has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers


def _told() -> tuple[Any, Any]:
    count = layers.data("count", [1], dtype="int32", append_batch_size=False)
    return count, layers.data("end", [1], append_batch_size=False)


@pytest.mark.parametrize(("count", "end"), [(5, 2.0), (1, 3.0), (4, 10.0)])
def test_as_many_numbers_as_a_value_says(count: int, end: float) -> None:
    number, bound = _told()
    line = layers.linspace(0, bound, number, "float32")
    total = layers.reduce_sum(line * 2.0)
    assert line.shape == (-1,)
    feed = {"count": np.array([count], np.int32), "end": np.array([end], np.float32)}
    found, twice = fluid.Executor().run(feed=feed, fetch_list=[line, total])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.linspace(0, end, count), rtol=1e-6)
    np.testing.assert_allclose(twice.item(), 2 * np.linspace(0, end, count).sum(), rtol=1e-6)


def test_no_numbers_are_refused() -> None:
    number, bound = _told()
    line = layers.linspace(0, bound, number, "float32")
    feed = {"count": np.array([0], np.int32), "end": np.array([1.0], np.float32)}
    with pytest.raises(ValueError, match="num is 1 or more, not 0"):
        fluid.Executor().run(feed=feed, fetch_list=[line])
