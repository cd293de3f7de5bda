"""Finite: whether all numbers of a declaration are numbers to compute with.

It must never know what they are for. Guarantee: what it lets through has no NaN and no infinity, however
deep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any


def not_finite(value: Any) -> str | None:
    """The first number that is none, as in ``learning_rate=nan``; None where there is none."""
    return next((f"{name}={number}" for name, number in _numbers("", value) if not isfinite(number)), None)


def _numbers(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, float):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _numbers(str(key), each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _numbers(name, each)
    elif is_dataclass(value):
        for each in fields(value):
            yield from _numbers(each.name, getattr(value, each.name))
