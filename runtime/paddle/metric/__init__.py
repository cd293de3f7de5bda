"""Measures that grow batch by batch: ``paddle.metric``.

They take numpy arrays, such as what an executor fetched. They must never know a program. Guarantee:
``accumulate`` is over all that ``update`` took since ``reset``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

_HOMES = {
    "Accuracy": "accuracy",
    "Auc": "curve",
    "Metric": "metric",
    "Precision": "confusion",
    "Recall": "confusion",
    "accuracy": "operators",
    "auc": "operators",
}

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy", "auc"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise missing(__name__, name)
    value = globals()[name] = getattr(import_module(f"paddle.metric._{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
