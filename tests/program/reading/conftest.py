"""A program to read into, and a scope, for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddle._program.description.written import fresh


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield
