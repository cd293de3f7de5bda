"""Gradients, appended to a program."""

from typing import Any

from paddle._program.description.variable import GRAD_SUFFIX
from paddle._program.writing.backward import append_backward, calc_gradient, gradients
from paddle.fluid._listed import lacking

__all__ = ["append_backward", "calc_gradient", "gradients"]


def _append_grad_suffix_(name: str) -> str:
    """The name of the gradient of a variable; programs that check gradients ask for it."""
    return name + GRAD_SUFFIX


def _as_list(given: Any) -> list[Any]:
    """What is given, as a list: of None an empty one."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


__getattr__ = lacking(__name__)
