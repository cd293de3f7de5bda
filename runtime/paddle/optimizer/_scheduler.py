"""A learning rate that a program drives: ``step()`` after each epoch or batch, ``last_lr`` in between.

It must never know a program or an optimizer: who uses one reads its rate at every step. Guarantee: the state
that ``state_dict`` gives is all that goes on; a schedule made alike and given it continues where that stood.
"""

from __future__ import annotations

import warnings
from typing import Any

from paddle._complaint import Complaint


class WrongSchedule(Complaint, ValueError):
    """Numbers with which a schedule cannot work."""


class LRScheduler:
    """What all schedules share; a schedule of one's own derives from it and defines ``get_lr``.

    ``last_epoch`` counts calls of ``step``; making a schedule is the first of them, so that it stands at 0
    then. ``verbose``: each step prints what it set.
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, int)):
            raise TypeError(f"The type of 'learning_rate' must be float or int, not {type(learning_rate)}.")
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self._var_name: str | None = None
        self.step()

    def __call__(self) -> float:
        """The rate that holds now."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to ``epoch``."""
        if epoch is None:
            self.last_epoch += 1
            self.last_lr = self.get_lr()
        else:
            self.last_epoch = epoch
            self.last_lr = self._get_closed_form_lr()
        self._tell()

    def get_lr(self) -> float:
        """The rate at ``last_epoch``; it may go by ``base_lr`` and by ``last_lr``, the rate before."""
        raise NotImplementedError(f"{type(self).__name__} is to define get_lr(), which gives its rate")

    def state_keys(self) -> None:
        """Sets ``keys``, the attributes that ``state_dict`` holds; who has more of them overrides it."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule stands."""
        self.state_keys()
        return {key: self.__dict__[key] for key in self.keys if key in self.__dict__}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from where another one stood."""
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise RuntimeError(
                    f"this state_dict is not one of {type(self).__name__}: "
                    f"it has no {key!r}, only {sorted(state_dict)}"
                )
            self.__dict__[key] = state_dict[key]
        if unknown := sorted(set(state_dict) - set(self.keys)):
            warnings.warn(f"{type(self).__name__} has no use for {unknown} in its state_dict", stacklevel=2)

    set_dict = set_state_dict

    def _of_steps(self, every: int) -> tuple[str, dict[str, float]] | None:
        """As a schedule of a job's steps, by the name and numbers that servers know, where a step of this one
        is ``every`` of those; None where only its program can drive it."""
        return None

    def _get_closed_form_lr(self) -> float:
        return self.get_lr()

    def _tell(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")
