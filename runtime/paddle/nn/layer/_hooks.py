"""Functions that are called around a layer.

They must never know it. Guarantee: they are called in the order in which they were added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Hooks:
    """Functions by the number under which each was added."""

    def __init__(self) -> None:
        self._functions: dict[int, Callable[..., Any]] = {}
        self._added = 0

    def add(self, function: Callable[..., Any]) -> HookRemoveHelper:
        """Add one; what is returned takes it away again."""
        self._added += 1
        self._functions[self._added] = function
        return HookRemoveHelper(self._functions, self._added)

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(list(self._functions.values()))


class HookRemoveHelper:
    """Takes a hook away again."""

    def __init__(self, functions: dict[int, Callable[..., Any]], number: int) -> None:
        self._functions = functions
        self._number = number

    def remove(self) -> None:
        """The hook is not called any more."""
        self._functions.pop(self._number, None)
