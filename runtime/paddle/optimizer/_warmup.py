"""A straight line to where another schedule begins.

It must never know more of that one than its rate and its step. Guarantee: while the line lasts the other one
stays where it is; afterwards it is at the first epoch after the line.
"""

from __future__ import annotations

from typing import Any

from paddle.optimizer._scheduler import LRScheduler, WrongSchedule


class LinearWarmup(LRScheduler):
    """From ``start_lr`` to ``end_lr`` in ``warmup_steps``, then ``learning_rate``, a number or a schedule.

    start_lr + (end_lr - start_lr) * n / warmup_steps while n < warmup_steps; of a schedule then its rate at
    n - warmup_steps.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, int, LRScheduler)):
            raise TypeError(
                f"the learning_rate of LinearWarmup is a number or an LRScheduler, not {learning_rate!r}"
            )
        if not end_lr > start_lr:
            raise WrongSchedule(f"LinearWarmup goes up: end_lr {end_lr} must be above start_lr {start_lr}")
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.start_lr = start_lr
        self.end_lr = end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        if self.last_epoch < self.warmup_steps:
            risen = (self.end_lr - self.start_lr) * self.last_epoch / self.warmup_steps
            return risen + self.start_lr
        if not isinstance(self.learning_rate, LRScheduler):
            return self.learning_rate
        self.learning_rate.step(self.last_epoch - self.warmup_steps)
        return self.learning_rate()

    def state_dict(self) -> dict[str, Any]:
        """Where it and the schedule after it stand."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from where another one stood."""
        own = dict(state_dict)
        inner = own.pop("LinearWarmup_LR", None)
        super().set_state_dict(own)
        if isinstance(self.learning_rate, LRScheduler) and inner is not None:
            self.learning_rate.set_state_dict(inner)

    set_dict = set_state_dict
