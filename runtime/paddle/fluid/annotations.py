"""What is said of functions that are there for older programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["deprecated"]


def deprecated(since: str, instead: str, extra_message: str = "") -> Callable[[Function], Function]:
    """A function that says on the standard error stream, whenever it is called, what there is instead."""

    def decorate(function: Function) -> Function:
        said = f"{function.__name__} is deprecated since {since}: use {instead}. {extra_message}".strip()

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            print(said, file=sys.stderr)
            return function(*args, **kwargs)

        call.__doc__ = f"{function.__doc__ or ''}\n\n    {said}"
        return cast("Function", call)

    return decorate
