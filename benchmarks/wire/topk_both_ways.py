"""The hundredth of a gradient that is largest, and new parameters as halves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.wire.exchange import exchanging
from benchmarks.worker import Work
from paddle._pserver.protocol.wire import WireSpec


def prepare(settings: Mapping[str, Any]) -> Work:
    """See exchanging."""
    return exchanging(settings, WireSpec(name="topk", share=0.01, answers="bfloat16"))
