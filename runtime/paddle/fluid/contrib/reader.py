"""Readers of one of several trainers. It must never know a transport. Guarantee: as its function says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

__all__ = ["distributed_batch_reader"]


def distributed_batch_reader(batch_reader: Callable[[], Iterator[Any]]) -> Callable[[], Iterator[Any]]:
    """Make a reader of this trainer's batches: one of every ``PADDLE_TRAINERS_NUM`` (1 where it is not set).

    ``PADDLE_TRAINER_ID`` (0) says which. Batches at the end that are too few for all trainers are left out,
    so that all have as many. Raises ValueError where the id is not below the number.
    """
    trainers = int(os.environ.get("PADDLE_TRAINERS_NUM", 1))
    own = int(os.environ.get("PADDLE_TRAINER_ID", 0))
    if not 0 <= own < trainers:
        raise ValueError(f"PADDLE_TRAINER_ID is {own}, and PADDLE_TRAINERS_NUM {trainers}: count from 0")

    def reader() -> Iterator[Any]:
        batches = iter(batch_reader())
        while len(turn := list(islice(batches, trainers))) == trainers:
            yield turn[own]

    return reader


distributed_reader = sys.modules[f"{__name__}.distributed_reader"] = sys.modules[__name__]
"""As a package of upstream's it has one module."""
