"""Learning rates that rise and fall: cycles, one cycle, lines, and cosines that begin again.

They must never know a program. Guarantee: the numbers are those of 2.6.2's schedules of the same arguments,
step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from paddle.optimizer._scheduler import LRScheduler, WrongSchedule

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "LinearLR", "OneCycleLR"]

_SCALES: dict[str, tuple[str, Callable[[float, float], float]]] = {
    "triangular": ("cycle", lambda gamma, x: 1.0),
    "triangular2": ("cycle", lambda gamma, x: 2.0 ** (1 - x)),  # 0 in the end; its inverse overflows
    "exp_range": ("iterations", lambda gamma, x: gamma**x),
}


def _number(who: str, name: str, value: Any, *kinds: type) -> None:
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise TypeError(f"the {name} of {who} is a number ({kinds[0].__name__}), not {value!r}")


class CyclicLR(LRScheduler):
    """From ``base_learning_rate`` to ``max_learning_rate`` in ``step_size_up`` steps, and back in
    ``step_size_down`` (as many, if None), again and again.

    How far up it goes is scaled by ``scale_fn`` of the cycle (from 1 on) or of the steps, by ``scale_mode``;
    without one ``mode`` says: "triangular" always all the way, "triangular2" half as far in each cycle,
    "exp_range" ``exp_gamma`` ** steps.
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _number("CyclicLR", "max_learning_rate", max_learning_rate, float, int)
        for name, value in (("step_size_up", step_size_up), ("step_size_down", step_size_down)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise WrongSchedule(f"{name} of CyclicLR is a whole number above 0, not {value!r}")
        if max_learning_rate < 0 or (scale_fn is None and mode not in _SCALES):
            raise WrongSchedule(f"CyclicLR knows no mode {mode!r} and no rate below 0, {max_learning_rate}")
        if scale_mode not in ("cycle", "iterations"):
            raise WrongSchedule(f"scale_mode of CyclicLR is 'cycle' or 'iterations', not {scale_mode!r}")
        self.cycle_size = float(step_size_up + (step_size_down or step_size_up))
        self.step_up_pct = step_size_up / self.cycle_size
        self.max_lr, self.amplitude = float(max_learning_rate), max_learning_rate - base_learning_rate
        self.mode, self.gamma = mode, exp_gamma
        self.scale_mode, own = (scale_mode, None) if scale_fn is not None else _SCALES[mode]
        self.scale_fn = scale_fn if own is None else (lambda x: own(self.gamma, x))
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        steps = self.last_epoch
        cycle = 1 + steps // self.cycle_size
        share = 1.0 + steps / self.cycle_size - cycle
        rises = share <= self.step_up_pct
        height = share / self.step_up_pct if rises else (1 - share) / (1 - self.step_up_pct)
        scaled = self.scale_fn(cycle if self.scale_mode == "cycle" else steps)  # type: ignore[misc]
        return float(self.base_lr + self.amplitude * height * scaled)


class OneCycleLR(LRScheduler):
    """From ``max_learning_rate`` / ``divide_factor`` up to it in a share ``phase_pct`` of ``total_steps``,
    then down to ``end_learning_rate``: by way of where it began, as slowly as it rose, if ``three_phase``.
    ``anneal_strategy``: along a "cos" or a "linear" line.
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _number("OneCycleLR", "max_learning_rate", max_learning_rate, float, int)
        _number("OneCycleLR", "end_learning_rate", end_learning_rate, float, int)
        _number("OneCycleLR", "total_steps", total_steps, int)
        _number("OneCycleLR", "phase_pct", phase_pct, float)
        if min(max_learning_rate, end_learning_rate) < 0 or total_steps <= 0:
            raise WrongSchedule("OneCycleLR has rates of 0 and more, and total_steps above 0")
        if not 0 <= phase_pct <= 1 or (three_phase and phase_pct >= 0.5):
            raise WrongSchedule(
                f"phase_pct of OneCycleLR is from 0 to 1, below 0.5 of three, not {phase_pct}"
            )
        if anneal_strategy not in ("cos", "linear"):
            raise WrongSchedule(
                f"anneal_strategy of OneCycleLR is 'cos' or 'linear', not {anneal_strategy!r}"
            )
        self.total_steps, self._is_cosine = total_steps, anneal_strategy == "cos"
        first, risen, last = (
            max_learning_rate / float(divide_factor),
            phase_pct * total_steps,
            total_steps - 1,
        )
        self._ends = [risen - 1, 2 * risen - 2, last] if three_phase else [risen - 1, last]
        back = [first] if three_phase else []
        self._rates = [first, max_learning_rate, *back, float(end_learning_rate)]
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        if self.last_epoch > self.total_steps:
            raise WrongSchedule(
                f"OneCycleLR was made for {self.total_steps} steps, and this is step {self.last_epoch}"
            )
        at = next((at for at, end in enumerate(self._ends) if self.last_epoch <= end), len(self._ends) - 1)
        begun = self._ends[at - 1] if at else 0.0
        share = (self.last_epoch - begun) / (self._ends[at] - begun)
        start, end = self._rates[at], self._rates[at + 1]
        if self._is_cosine:
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start


class LinearLR(LRScheduler):
    """lr times a factor that goes from ``start_factor`` to ``end_factor`` in ``total_steps`` steps."""

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1 or total_steps <= 0:
            raise WrongSchedule(
                "LinearLR has factors from 0 (start_factor: above it) to 1 and total_steps above 0, not "
                f"{start_factor}, {end_factor} and {total_steps}"
            )
        self.start_factor, self.end_factor, self.total_steps = start_factor, end_factor, total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``, from the rate before it."""
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        apart = self.end_factor - self.start_factor
        before = self.total_steps * self.start_factor + (self.last_epoch - 1) * apart
        return self.last_lr * (1.0 + apart / before)


class CosineAnnealingWarmRestarts(LRScheduler):
    """eta_min + (lr - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2, where T_cur counts epochs since it began
    anew, which it does after ``T_0`` of them, and then each time after ``T_mult`` times as many. ``step``
    takes parts of an epoch, too.
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0 or not isinstance(T_mult, int) or T_mult < 1:
            raise WrongSchedule(f"T_0 and T_mult are whole numbers above 0, not {T_0!r} and {T_mult!r}")
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min, self.T_cur = eta_min, float(last_epoch)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at ``T_cur``."""
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * share

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        """Go on to the next epoch, or to ``epoch``."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self.last_lr = self.get_lr()
        self._tell()

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise WrongSchedule(f"an epoch of CosineAnnealingWarmRestarts is 0 or more, not {epoch}")
        if epoch < self.T_0:
            self.T_cur, self.T_i = epoch, self.T_0
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            begun = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**begun - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**begun
