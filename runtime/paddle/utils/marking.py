"""Marks functions that have a successor: ``paddle.utils.deprecated``.

It must never change what a function does. Guarantee: as in 2.6 nothing is said when it is called; its text
says what to call instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["deprecated"]

F = TypeVar("F", bound=Callable[..., object])


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0) -> Callable[[F], F]:
    """Mark a function or class. ``update_to``: what to call instead, ``since``: a version. ``level`` has not
    been heeded since 2.1."""
    told = [f"Deprecated{f' since {since.strip()}' if since.strip() else ''}."]
    told += [f"Call {update_to.strip()} instead."] if update_to.strip() else []
    told += [reason.strip()] if reason.strip() else []

    def mark(function: F) -> F:
        function.__doc__ = "\n\n".join(filter(None, [" ".join(told), function.__doc__]))
        return function

    return mark
