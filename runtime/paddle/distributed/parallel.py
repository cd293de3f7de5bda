"""Which worker of how many this process is: ``paddle.distributed.get_rank`` and ``get_world_size``.

It must never know a server. Guarantee: it is what the launcher set in the environment, and without a
launcher worker 0 of 1.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from paddle._absent import NotInThisRelease

__all__ = ["ParallelEnv", "get_rank", "get_world_size", "init_parallel_env", "is_available", "is_initialized"]


def _number(name: str, otherwise: int) -> int:
    said = os.environ.get(name) or str(otherwise)
    try:
        return int(said)
    except ValueError:
        raise ValueError(f"{name} is a whole number, and not {said!r}: the launcher sets it") from None


def get_rank(group: Any = None) -> int:
    """This worker's number, from 0; its place in a group, -1 if it is none of it. Raises ValueError where
    PADDLE_TRAINER_ID is no number."""
    return _number("PADDLE_TRAINER_ID", 0) if group is None else group.rank


def get_world_size(group: Any = None) -> int:
    """How many workers there are, in the job or a group. Raises ValueError where PADDLE_TRAINERS_NUM is no
    number."""
    return _number("PADDLE_TRAINERS_NUM", 1) if group is None else group.nranks


def is_available() -> bool:
    """Whether jobs of several processes are in this release: yes, with parameter servers."""
    return True


def is_initialized() -> bool:
    """Whether a collective group was begun: there are none."""
    return False


def init_parallel_env() -> None:
    """Begin collective training: nothing where there is one worker, as in the original; refused where there
    are several."""
    if (workers := get_world_size()) > 1:
        raise NotInThisRelease(
            f"paddle.distributed.init_parallel_env: collective training of {workers} trainers "
            "(PADDLE_TRAINERS_NUM) is not in this release: train with parameter servers, "
            "paddle.distributed.fleet.init()"
        )
    warnings.warn(
        "paddle.distributed.init_parallel_env: there is one worker, and nothing to begin", stacklevel=2
    )


class ParallelEnv:
    """The same, and where workers listen."""

    def __init__(self) -> None:
        self.rank = self.local_rank = get_rank()
        self.world_size = self.nranks = get_world_size()
        self.device_id = self.dev_id = 0  # both are its words
        self.trainer_endpoints = [
            each for each in os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",") if each
        ]
        known = self.rank < len(self.trainer_endpoints)
        self.current_endpoint = self.trainer_endpoints[self.rank] if known else ""
