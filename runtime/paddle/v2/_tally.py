"""Tallies: cost and metrics of some batches, which add up to those of a pass or a test.

They must never know how a metric is computed. Guarantee: what a tally reports is per sample over all that was
added, so batches of unequal size count by their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._engine.program import Variable
from paddle.v2._config import EvaluatorConfig
from paddle.v2._lowering.network import Network

_ONE_EACH = ("fill_any_like", {"value": 1.0})


@dataclass
class Tally:
    """Sums over samples: of the cost, and of each metric with what it is divided by."""

    samples: int = 0
    cost_sum: float = 0.0
    sums: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Take another tally in."""
        self.samples += other.samples
        self.cost_sum += other.cost_sum
        for name, (total, count) in other.sums.items():
            known = self.sums.get(name, (0.0, 0.0))
            self.sums[name] = (known[0] + total, known[1] + count)

    @property
    def cost(self) -> float:
        """The cost per sample."""
        return self.cost_sum / self.samples if self.samples else 0.0

    @property
    def metrics(self) -> dict[str, float]:
        """Each metric by name."""
        return {name: total / count if count else 0.0 for name, (total, count) in self.sums.items()}


@dataclass(frozen=True)
class Meter:
    """One metric: the variables of its sum over a batch and of its divisor, None for the batch size."""

    name: str
    total: Variable
    count: Variable | None


def meters(net: Network) -> list[Meter]:
    """Append the operators of all evaluators to the network's program."""
    return [_meter(net, evaluator) for evaluator in net.config.evaluators]


def tally(found: Sequence[Meter], samples: int, cost: np.ndarray, values: Sequence[np.ndarray]) -> Tally:
    """The tally of one run that fetched the cost and then :func:`variables`."""
    numbers = (float(value[0]) for value in values)
    sums = {
        meter.name: (next(numbers), float(samples) if meter.count is None else next(numbers))
        for meter in found
    }
    return Tally(samples, float(cost[0]), sums)


def variables(found: Sequence[Meter]) -> list[Variable]:
    """What a run must fetch for these meters, in order."""
    return [v for meter in found for v in (meter.total, meter.count) if v is not None]


def _meter(net: Network, evaluator: EvaluatorConfig) -> Meter:
    op, reads = net.builder.op, list(evaluator.input_layers)
    if evaluator.type == "classification_error":
        each, weights = op("classification_error", X=net.value(reads[0]), Label=net.ids(reads[1])), reads[2:]
    elif evaluator.type == "sum":
        each, weights = net.value(reads[0]), reads[1:]
    else:
        raise NotInThisRelease(f"an evaluator of type {evaluator.type!r} is not in this release")
    if not weights and net.outputs[reads[0]].runs:  # it is per element, not per sample
        return Meter(evaluator.name, op("reduce_sum", X=each), op("reduce_sum", X=op(*_ONE_EACH, X=each)))
    if not weights:
        return Meter(evaluator.name, op("reduce_sum", X=each), None)
    weight = net.value(weights[0])
    return Meter(
        evaluator.name,
        op("reduce_sum", X=op("elementwise_mul", X=each, Y=weight)),
        op("reduce_sum", X=weight),
    )
