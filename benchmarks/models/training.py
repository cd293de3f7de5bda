"""Training steps as work to be measured: batches in turn, the cost read at every step as programs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks.worker import Work

Batch = TypeVar("Batch")
_STEPS_TO_ANSWER = 10


def training(step: Callable[[Batch], float], batches: Sequence[Batch]) -> Work:
    """``step`` trains on one batch and returns its mean cost; the answer is the cost of the tenth batch."""
    for batch in batches[:_STEPS_TO_ANSWER]:
        answer = step(batch)

    def run(count: int) -> None:
        for i in range(count):
            step(batches[i % len(batches)])

    return Work(run, answer)
