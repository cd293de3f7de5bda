"""Fetched: the array that a run gives, which is also a number where it holds one.

Programs of these generations were written for a numpy that let an array of one element be a number:
``float(loss)``, ``"%f" % loss`` and ``math.isnan(loss)``, where a loss has the shape (1,). numpy 2.4 refuses
it. It must never know a program. Guarantee: it is an array like any other besides, reads like one, and what
numpy makes of it in other ways is numpy's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Fetched(np.ndarray):
    """See the module's text. ``Fetched.of(array)`` shares its memory."""

    @staticmethod
    def of(array: Any) -> Fetched:
        """The same elements."""
        return np.asarray(array).view(Fetched)

    def _number(self) -> Any:
        if self.size != 1:
            raise TypeError(f"only an array of one element is a number, and this one has {self.size}")
        return self.item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __format__(self, spec: str) -> str:
        return format(self._number(), spec) if spec else str(self)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._number(), digits)

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What is computed of it is one, too; a sum over all is a number, as numpy's."""
        return array[()] if array.ndim == 0 else array.view(type(self))
