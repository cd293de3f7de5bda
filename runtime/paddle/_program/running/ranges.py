"""Whole numbers that come in from outside: whether a variable's dtype holds them.

numpy converts one kind of whole numbers to a narrower one without a word, and what does not fit wraps. It
must never change a number. Guarantee: a number that would become another one is refused, naming variable,
number and place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.errors import BadFeed
from paddle._program.running.lod_tensor import LoDTensor


def as_whole(value: Any, dtype: np.dtype) -> Any:
    """What is fed to a variable of whole numbers: floats that all are such as ``dtype``, else what it is.
    Programs make lengths and labels by ``np.zeros``, which upstream's operators take as they come."""
    given = np.asarray(value)
    if given.dtype.kind != "f":
        return value
    with np.errstate(invalid="ignore"):
        made = given.astype(dtype)
    if not np.array_equal(made, given):
        return value
    return LoDTensor(made, value.lod()) if isinstance(value, LoDTensor) else made


def check_range(name: str, value: np.ndarray, dtype: np.dtype, where: str = "") -> None:
    """Refuse numbers that a variable of this dtype does not hold. Of what is no whole number nothing is said.
    ``where``: whose they are."""
    given = value.dtype
    if given == dtype or given.kind not in "iu" or dtype.kind not in "iu" or np.can_cast(given, dtype):
        return
    limits = np.iinfo(dtype)
    least, most = (int(value.min()), int(value.max())) if value.size else (0, 0)
    if least >= limits.min and most <= limits.max:
        return
    flat = value.argmax() if most > limits.max else value.argmin()
    place = [int(each) for each in np.unravel_index(flat, value.shape)]
    wrong = most if most > limits.max else least
    raise BadFeed(
        f"variable {name!r}{where} is {dtype.name}, which holds {limits.min} to {limits.max}, and is fed "
        f"{wrong} (at {place}, of {given.name}): declare a dtype that holds it, or feed what fits"
    )
