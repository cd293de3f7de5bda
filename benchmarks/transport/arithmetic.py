"""What no transport can be faster than: the step of descent alone, in one process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.transport.exchange import answer, cores, gradient, keep_to, start, stepper
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """The parameters and a gradient for them."""
    floats = settings["floats"]
    values, pushed = start(floats), gradient(floats)
    step = stepper(values)
    keep_to(cores()[0])

    def run(count: int) -> None:
        for _ in range(count):
            step(pushed)

    return Work(run, answer(run, values))
