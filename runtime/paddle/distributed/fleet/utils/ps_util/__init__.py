"""Inference with parameter servers."""

from __future__ import annotations

from typing import Any

from paddle._fleet import inference
from paddle.distributed.fleet.base import fleet_base

__all__ = ["DistributedInfer"]


class DistributedInfer(inference.DistributedInfer):
    """A test of what is trained, with parameters where they are kept."""

    def __init__(self, main_program: Any = None, startup_program: Any = None) -> None:
        super().__init__(lambda: fleet_base.fleet, main_program, startup_program)
