"""Comparisons of variables, and counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import check_known
from paddle.fluid.layers.appending import appended

__all__ = ["equal", "greater_equal", "greater_than", "increment", "less_equal", "less_than", "not_equal"]


def _compared(type: str) -> Callable[..., Variable]:
    def layer(x: Variable, y: Variable, *told: Any, cond: Variable | None = None, **others: Any) -> Variable:
        check_known(type, others, "force_cpu name axis")
        into = next((each for each in told if isinstance(each, Variable)), cond)
        made = appended(type, {"X": x, "Y": y}, {"axis": -1}, dtype="bool", into=into)
        made.stop_gradient = True
        return made

    layer.__name__ = layer.__qualname__ = type
    layer.__doc__ = f"``{type}`` of two variables, element by element, in ``cond``, a new one if None."
    return layer


equal, not_equal = _compared("equal"), _compared("not_equal")
less_than, less_equal = _compared("less_than"), _compared("less_equal")
greater_than, greater_equal = _compared("greater_than"), _compared("greater_equal")


def increment(x: Variable, value: float = 1.0, in_place: bool = True) -> Variable:
    """x and ``value``, in x itself unless not ``in_place``."""
    return appended("increment", {"X": x}, {"step": float(value)}, into=x if in_place else None)
