"""The limit of models of dense layers: the products of matrices in a step, and nothing else of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.models.data import start
from benchmarks.products import products
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """They, with the layers' first values."""
    weights = [
        value for name, value in start(settings).items() if name.startswith("layer") and value.ndim == 2
    ]
    multiply = products(settings["batch"], weights)

    def run(count: int) -> None:
        for _ in range(count):
            multiply()

    return Work(run, None)
