"""The environment is after each test what it was before: an Executor settles BLAS in it. What the tests' own
modules call says nothing of the program that a test runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    with patch.dict(os.environ):
        yield


@pytest.fixture(autouse=True)
def _no_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._program.calls._files", lambda: iter(()))
