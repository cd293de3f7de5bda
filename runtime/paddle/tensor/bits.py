"""Bits of whole numbers: ``paddle.bitwise_and`` and its family.

It must never compute: each function appends an operator to the default program. Guarantee: of truths they are
what logic says; no gradient goes through them.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor._append import append, variable_of

__all__ = ["bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor"]


def _of_two(type: str, x: Any, y: Any, out: Any, name: str | None) -> Any:
    inputs = {"X": x, "Y": variable_of(y, x)}
    return append(type, inputs, dtype=x.dtype, into=out, stop_gradient=True, name=name)


def bitwise_and(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """The bits that both have."""
    return _of_two("bitwise_and", x, y, out, name)


def bitwise_or(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """The bits that one at least has."""
    return _of_two("bitwise_or", x, y, out, name)


def bitwise_xor(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """The bits that one of them has and the other has not."""
    return _of_two("bitwise_xor", x, y, out, name)


def bitwise_not(x: Any, out: Any = None, name: str | None = None) -> Any:
    """The bits that x has not."""
    return append("bitwise_not", {"X": x}, dtype=x.dtype, into=out, stop_gradient=True, name=name)
