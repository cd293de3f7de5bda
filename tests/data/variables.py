"""Variables as datasets look at them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    name: str
    dtype: str = "int64"
    shape: tuple[int, ...] = (-1, 1)
    lod_level: int = 0


WORDS = Variable("words", lod_level=1)
DENSE = Variable("dense", "float32", (-1, 2))
LABEL = Variable("label")
ALL = [WORDS, DENSE, LABEL]
