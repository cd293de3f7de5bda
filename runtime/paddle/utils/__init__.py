"""Small things by PaddlePaddle's name for them: ``paddle.utils``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

__all__ = ["Ploter", "deprecated", "plot", "require_version", "run_check", "try_import", "unique_name"]

_HOMES = {
    "Ploter": "utils.plot",
    "run_check": "utils.check",
    "deprecated": "utils.marking",
    "try_import": "utils.lazy_import",
    "require_version": "fluid.framework",
}


def __getattr__(name: str) -> Any:
    if name in ("plot", "unique_name"):
        return import_module(f"paddle.utils.{name}")
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(f"paddle.{_HOMES[name]}"), name)
        return value
    raise missing(__name__, name)
