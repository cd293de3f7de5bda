"""Programs, scopes and names of one's own for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddle._program.description.written import fresh


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield
