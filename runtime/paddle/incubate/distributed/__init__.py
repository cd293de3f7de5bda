"""``paddle.incubate.distributed``, of which 2.5 and 2.6 have fleet in the words of 1.x.

It must never know a role. Guarantee: what is not here says so by its name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._absent import AbsentName

__all__ = ["fleet"]


def __getattr__(name: str) -> Any:
    if name == "fleet":
        return import_module("paddle.incubate.distributed.fleet")
    if name in ("models", "utils"):
        raise AbsentName(
            f"paddle.incubate.distributed.{name} is not in this release; it is of collective training."
        )
    raise AttributeError(f"paddle.incubate.distributed.{name} does not exist", name=name)
