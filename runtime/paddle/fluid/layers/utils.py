"""Nested lists, tuples and dicts, as programs with cells of their own walk them. None of it is a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.writing.nests import assert_same_structure as assert_same_structure
from paddle._program.writing.nests import flatten as flatten
from paddle._program.writing.nests import is_sequence as is_sequence
from paddle._program.writing.nests import map_structure as map_structure
from paddle._program.writing.nests import pack_sequence_as as pack_sequence_as


def convert_to_list(value: Any, n: int, name: str, dtype: type = int) -> list[Any]:
    """``value`` as ``n`` of ``dtype``: one stands for all."""
    if isinstance(value, dtype):
        return [value] * n
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{name} is one {dtype.__name__} or {n} of them, and not {value!r}")
    given = [dtype(each) for each in value]
    if len(given) != n:
        raise ValueError(f"{name} is one {dtype.__name__} or {n} of them, and not {value!r}")
    return given
