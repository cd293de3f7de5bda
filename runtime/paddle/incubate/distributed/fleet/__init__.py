"""``paddle.incubate.distributed.fleet``: what is ``paddle.fluid.incubate.fleet``, flatter, as in 2.5 and 2.6.

It must never hold a name of its own. Guarantee: each module is the very one that programs of 1.x import.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._absent import AbsentName

__all__ = ["base", "collective", "fleet_util", "parameter_server", "role_maker", "utils"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"paddle.incubate.distributed.fleet.{name}")
    if name in ("recompute_hybrid", "recompute_sequential"):
        raise AbsentName(
            f"paddle.incubate.distributed.fleet.{name} is not in this release; it is of eager programs."
        )
    raise AttributeError(f"paddle.incubate.distributed.fleet.{name} does not exist", name=name)
