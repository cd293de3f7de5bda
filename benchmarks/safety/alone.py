"""Nobody else is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.safety.exchange import exchanging
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's exchange of one parameter with one pserver."""
    return exchanging(settings)
