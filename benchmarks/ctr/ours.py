"""This project: ``paddle.distributed.fleet``, started by ``python -m paddle.distributed.launch``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.ctr.contender import Way, work
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """Its job."""
    options = ("--server_num=1", "--worker_num=2")
    return work(Way("fleet_program.py", "paddle.distributed.launch", options), settings)
