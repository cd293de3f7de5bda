"""Gradients and new parameters as the upper halves of their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.wire.exchange import exchanging
from benchmarks.worker import Work
from paddle._pserver.protocol.wire import WireSpec


def prepare(settings: Mapping[str, Any]) -> Work:
    """See exchanging."""
    return exchanging(settings, WireSpec(name="bfloat16", answers="bfloat16"))
