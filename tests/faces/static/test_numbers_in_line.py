"""``arange`` and ``linspace`` of numbers that a program computes."""

from __future__ import annotations

import numpy as np
import pytest

import paddle

pytestmark = pytest.mark.usefixtures("alone")


def test_as_many_as_a_batch_is_wide() -> None:
    x = paddle.static.data("x", [-1, -1])
    count = paddle.shape(x)[1]
    wanted = [
        paddle.arange(count),
        paddle.arange(1, count, 2, dtype="float32"),
        paddle.arange(0.0, count),
        paddle.linspace(0, 1, count),
        paddle.linspace(0, paddle.full([1], 3.0), 4, dtype="float32"),
    ]
    for width in (5, 3):
        feed = {"x": np.ones((2, width), np.float32)}
        found = paddle.static.Executor().run(feed=feed, fetch_list=wanted)
        expected = [
            np.arange(width),
            np.arange(1, width, 2, "float32"),
            np.arange(width, dtype="float32"),
            np.linspace(0, 1, width, dtype="float32"),
            np.linspace(0, 3, 4, dtype="float32"),
        ]
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-6)
