"""``fluid.incubate.fleet``: fleet as 1.x had it."""

from importlib import import_module
from typing import Any

__all__ = ["base", "collective", "parameter_server", "utils"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"paddle.fluid.incubate.fleet.{name} does not exist", name=name)
