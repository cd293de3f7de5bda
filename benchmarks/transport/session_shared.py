"""This project's own way on one machine: as ``session_unix``, but gradients and parameters are in memory that
both sides see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.transport.session import exchanging
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's exchange of one parameter with one pserver."""
    return exchanging(settings["floats"], is_nearby=True, shares_memory=True)
