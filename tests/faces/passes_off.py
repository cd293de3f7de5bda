"""Without passes: plans of what a program says, one operator after another, for a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from paddle._engine.passes import prune


@contextmanager
def no_passes() -> Iterator[None]:
    """Only what nobody wants is left out; every parameter is updated by itself."""
    with (
        mock.patch("paddle._engine.plan.improve", lambda operators, setting: prune(operators, setting.keep)),
        mock.patch("paddle._pserver.trainer.local.LocalExchange.room", lambda exchange: {}),
    ):
        yield
