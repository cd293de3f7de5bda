"""The wheel of PaddlePaddle 2.6.2. Its workers wait for first values only where GLOO is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.ctr.contender import Way, work
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any], **tuning: str) -> Work:
    """Its job."""
    options = ("--server_num=1", "--worker_num=2")
    more = {"PADDLE_WITH_GLOO": "1", **tuning}
    return work(Way("fleet_program.py", "paddle.distributed.launch", options, more), settings)
