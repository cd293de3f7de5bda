"""``fluid.incubate.fleet``: fleet as 1.x had it."""

from importlib import import_module
from typing import Any

from paddle import _absent

__all__ = ["base", "parameter_server", "utils"]

_LATER = {
    "collective": "training is with parameter servers (fluid.incubate.fleet.parameter_server)",
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    if name in _LATER:
        raise _absent.AbsentName(
            f"paddle.fluid.incubate.fleet.{name} is not in this release: {_LATER[name]}."
        )
    raise AttributeError(f"paddle.fluid.incubate.fleet.{name} does not exist", name=name)
