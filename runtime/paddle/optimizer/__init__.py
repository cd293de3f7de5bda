"""Optimizers: ``paddle.optimizer``, those of the 2.x generation, and by their own names those of v2.

Importing it loads nothing: a name is looked up when it is first used. It must never hold code of its own.
Guarantee: each name is the very object of the module that it stands for. A class that both generations have
takes the keywords of both: given one that only v2 has, or given to ``paddle.trainer.SGD``, it is v2's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._homes import FILES
from paddle._public_names import missing

_OF_2 = frozenset({"SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lamb", "Momentum", "RMSProp"})
_OF_V2 = frozenset({"AdaDelta", "AdaGrad", "DecayedAdaGrad", "L2Regularization", "ModelAverage"})

__all__ = ["Optimizer", "lr", *sorted(_OF_2 | _OF_V2)]


def __getattr__(name: str) -> Any:
    if name == "lr" or f"optimizer.{name}" in FILES:
        return import_module(f"paddle.optimizer.{name}")
    if name in _OF_2:
        value = globals()[name] = getattr(import_module("paddle.optimizer._rules"), name)
        return value
    if name == "Optimizer":
        return import_module("paddle.optimizer._optimizer").Optimizer
    if name in _OF_V2:
        value = globals()[name] = getattr(import_module("paddle.v2.optimizer"), name)
        return value
    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
