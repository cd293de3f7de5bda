"""The wheel of PaddlePaddle 1.8.5, the last one whose steps in step work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.ctr.contender import Way, work
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any], **tuning: str) -> Work:
    """Its job."""
    options = ("--server_num", "1", "--worker_num", "2", "--endpoints", "127.0.0.1:{port}")
    more = {"CPU_NUM": "1", **tuning}
    return work(Way("fluid_program.py", "paddle.distributed.launch_ps", options, more), settings)
