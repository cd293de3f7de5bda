"""Small things by PaddlePaddle's name for them: ``paddle.utils``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

__all__ = ["plot", "run_check", "unique_name"]


def __getattr__(name: str) -> Any:
    if name in ("plot", "unique_name"):
        return import_module(f"paddle.utils.{name}")
    if name == "run_check":
        return import_module("paddle.utils.check").run_check
    raise AttributeError(f"paddle.utils.{name} is not in this release", name=name, obj=sys.modules[__name__])
