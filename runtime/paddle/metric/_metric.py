"""What all measures share.

It must never know what is measured. Guarantee: ``compute`` gives what ``update`` takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class Metric(ABC):
    """A measure over batches; one of one's own defines the four abstract methods."""

    @abstractmethod
    def reset(self) -> None:
        """Forget what was measured."""

    @abstractmethod
    def update(self, *args: Any) -> Any:
        """Take a batch: what ``compute`` gave, or what it would have been given."""

    @abstractmethod
    def accumulate(self) -> Any:
        """The measure of all batches so far."""

    @abstractmethod
    def name(self) -> Any:
        """Its name, or one for each number of ``accumulate``."""

    def compute(self, *args: Any) -> Any:
        """What is computed where the predictions are; nothing here: ``update`` takes the outputs."""
        return args


def array_of(value: Any, what: str) -> np.ndarray:
    """``value`` as an array; raises ``TypeError`` naming it where it is none."""
    if not isinstance(value, np.ndarray) and not hasattr(value, "__array__") and not isinstance(value, list):
        raise TypeError(f"{what} must be a numpy array, not {type(value).__name__}")
    return np.asarray(value)
