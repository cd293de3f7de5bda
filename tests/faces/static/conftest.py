"""Programs of the 2.x generation in a test: static, and alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import paddle


@pytest.fixture
def alone() -> Iterator[None]:
    """Programs, a scope and names of the test's own, in static mode."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    scope = type(paddle.static.global_scope())()
    with (
        paddle.static.program_guard(main, startup),
        paddle.utils.unique_name.guard(),
        paddle.static.scope_guard(scope),
    ):
        paddle.seed(7)
        yield
    paddle.seed(0)
    paddle.disable_static()
