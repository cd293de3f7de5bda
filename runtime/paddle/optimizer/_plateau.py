"""A learning rate that falls when a measure no longer gets better.

It must never compute the measure. Guarantee: the rate changes after more than ``patience`` steps in a row
without a better measure, and not again until ``cooldown`` steps have passed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle.optimizer._scheduler import LRScheduler, WrongSchedule


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by ``factor`` when ``metrics`` has not improved for ``patience`` steps.

    ``mode``: "min" where less is better, "max" where more is. Better means by more than ``threshold``, of the
    best one ("rel") or itself ("abs"). The rate never goes below ``min_lr``, and stays where it would change
    by no more than ``epsilon``.
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        self.mode = _one_of("mode", mode.lower(), ("min", "max"))
        self.threshold_mode = _one_of("threshold_mode", threshold_mode.lower(), ("rel", "abs"))
        if factor >= 1.0:
            raise WrongSchedule(f"the factor of ReduceOnPlateau must be below 1, and is {factor}")
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, int)):
            raise TypeError(f"the learning_rate of ReduceOnPlateau is a number, not {learning_rate!r}")
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.cooldown_counter = 0
        self.best: float | None = None
        self.num_bad_epochs = 0
        # It has no rate of its own by epoch: what the base class computes at once is not for it.
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = 0
        self.verbose = verbose
        self._var_name = None

    def state_keys(self) -> None:
        """Sets ``keys``: it counts more than its epochs."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the measure of an epoch: a number, or an array that holds one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        measured = _number(metrics)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(measured, self.best):
            self.best = measured
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self._reduce()

    def _reduce(self) -> None:
        self.cooldown_counter = self.cooldown
        self.num_bad_epochs = 0
        reduced = max(self.last_lr * self.factor, self.min_lr)
        if self.last_lr - reduced > self.epsilon:
            self.last_lr = reduced
            self._tell()

    def _is_better(self, measured: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return measured < best - margin if self.mode == "min" else measured > best + margin


def _number(metrics: Any) -> float:
    if isinstance(metrics, (float, int, np.floating, np.integer)):
        return float(metrics)
    try:
        array = np.asarray(metrics)
    except ValueError:
        array = np.empty(0)
    if array.size != 1 or array.dtype.kind not in "fiu":
        raise TypeError(f"metrics is a number or an array that holds one, not {metrics!r}")
    return float(array.reshape(()))


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise WrongSchedule(f"the {name} of ReduceOnPlateau is one of {', '.join(choices)}, not {value!r}")
    return value
