"""The limit: the products of matrices in a worker's step, one process's, and nothing else of it.

Forward one for each layer, backward two; no table, no costs, no rule, no server. Whoever trains the job with
the same library for them takes longer.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.ctr.contender import PROGRAMS, told
from benchmarks.machine import library_facts
from benchmarks.worker import Work

_Product = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Left, right, result."""


def prepare(settings: Mapping[str, Any]) -> Work:
    """They, with the layers' first values."""
    os.environ.update(told(settings))
    clicks = runpy.run_path(str(PROGRAMS / "clicks.py"))
    weights = clicks["first_values"]()[: len(clicks["LAYERS"])]
    layers = [_products(clicks["BATCH"], weight) for weight in weights]

    def run(blocks: int) -> None:
        for _ in range(blocks * settings["block"]):
            for forward, _backward in layers:
                np.matmul(*forward[:2], out=forward[2])
            for _forward, backward in reversed(layers):
                for left, right, result in backward:
                    np.matmul(left, right, out=result)

    return Work(run, None, block=settings["block"], facts=library_facts())


def _products(batch: int, weight: np.ndarray) -> tuple[_Product, tuple[_Product, _Product]]:
    """Of a layer: its own, and those of the gradients of its weight and of what it is given."""
    x, y = (np.ones((batch, size), np.float32) for size in weight.shape)
    return (x, weight, np.empty_like(y)), ((x.T, y, np.empty_like(weight)), (y, weight.T, np.empty_like(x)))
