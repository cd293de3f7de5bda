"""``paddle.inference``: saved models that are deployed. (Of v2 ``paddle.infer``, which is not of these, has
its class here, too.)

It must never hold code of its own. Guarantee: each name is the very object of the room that it stands for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

_HOMES = {
    "predicting.config": "Config",
    "predicting.tensor": "Tensor",
    "predicting.kinds": "DataType PlaceType PrecisionType get_num_bytes_of_data_type",
    "predicting.predictor": "Predictor PredictorPool create_predictor",
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names.split()}
_OF_V2 = frozenset({"Inference", "infer"})

__all__ = [
    *sorted({*_WHERE, *_OF_V2}),
    *("get_trt_compile_version", "get_trt_runtime_version", "get_version"),
]


def get_version() -> str:
    """What computes, in a few lines."""
    from paddle.version import full_version

    return f"version: {full_version}\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """There is no TensorRT."""
    return (0, 0, 0)


get_trt_runtime_version = get_trt_compile_version


def __getattr__(name: str) -> Any:
    if name in _OF_V2:
        return getattr(import_module("paddle.v2.inference"), name)
    if name not in _WHERE:
        raise missing(__name__, name)
    value = globals()[name] = getattr(import_module(f"paddle._program.{_WHERE[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
