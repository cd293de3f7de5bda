"""Small things by PaddlePaddle's name for them: ``paddle.utils``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

__all__ = ["Ploter", "plot", "run_check", "unique_name"]


def __getattr__(name: str) -> Any:
    if name in ("plot", "unique_name"):
        return import_module(f"paddle.utils.{name}")
    if name == "Ploter":
        return import_module("paddle.utils.plot").Ploter
    if name == "run_check":
        return import_module("paddle.utils.check").run_check
    raise missing(__name__, name)
