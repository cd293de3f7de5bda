"""A batch that is fed in parts, one for each device that a program counted on: they are one batch here.

It must never know an operator. Guarantee: rows, and the sequences that they are, follow each other in the
order of the parts; of what is no batch, as a parameter that each device is given, there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.running.lod_tensor import LoDTensor


def joined(parts: Sequence[Any], described: Callable[[str], Variable | None]) -> dict[Any, Any]:
    """One feed of several, which name the same. ``described``: what a program says of a name."""
    if not all(isinstance(part, Mapping) for part in parts):
        raise BadArgument("a feed is a dict of names to values, or a list of such dicts")
    if any(set(part) != set(parts[0]) for part in parts):
        names = " and ".join(str(sorted(map(str, part))) for part in parts)
        raise BadArgument(f"the parts of a batch have the same names, and not {names}")
    return {
        name: value
        if _outlives(described(getattr(name, "name", name)))
        else _joined(name, [part[name] for part in parts])
        for name, value in parts[0].items()
    }


def _outlives(described: Variable | None) -> bool:
    return described is not None and described.persistable and not described.is_data


def _joined(name: Any, values: list[Any]) -> Any:
    arrays = [np.asarray(value) for value in values]
    try:
        rows = np.concatenate(arrays)
    except ValueError as error:
        raise BadArgument(
            f"the parts of {name!r} in the feed do not follow each other, as they are one batch: {error}."
            " Feed one part for each run (programs that ask count places by CPU_NUM), or pad all alike"
        ) from None
    levels = [value.lod() if isinstance(value, LoDTensor) else [] for value in values]
    if not any(levels):
        return rows
    if len({len(each) for each in levels}) != 1:
        raise BadArgument(f"some parts of {name!r} in the feed are sequences, and others not")
    return LoDTensor(rows, [_offsets(level) for level in zip(*levels, strict=True)])


def _offsets(several: Sequence[Sequence[int]]) -> list[int]:
    found = [0]
    for offsets in several:
        found += [found[-1] + each for each in offsets[1:]] if len(offsets) > 1 else []
    return found
