"""Static or not: which of its two ways the 2.x generation goes.

This release has the static one. It must never know a program. Guarantee: a 2.x name that computes, used
before ``paddle.enable_static()``, says so by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from importlib import import_module
from typing import Any

from paddle import _homes
from paddle._absent import NotInThisRelease
from paddle._program.description.written import now


def enable_static() -> None:
    """From now on what is called is appended to the default programs; an Executor runs these."""
    from paddle._program.description.arithmetic import methods_by

    now().is_static = True
    methods_by(_method)


def _method(name: str) -> Callable[..., Any] | None:
    """The function of tensors that is a method of variables, too; of one with _ at its end that without."""
    found = _function(name)
    if found is None and name.endswith("_") and (plain := _function(name[:-1])) is not None:
        of: Callable[..., Any] = import_module("paddle.tensor.in_place").in_place_of(name, plain)
        return of
    return found


_METHODS = frozenset({"bernoulli", "diag", "multinomial", "tril", "triu"})
"""Those that are made of one tensor, among functions that are made of none."""


_OF_SIGNS = {
    "__and__": "both",
    "__getitem__": "indexed",
    "__invert__": "neither",
    "__iter__": "each",
    "__or__": "either",
    "__xor__": "one_of_two",
}
"""What Python calls a sign, and the function of it."""


def _function(name: str) -> Callable[..., Any] | None:
    if name in _OF_SIGNS:
        sign: Callable[..., Any] = getattr(import_module("paddle.tensor.indexing"), _OF_SIGNS[name])
        return sign
    module = _homes.HOMES.get(name, "")
    if module in ("tensor.creation", "tensor.random") and name not in _METHODS:
        return None
    if not module.startswith("tensor."):
        methods = import_module("paddle.tensor.methods")
        return getattr(methods, name) if name in methods.__all__ else None
    found: Callable[..., Any] = getattr(import_module(f"paddle.{module}"), name)
    return found


def disable_static(place: object = None) -> None:
    """From now on nothing is appended. What would be computed at once is not in this release."""
    now().is_static = False


def in_dynamic_mode() -> bool:
    """Whether ``enable_static`` was not called."""
    return not now().is_static


def need_static(name: str) -> None:
    """Raises where ``name`` would have to compute at once."""
    if not now().is_static:
        raise NotInThisRelease(
            f"{name} before paddle.enable_static(): computing at once (dygraph) is not in this release. "
            "Call paddle.enable_static() at the top of the program, and run what it builds by "
            "paddle.static.Executor."
        )


class no_grad(ContextDecorator):  # noqa: N801  Paddle's name
    """Where gradients would be computed at once, none are. In a static program it changes nothing."""

    def __enter__(self) -> None:
        """Nothing begins."""

    def __exit__(self, *reason: object) -> None:
        """Nothing ends."""


class enable_grad(no_grad):  # noqa: N801  Paddle's name
    """Where gradients would be computed at once, they are again. In a static program it changes nothing."""


class set_grad_enabled(no_grad):  # noqa: N801  Paddle's name
    """One or the other, as ``mode`` says. In a static program it changes nothing."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode


def is_grad_enabled() -> bool:
    """Whether gradients are computed at once: never."""
    return False
