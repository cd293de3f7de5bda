"""Training steps as work to be measured: batches in turn, the cost read at every step as programs do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from benchmarks.worker import Work

Batch = TypeVar("Batch")


def training(step: Callable[[Batch], float], batches: Sequence[Batch], settings: Mapping[str, Any]) -> Work:
    """``step`` trains on one batch and returns its mean cost; the answer is the cost of one of the first."""
    for batch in batches[: settings["steps_to_answer"]]:
        answer = step(batch)

    def run(count: int) -> None:
        for i in range(count):
            step(batches[i % len(batches)])

    return Work(run, answer)
