"""The bare kernel with its values in memory like the table's, where a row of 64 bytes is one cache line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.tables.bare import on
from benchmarks.tables.data import WIDTH
from benchmarks.worker import Work
from paddle._pserver.memory.pages import Pages


def prepare(settings: Mapping[str, Any]) -> Work:
    """Values in pages of their own."""
    return on(Pages(np.float32, WIDTH, settings["rows"]).array[: settings["rows"]], settings)
