"""Nested lists, tuples and dicts, as loops, branches and cells take and give them.

It must never look into a variable. Guarantee: the items of a dict are taken in the order of its sorted keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def is_sequence(seq: Any) -> bool:
    """Whether it is nested: a list, a tuple or a dict."""
    return isinstance(seq, Mapping | Sequence) and not isinstance(seq, str)


def flatten(nest: Any) -> list[Any]:
    """All that is in it and not nested, in order."""
    return list(_leaves(nest))


def _leaves(nest: Any) -> Iterator[Any]:
    if not is_sequence(nest):
        yield nest
        return
    for each in _items(nest):
        yield from _leaves(each)


def _items(nest: Any) -> list[Any]:
    return [nest[key] for key in sorted(nest)] if isinstance(nest, Mapping) else list(nest)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """What ``flatten`` gave, nested as ``structure`` is."""
    given = list(flat_sequence)
    wanted = len(flatten(structure))
    if wanted != len(given):
        raise ValueError(f"the structure has place for {wanted} items, and {len(given)} are given")
    left = iter(given)
    return _packed(structure, left)


def _packed(structure: Any, left: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(left)
    made = [_packed(each, left) for each in _items(structure)]
    if isinstance(structure, Mapping):
        found = dict(zip(sorted(structure), made, strict=True))
        return type(structure)((key, found[key]) for key in structure)  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):
        return type(structure)(*made)
    return type(structure)(made)


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """What ``func`` makes of the items in the same place of all structures, nested as the first."""
    several = [flatten(each) for each in structure]
    return pack_sequence_as(structure[0], [func(*each) for each in zip(*several, strict=True)])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raise where two are not nested alike; ``check_types``: lists as lists, tuples as tuples."""
    if is_sequence(nest1) != is_sequence(nest2):
        raise ValueError(f"the two are not nested alike: {nest1!r} and {nest2!r}")
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(f"{nest1!r} is a {type(nest1).__name__}, and {nest2!r} a {type(nest2).__name__}")
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"the two have other keys: {sorted(nest1)} and {sorted(nest2)}")
    first, second = _items(nest1), _items(nest2)
    if len(first) != len(second):
        raise ValueError(f"{nest1!r} has {len(first)} items, and {nest2!r} {len(second)}")
    for one, other in zip(first, second, strict=True):
        assert_same_structure(one, other, check_types)
