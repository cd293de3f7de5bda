"""Decorators that keep what is known of a function: programs of layers of their own import these."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from functools import wraps
from typing import Any

__all__ = ["signature_safe_contextmanager", "wrap_decorator"]

signature_safe_contextmanager = contextmanager


def wrap_decorator(decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same decorator, whose functions keep name, signature and words of those that it was given."""

    def decorate(function: Any) -> Any:
        return wraps(function)(decorator(function))

    return decorate
