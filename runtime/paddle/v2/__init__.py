"""PaddlePaddle's v2 interface: ``import paddle.v2 as paddle``.

Importing it loads nothing: a name is looked up when it is first used. It must never hold code of its own,
except ``init``. Guarantee: each name is the very object of the module that it stands for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = frozenset(
    {
        *(
            "activation",
            "attr",
            "config_base",
            "data_feeder",
            "data_type",
            "dataset",
            "evaluator",
            "event",
            "fluid",
            "image",
        ),
        *("inference", "layer", "master", "minibatch", "networks", "op", "optimizer", "parameters", "plot"),
        *("pooling", "reader", "topology", "trainer"),
    }
)
_FUNCTIONS = {"batch": "minibatch", "infer": "inference"}
_OF_FLUID = frozenset({"default_main_program", "default_startup_program"})

__all__ = ["init", *sorted(_FUNCTIONS), *sorted(_MODULES)]


def init(**kwargs: Any) -> None:
    """Settle the flags of this trainer: arguments over ``PADDLE_INIT_*`` variables over defaults.

    The flags and their defaults: ``python paddle.py --help``. Raises an error that names
    a flag or a value that cannot be.

    ``trainer_count`` threads have a part of each batch each, and give their gradients in one step. What they
    learn is what one learns, but for the order in which numbers are added up; only batch normalization sees
    the samples of its part alone. BLAS has one thread in each, unless a variable (``OMP_NUM_THREADS``...)
    says otherwise.
    """
    from paddle.v2 import _flags

    _flags.settle(**kwargs)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        value = globals()[name] = getattr(import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
        return value
    if name in _OF_FLUID:
        return getattr(import_module("paddle.fluid"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
