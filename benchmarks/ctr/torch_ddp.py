"""PyTorch's DistributedDataParallel over gloo: no server, each worker has the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.ctr.contender import Way, work
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """Its job."""
    met = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "{port}", "WORLD_SIZE": "2"}
    return work(Way("torch_program.py", settings=met, servers=0), settings)
