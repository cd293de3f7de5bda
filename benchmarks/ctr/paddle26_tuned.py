"""The same, and its mathematical library is told not to look whose processor it runs on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.ctr import paddle26
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """Its job."""
    return paddle26.prepare(settings, MKL_DEBUG_CPU_TYPE="5")
