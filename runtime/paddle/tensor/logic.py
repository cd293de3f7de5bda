"""Comparisons and what is made of them: ``paddle.equal`` and its family.

It must never compute: each function appends an operator to the default program. Guarantee: the results are
bool, and no gradient goes through them.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from paddle.tensor._append import append, variable_of

__all__ = [
    *("allclose", "equal", "equal_all", "greater_equal", "greater_than", "is_empty", "is_tensor"),
    *("less_equal", "less_than", "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal"),
]


def _comparison(type: str, says: str) -> Callable[..., Any]:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        if isinstance(x, Number):
            x = variable_of(x, y)
        inputs = {"X": x, "Y": variable_of(y, x)}
        return append(type, inputs, {"axis": -1}, dtype="bool", stop_gradient=True, name=name)

    function.__name__ = function.__qualname__ = type
    function.__doc__ = f"Whether {says}, element by element."
    return function


def _logical(type: str, says: str) -> Callable[..., Any]:
    def function(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
        return append(type, {"X": x, "Y": y}, dtype="bool", into=out, stop_gradient=True, name=name)

    function.__name__ = function.__qualname__ = type
    function.__doc__ = f"Whether {says}, element by element."
    return function


equal = _comparison("equal", "x is y")
not_equal = _comparison("not_equal", "x is not y")
less_than = _comparison("less_than", "x is below y")
less_equal = _comparison("less_equal", "x is not above y")
greater_than = _comparison("greater_than", "x is above y")
greater_equal = _comparison("greater_equal", "x is not below y")
logical_and = _logical("logical_and", "both are true")
logical_or = _logical("logical_or", "one at least is true")
logical_xor = _logical("logical_xor", "one of them is true and the other is not")


def logical_not(x: Any, out: Any = None, name: str | None = None) -> Any:
    """Whether x is false, element by element."""
    return append("logical_not", {"X": x}, dtype="bool", into=out, stop_gradient=True, name=name)


def equal_all(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether x and y are of one shape, and all elements are equal."""
    from paddle.tensor.creation import full
    from paddle.tensor.math import all

    pairs = zip(x.shape, y.shape, strict=False)
    if len(x.shape) != len(y.shape) or any(a != b and min(a, b) >= 0 for a, b in pairs):
        return full([1], False, "bool")
    return all(equal(x, y), name=name)


def allclose(
    x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> Any:
    """Whether all elements are near each other: abs(x - y) <= atol + rtol * abs(y); ``equal_nan``: nan is
    near nan."""
    from paddle.tensor.formulas import isclose
    from paddle.tensor.math import all

    return all(isclose(x, y, rtol, atol, equal_nan), name=name)


def is_empty(x: Any, name: str | None = None) -> Any:
    """Whether there is no element."""
    return append("is_empty", {"X": x}, dtype="bool", stop_gradient=True, name=name)


def is_tensor(x: Any) -> bool:
    """Whether ``x`` is a variable of a program."""
    from paddle._program.description.variable import Variable

    return isinstance(x, Variable)
