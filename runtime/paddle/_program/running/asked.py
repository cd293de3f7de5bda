"""Asked: what the caller wants of a run, a list of Variables and names, and their values as he wants them.

It must never know how a program is run. Guarantee: what is given is the caller's to keep; who would lose
where sequences begin is told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paddle._program.description.block import Block
from paddle._program.description.dtypes import numpy_dtype
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument, BadFeed
from paddle._program.running.fetched import Fetched
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.scope import Scope


def plain_names(fetch_list: Any) -> list[str] | None:
    """The names in a list of Variables and names, as most are; None where it is anything else."""
    if fetch_list is None:
        return []
    if type(fetch_list) is not list and type(fetch_list) is not tuple:
        return None
    names: list[str] = []
    for each in fetch_list:
        name = each if type(each) is str else each.name if isinstance(each, Variable) else None
        if type(name) is not str:
            return None
        names.append(name)
    return names


def names_of(fetch_list: Any) -> list[str]:
    """The names in a list of Variables and names, which may hold such lists, as of gradients, or in one."""
    return [] if fetch_list is None else _listed(fetch_list)


def _listed(given: Any) -> list[str]:
    """The names in a list of Variables and names, which may hold such lists, as of gradients."""
    if isinstance(given, list | tuple):
        return [name for each in given for name in _listed(each)]
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if not isinstance(name, str):
        raise BadArgument(f"fetch_list holds Variables and names of variables, not {given!r:.60}")
    return [name]


def converted(block: Block, name: str) -> np.dtype[Any] | None:
    """The dtype that a variable is declared as, where the engine computes in another."""
    dtype = numpy_dtype(block._var_recursive(name).dtype)
    return None if dtype in (np.float32, np.int64) else dtype


class Fetch(NamedTuple):
    """One of them: the dtype that it is declared as, where the engine computes in another, and whether others
    may have its memory: the caller, who writes other numbers for the next run where he feeds it, a function
    of his that gave it, or another fetch of the same name."""

    name: str
    dtype: np.dtype[Any] | None
    is_shared: bool


def shown(fetch: Fetch, values: Mapping[str, Any], scope: Scope, return_numpy: bool) -> Any:
    """The value of one after a run that had, and gave, ``values``."""
    name = fetch.name
    value = values[name] if name in values else _held(name, scope)
    if isinstance(value, np.ndarray):
        own = _own(fetch, value)
        return Fetched.of(own) if return_numpy else LoDTensor(own)
    if not isinstance(value, LoDTensor):
        return value if return_numpy or isinstance(value, list) else LoDTensor(value)
    if return_numpy and value._lod:
        raise BadArgument(
            f"fetch_list names {name!r}, whose rows are sequences (LoD), which an array cannot say: pass "
            "return_numpy=False, and take the rows with numpy.array(...) and the sequences with .lod()"
        )
    own = _own(fetch, value.array())
    return Fetched.of(own) if return_numpy else LoDTensor(own, value.lod())


def _own(fetch: Fetch, array: np.ndarray) -> np.ndarray:
    if fetch.is_shared:
        return np.array(array, fetch.dtype)
    return array if fetch.dtype is None else array.astype(fetch.dtype, copy=False)


def _held(name: str, scope: Scope) -> Any:
    """A copy of what the scope holds."""
    held = scope.find_var(name)
    if held is None or not held.is_initialized():
        raise BadFeed(f"fetch_list names {name!r}, which has no value: run the startup program first")
    tensor = held.get_tensor()
    array = tensor.array().copy()
    return LoDTensor(array, tensor.lod()) if tensor._lod else array
