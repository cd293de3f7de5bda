"""What fluid calls its incubator: data generators and, before 2.0, fleet."""

from importlib import import_module
from typing import Any

__all__ = ["data_generator", "fleet"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"paddle.fluid.incubate.{name} does not exist", name=name)
