"""Learning rates of the 2.x generation: ``paddle.optimizer.lr``.

A schedule is driven by its program: ``scheduler.step()`` after each epoch, or after each batch where its
numbers are batches. It must never know who uses it. Guarantee: the numbers are those of the formula in its
docstring, in which ``lr`` is ``learning_rate`` and ``n`` is ``last_epoch``, 0 before the first ``step()``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NoReturn

from paddle._public_names import missing
from paddle.optimizer._cycles import CosineAnnealingWarmRestarts, CyclicLR, LinearLR, OneCycleLR
from paddle.optimizer._plateau import ReduceOnPlateau
from paddle.optimizer._scheduler import LRScheduler, WrongSchedule
from paddle.optimizer._warmup import LinearWarmup

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]

Factor = Callable[[int], float]
Fall = tuple[str, dict[str, float]]


class NoamDecay(LRScheduler):
    """lr * d_model ** -0.5 * min(n ** -0.5, n * warmup_steps ** -1.5), where 0 ** -0.5 counts as 1."""

    def __init__(
        self,
        d_model: float,
        warmup_steps: float,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _above_zero("NoamDecay", d_model=d_model, warmup_steps=warmup_steps)
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        falling = 1.0 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        return float(self.base_lr * self.d_model**-0.5 * min(falling, rising))

    def _of_steps(self, every: int) -> Fall:
        return "noam_decay", {"d_model": self.d_model, "warmup_steps": self.warmup_steps}


class PiecewiseDecay(LRScheduler):
    """values[i] of the first i with n < boundaries[i], after the last one values[-1]."""

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if len(values) != len(boundaries) + 1:
            raise WrongSchedule(
                "PiecewiseDecay has one value more than boundaries, "
                f"not {list(values)} for {list(boundaries)}"
            )
        self.boundaries = boundaries
        self.values = values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if self.last_epoch < boundary:
                return value
        return self.values[-1]


class NaturalExpDecay(LRScheduler):
    """lr * e ** (-gamma * n)."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)

    def _of_steps(self, every: int) -> Fall:
        return "natural_exp_decay", _stairs(every, self.gamma)


class InverseTimeDecay(LRScheduler):
    """lr / (1 + gamma * n)."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        return self.base_lr / (1 + self.gamma * self.last_epoch)

    def _of_steps(self, every: int) -> Fall:
        return "inverse_time_decay", _stairs(every, self.gamma)


class PolynomialDecay(LRScheduler):
    """(lr - end_lr) * (1 - x) ** power + end_lr, x = min(n / decay_steps, 1).

    With ``cycle``, x is n / (decay_steps * c), where c is n / decay_steps rounded up, and 1 at first.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _above_zero("PolynomialDecay", decay_steps=decay_steps)
        self.decay_steps = decay_steps
        self.end_lr = end_lr
        self.power = power
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        steps, epoch = self.decay_steps, self.last_epoch
        if self.cycle:
            steps *= max(math.ceil(epoch / steps), 1)
        else:
            epoch = min(epoch, steps)
        return float((self.base_lr - self.end_lr) * (1 - epoch / steps) ** self.power + self.end_lr)


class ExponentialDecay(LRScheduler):
    """lr * gamma ** n."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        return float(self.base_lr * self.gamma**self.last_epoch)

    def _of_steps(self, every: int) -> Fall:
        return "exponential_decay", _stairs(every, self.gamma)


class MultiStepDecay(LRScheduler):
    """lr * gamma ** (how many of ``milestones`` n has reached)."""

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(milestones, (tuple, list)):
            raise TypeError(f"the milestones of MultiStepDecay are a list, not {milestones!r}")
        if any(left >= right for left, right in pairwise(milestones)):
            raise WrongSchedule(f"the milestones of MultiStepDecay ascend, and {list(milestones)} do not")
        _falling("MultiStepDecay", gamma)
        self.milestones = milestones
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        reached = sum(self.last_epoch >= milestone for milestone in self.milestones)
        return float(self.base_lr * self.gamma**reached)


class StepDecay(LRScheduler):
    """lr * gamma ** floor(n / step_size)."""

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(step_size, int):
            raise TypeError(f"the step_size of StepDecay is an int, not {step_size!r}")
        _above_zero("StepDecay", step_size=step_size)
        _falling("StepDecay", gamma)
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        return float(self.base_lr * self.gamma ** (self.last_epoch // self.step_size))


class LambdaDecay(LRScheduler):
    """lr * lr_lambda(n)."""

    def __init__(
        self, learning_rate: float, lr_lambda: Factor, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.lr_lambda = _function("LambdaDecay", lr_lambda)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """lr * lr_lambda(1) * ... * lr_lambda(n). It goes on from the step before, however many there were."""

    def __init__(
        self, learning_rate: float, lr_lambda: Factor, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.lr_lambda = _function("MultiplicativeDecay", lr_lambda)
        self._known: tuple[int, float, Factor, float] = 0, 1.0, lr_lambda, 1.0
        """An epoch, the rate and the factors by which it was computed, and its rate."""
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        epoch, *made_of, rate = self._known
        if self.last_epoch < epoch or made_of != [self.base_lr, self.lr_lambda]:
            epoch, rate = 0, self.base_lr
        for each in range(epoch + 1, self.last_epoch + 1):
            rate *= float(self.lr_lambda(each))  # of numpy's float32, too
        self._known = max(self.last_epoch, 0), self.base_lr, self.lr_lambda, rate
        return rate


class CosineAnnealingDecay(LRScheduler):
    """eta_min + (lr - eta_min) * (1 + cos(pi * n / T_max)) / 2.

    ``step()`` goes there from the rate before, so that a rate set from outside is annealed further;
    ``step(epoch)`` computes it anew.
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(T_max, int):
            raise TypeError(f"the T_max of CosineAnnealingDecay is an int, not {T_max!r}")
        if isinstance(eta_min, bool) or not isinstance(eta_min, (float, int)):
            raise TypeError(f"the eta_min of CosineAnnealingDecay is a number, not {eta_min!r}")
        _above_zero("CosineAnnealingDecay", T_max=T_max)
        self.T_max = T_max
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        if self.last_epoch == 0:
            return self.base_lr
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the rate before was eta_min
            return self.last_lr + self._above(1) * (1 - math.cos(math.pi / self.T_max))
        share = self._share(self.last_epoch) / self._share(self.last_epoch - 1)
        return share * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        return self.eta_min + self._above(self._share(self.last_epoch))

    def _above(self, share: float) -> float:
        return (self.base_lr - self.eta_min) * share / 2

    def _share(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)


def _stairs(every: int, rate: float) -> dict[str, float]:
    return {"decay_steps": float(every), "decay_rate": rate, "staircase": 1.0}


def _above_zero(who: str, **numbers: float) -> None:
    for name, number in numbers.items():
        if not number > 0:
            raise WrongSchedule(f"{who} divides by {name}, which must be above 0 and is {number}")


def _falling(who: str, gamma: float) -> None:
    if gamma >= 1.0:
        raise WrongSchedule(f"the gamma of {who} must be below 1, and is {gamma}: its rate is to fall")


def _function(who: str, lr_lambda: Factor) -> Factor:
    if not callable(lr_lambda):
        raise TypeError(f"the lr_lambda of {who} is a function of the epoch, not {lr_lambda!r}")
    return lr_lambda


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name)
