"""The limit: the products of matrices in a worker's step, one process's, and nothing else of it."""

from __future__ import annotations

import os
import runpy
from collections.abc import Mapping
from typing import Any

from benchmarks.ctr.contender import PROGRAMS, told
from benchmarks.machine import library_facts
from benchmarks.products import products
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """They, with the layers' first values."""
    os.environ.update(told(settings))
    clicks = runpy.run_path(str(PROGRAMS / "clicks.py"))
    multiply = products(clicks["BATCH"], clicks["first_values"]()[: len(clicks["LAYERS"])])

    def run(blocks: int) -> None:
        for _ in range(blocks * settings["block"]):
            multiply()

    return Work(run, None, block=settings["block"], facts=library_facts())
