"""The same where a case has datasets: every batch is given to ``Executor.run``, and its cost is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.ctr import ours
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """Its job."""
    return ours.prepare({**settings, "feeds": "arrays"})
