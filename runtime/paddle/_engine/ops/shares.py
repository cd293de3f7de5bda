"""Shares: what the sum of each sequence is multiplied by, to be its average or its sum over the root of n.

Source of the semantics: v2's average and square root pooling. A sequence without rows counts as one of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.registry import Call, Forms, Steps

# What a sum is multiplied by, as a function of the number of rows.
_SHARES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "average": lambda counts: 1 / np.maximum(counts, 1),
    "sqrt": lambda counts: 1 / np.sqrt(np.maximum(counts, 1)),
}


class Shares:
    """One factor for each sequence: (n, 1), renewed by ``renew``. None at all for a plain sum."""

    def __init__(self, call: Call, dtype: np.dtype) -> None:
        self._offsets = call["Offsets"]
        self._share = _SHARES.get(call.attrs["pooltype"])
        self.factors = np.empty((len(self._offsets) - 1, 1), dtype)

    def renew(self) -> None:
        if self._share is not None:
            self.factors[:, 0] = self._share(np.diff(self._offsets))

    def scale(self, source: np.ndarray, out: np.ndarray) -> Steps:
        """Steps that multiply, where there is anything to multiply by."""
        if self._share is not None:
            yield self.renew
            yield partial(np.multiply, source, self.factors, out)


def check_pooltype(forms: Forms) -> None:
    """Refuse a kind of pooling that is none."""
    if forms.attrs["pooltype"] not in ("sum", *_SHARES):
        raise ShapeError(f"pooltype is sum, average or sqrt, not {forms.attrs['pooltype']!r}")
