"""PaddlePaddle's names. ``import paddle`` loads nothing heavy: a name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of the module that it stands for.
"""

from importlib import import_module
from typing import Any

from paddle import _absent

# A function that has its module's name: importing the module later must not put the module in its place.
from paddle.batch import batch

__version__ = "0.1.0"

_MODULES = frozenset(
    {"dataset", "distributed", "fluid", "io", "metric", "optimizer", "profiler", "reader", "v2"}
)
_OF_V2 = frozenset(
    {
        *(
            "activation",
            "attr",
            "data_type",
            "evaluator",
            "event",
            "image",
            "inference",
            "infer",
            "init",
            "layer",
        ),
        *("networks", "op", "parameters", "plot", "pooling", "topology", "trainer"),
    }
)
_IN_V2 = "programs of the v2 generation run (import paddle.v2)"
_LATER = {
    **dict.fromkeys(("enable_static", "nn", "static", "to_tensor", "Tensor"), _IN_V2),
    "fleet": "it is paddle.distributed.fleet",
    "trainer_config_helpers": "networks are written in Python programs (paddle.layer)",
}

__all__ = ["__version__", "batch", *sorted(_MODULES | _OF_V2)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.{name}")
    if name == "core":
        return import_module("paddle.fluid.core")
    if name in _OF_V2:
        value = globals()[name] = getattr(import_module("paddle.v2"), name)
        return value
    if name in _LATER:
        raise _absent.AbsentName(f"paddle.{name} is not in this release; {_LATER[name]}.")
    raise AttributeError(f"paddle.{name} does not exist", name=name, obj=import_module(__name__))


_absent.explain_imports()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
