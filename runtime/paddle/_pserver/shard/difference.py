"""Difference: in what two declarations first differ, for people: the settings by name, and both their values.

It must never know which of them is right. Guarantee: what it says of two that are not equal is not empty, and
names nothing that they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from paddle._pserver.protocol.messages import Declare


def difference(mine: Declare, theirs: Declare) -> str:
    """Where two declarations first differ."""
    if mine.wire != theirs.wire:
        return f"--wire, --wire_topk and --wire_answers: {mine.wire} and {theirs.wire}"
    if mine.update != theirs.update:
        return f"optimizer settings: {', '.join(_differing('', mine.update, theirs.update))}"
    if (mine.shard, mine.shards) != (theirs.shard, theirs.shards):
        return (
            f"shard {mine.shard} of {mine.shards} and shard {theirs.shard} of {theirs.shards}: "
            "their lists of pservers or numbers of ports differ"
        )
    for one, other in zip(mine.parameters, theirs.parameters, strict=False):
        if one.name != other.name:
            return f"parameter {one.name!r} and parameter {other.name!r} in its place"
        if one != other:
            return f"parameter {one.name!r}: {', '.join(_differing('', one, other))}"
    return f"{len(mine.parameters)} and {len(theirs.parameters)} parameters"


def _differing(name: str, one: Any, other: Any) -> Iterator[str]:
    """What of a setting and all that it is made of is not the same, by the names of its parts."""
    if is_dataclass(one) and type(one) is type(other):
        for field in fields(one):
            yield from _differing(
                _part(name, field.name), getattr(one, field.name), getattr(other, field.name)
            )
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            yield from _differing(_part(name, key), one.get(key), other.get(key))
    elif one != other:
        yield f"{name} {one!r} and {other!r}"


def _part(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
