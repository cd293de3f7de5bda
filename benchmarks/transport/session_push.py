"""A push by itself, as ``session_shared`` makes it: the gradient is told of and applied, and new values can
be read where they are. A trainer would copy them now; this one does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.transport.session import exchanging
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's pushes of one parameter's gradient to one pserver."""
    return exchanging(settings["floats"], is_nearby=True, shares_memory=True, reads=False)
