"""Names with _ at their end, which would change a tensor in its place: ``paddle.unsqueeze_``.

A program says what is computed of what, so here, as in the original's static programs, each is the function
without _, and says so in a warning, once for each line of a program. It must never append an operator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any


def in_place_of(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` under the ``name`` with _ at its end."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"in a static program {name}() is the same as {name.removesuffix('_')}(): it gives another "
            "variable, and the one that it is given stays as it is",
            stacklevel=2,
        )
        return function(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    return called
