"""What ``session_push`` does, with the gradient sent over the pserver's unix-domain socket: the same work,
and the same left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.transport.session import exchanging
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's pushes of one parameter's gradient to one pserver."""
    return exchanging(settings["floats"], is_nearby=True, reads=False)
