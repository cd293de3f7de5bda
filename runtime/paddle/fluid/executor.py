"""Executor and the scopes that it runs programs in."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.errors import BadArgument
from paddle._program.reading.training import FetchHandler
from paddle._program.running.executor import Executor
from paddle._program.running.scope import Scope, _switch_scope, global_scope, scope_guard

__all__ = [
    "Executor",
    "FetchHandler",
    "_switch_scope",
    "as_numpy",
    "fetch_var",
    "global_scope",
    "scope_guard",
]


def fetch_var(name: Any, scope: Scope | None = None, return_numpy: bool = True) -> Any:
    """The value of a variable that outlives a run, by name."""
    name = name if isinstance(name, str) else name.name
    found = (scope or global_scope()).find_var(name)
    if found is None or not found.is_initialized():
        raise BadArgument(f"the scope holds no {name!r}: only what is persistable outlives a run")
    return as_numpy(found.get_tensor()) if return_numpy else found.get_tensor()


_fetch_var = fetch_var


def as_numpy(tensor: Any) -> Any:
    """A tensor, or several, as arrays."""
    if isinstance(tensor, list | tuple):
        return [as_numpy(each) for each in tensor]
    return np.array(tensor)
