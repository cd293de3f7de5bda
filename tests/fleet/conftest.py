"""The environment is after each test what it was before: an Executor settles BLAS in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    with patch.dict(os.environ):
        yield
