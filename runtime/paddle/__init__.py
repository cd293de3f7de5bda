"""PaddlePaddle's names. ``import paddle`` loads nothing heavy: a name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of the module that it stands for.
"""

from importlib import import_module
from typing import Any

# A function that has its module's name: importing the module later must not put the module in its place.
from paddle.batch import batch

__version__ = "0.1.0"

_MODULES = frozenset({"dataset", "reader", "v2"})
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
        *("networks", "op", "optimizer", "parameters", "plot", "pooling", "topology", "trainer"),
    }
)
_LATER = frozenset({"distributed", "enable_static", "fluid", "io", "metric", "nn", "static"})

__all__ = ["__version__", "batch", *sorted(_MODULES | _OF_V2)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.{name}")
    if name in _OF_V2:
        value = globals()[name] = getattr(import_module("paddle.v2"), name)
        return value
    advice = " is not in this release; paddle.v2 is" if name in _LATER else " does not exist"
    raise AttributeError(f"paddle.{name}{advice}", name=name, obj=import_module(__name__))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
