"""Events: what ``SGD.train`` tells its event handler, in this order.

    BeginPass
      BeginIteration, EndForwardBackward, EndIteration    once a batch
    EndPass

Of what a process before this one has trained there is the last EndPass only. They must never know the
trainer. Guarantee: an event does not change after it was handed out; but ``gm``, its gradient machine, speaks
of the last batch that was trained on (_machine.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddle._absent import NotInThisRelease

__all__ = ["BeginIteration", "BeginPass", "EndForwardBackward", "EndIteration", "EndPass", "TestResult"]


class _WithEvaluator:
    @property
    def evaluator(self) -> object:
        """Not in this release."""
        raise NotInThisRelease("event.evaluator is not in this release: what it counted is in event.metrics")


@dataclass(frozen=True)
class BeginPass:
    """A pass over the data begins. Passes count from 0."""

    pass_id: int


@dataclass(frozen=True)
class BeginIteration:
    """A batch begins. Batches count from 0 in every pass."""

    pass_id: int
    batch_id: int


@dataclass(frozen=True)
class EndForwardBackward:
    """The gradients of a batch were computed, and learned from: parameters are those of the next batch.

    The original has this event between the two.
    """

    pass_id: int
    batch_id: int
    gm: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class EndIteration(_WithEvaluator):
    """A batch has ended. ``cost``, per sample, and ``metrics``, by evaluator name, are this batch's."""

    pass_id: int
    batch_id: int
    cost: float
    metrics: Mapping[str, float] = field(default_factory=dict)
    gm: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class EndPass(_WithEvaluator):
    """A pass has ended. ``metrics``: of the whole pass, by evaluator name.

    A handler may see one of these twice: a process that was started again begins with that of the last pass
    which the one before it had ended, its metrics NaN. So save under a new name, and rename.
    """

    pass_id: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    gm: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class TestResult(_WithEvaluator):
    """What ``SGD.test`` returns: the ``cost`` per sample and the metrics by evaluator name."""

    __test__ = False  # no test case, in spite of its name

    cost: float
    metrics: Mapping[str, float] = field(default_factory=dict)
