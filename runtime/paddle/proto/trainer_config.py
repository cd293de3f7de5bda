"""``paddle.proto.TrainerConfig_pb2``, which programs import that dump a network by code of their own.

It must never know v1. Guarantee: a message of v1's trainer is refused when it is asked for, by its name.
"""

from __future__ import annotations

from typing import NoReturn

from paddle._absent import AbsentName

__path__: list[str] = []  # `from ... import NAME` is told as it is, too


def __getattr__(name: str) -> NoReturn:
    raise AbsentName(
        f"paddle.proto.TrainerConfig_pb2.{name} is not in this release: it is of v1's trainer; a network is "
        "configured as paddle.topology.Topology(cost).proto()"
    )
