"""Gradients are sent as they become final, parameters come while the next batch is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.overlap.steps import steps
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """See steps."""
    return steps(settings, lambda exchange: exchange)
