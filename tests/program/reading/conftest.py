"""A program to read into, and a scope, for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import paddle.fluid as fluid


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.executor.Scope()),
        fluid.unique_name.guard(),
    ):
        yield
