"""Numbers that are drawn again while they are beyond two standard deviations."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._program.ops.drawing import truncated


@pytest.mark.parametrize("shape", [(0,), (3,), (1000, 70), (1 << 17, 1)])
def test_they_are_those_that_are_drawn_when_all_are_looked_at_together(shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(3)
    expected = generator.standard_normal(shape, np.float32)
    while (beyond := np.abs(expected) > 2).any():
        expected[beyond] = generator.standard_normal(int(beyond.sum()), np.float32)
    assert np.array_equal(truncated(np.random.default_rng(3), shape), expected)
