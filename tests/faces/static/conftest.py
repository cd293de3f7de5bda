"""Programs of the 2.x generation in a test: static, and alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import paddle
from paddle._program.description.written import fresh


@pytest.fixture
def alone() -> Iterator[None]:
    """Programs, a scope and names of the test's own, in static mode."""
    with fresh():
        paddle.enable_static()
        paddle.seed(7)
        yield
