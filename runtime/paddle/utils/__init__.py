"""Small things by PaddlePaddle's name for them: ``paddle.utils``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._aliases import offer
from paddle._public_names import missing

offer("paddle.utils.image_util", "paddle.utils.pictures")

__all__ = [
    "Ploter",
    "deprecated",
    "download",
    "image_util",
    "plot",
    "require_version",
    "run_check",
    "try_import",
    "unique_name",
]

_HOMES = {
    "Ploter": "utils.plot",
    "run_check": "utils.check",
    "deprecated": "utils.marking",
    "try_import": "utils.lazy_import",
    "require_version": "fluid.framework",
}
_ABSENT = {
    "plotcurve": "paddle.utils.plot.Ploter draws curves as a program trains",
    **dict.fromkeys(("preprocess_img", "preprocess_util"), "paddle.dataset.image prepares pictures"),
    "profiler": "paddle.profiler and fluid.profiler say where time goes",
    **dict.fromkeys(("show_pb", "torch2paddle"), "it is of files of v1 before paddle.v2"),
}


def __getattr__(name: str) -> Any:
    if name in ("download", "image_util", "plot", "unique_name"):
        return import_module(f"paddle.utils.{name}")
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(f"paddle.{_HOMES[name]}"), name)
        return value
    raise missing(__name__, name, _ABSENT.get(name, ""))
