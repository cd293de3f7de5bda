"""Fed: what the caller gives a run, by the names of variables, each as an array or a LoDTensor.

It must never know a scope that it does not write to, nor how a program is run. Guarantee: what holds no
numbers is refused, naming the variable; what is an array already is taken as it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, numpy_dtype
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.parts import joined
from paddle._program.running.ranges import as_whole, check_range
from paddle._program.running.scope import Scope


def fed(feed: Any, program: Program) -> dict[str, Any]:
    """The values of a feed, in its order: a dict, whose keys are names or Variables, a list of such dicts, or
    a DataLoader's batch. BadArgument where it is none of these, or has no numbers."""
    if feed is None:
        return {}
    if type(feed) is not dict:
        feed = _as_mapping(feed, program)
    found: dict[str, Any] = {}
    for name, value in feed.items():
        key = name if type(name) is str else name.name if isinstance(name, Variable) else str(name)
        made = value
        if type(value) is not np.ndarray and not isinstance(value, np.ndarray | LoDTensor):
            made = _array(key, value, program.global_block()._find_var_recursive(key))
        if type(made) is np.ndarray and made.dtype.kind in "OSU":
            shown = " ".join(repr(value).split())
            raise BadArgument(
                f"feed gives {key!r} no numbers (dtype {made.dtype}) but {shown:.60}: feed an array of "
                "numbers, and lists of unequal length as fluid.create_lod_tensor(data, lengths, place)"
            )
        found[key] = made
    return found


def _as_mapping(feed: Any, program: Program) -> Mapping[Any, Any]:
    feed = getattr(feed, "named", feed)  # of a DataLoader's batch
    if isinstance(feed, list | tuple) and feed:
        feed = feed[0] if len(feed) == 1 else joined(feed, program.global_block()._find_var_recursive)
    if not isinstance(feed, Mapping):
        raise BadArgument(f"feed is a dict of names to values, not {type(feed).__name__}")
    return feed


def _array(name: str, value: Any, described: Variable | None) -> Any:
    """What is no array becomes one, of its variable's dtype; a number one of one element."""
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise BadArgument(
            f"feed gives {name!r} what is not an array, lists of unequal length, say ({error}): pad them, or "
            "feed sequences as fluid.create_lod_tensor(data, lengths, place)"
        ) from error
    if described is None or found.dtype.kind not in "biuf":
        return found
    if np.isscalar(value) and not (described.has_shape and described.shape == ()):
        found = found.reshape(1)
    if not described.has_dtype:
        return found
    dtype = numpy_dtype(described.dtype)
    is_narrower = dtype.kind in "iu" and found.dtype.kind in "iu"  # a number that it does not hold is refused
    return found if is_narrower else found.astype(dtype)


def samples_of(values: Mapping[str, Any]) -> int:
    """How many samples these are: rows, or sequences, of the first that has such."""
    for value in values.values():
        if type(value) is np.ndarray and value.ndim:
            return len(value)
        if isinstance(value, LoDTensor):
            return len(value._lod[0]) - 1 if value._lod else len(value)
        if isinstance(value, np.ndarray) and value.ndim:
            return len(value)
    return 0


def fit(values: dict[str, Any], whole: Sequence[tuple[str, np.dtype[Any]]]) -> None:
    """Have what is fed to variables of whole numbers be such, and refuse what these do not hold."""
    for name, dtype in whole:
        value = values[name]
        if type(value) is not np.ndarray or value.dtype != dtype:
            values[name] = value = as_whole(value, dtype)
            check_range(name, np.asarray(value), dtype)


def put_lasting(values: Mapping[str, Any], lasting: Sequence[str], scope: Scope) -> dict[str, Any]:
    """Have the scope hold what is fed to variables that outlive a run; gives all else."""
    for name in lasting:
        given, tensor = values[name], scope.var(name).get_tensor()
        tensor.set(np.asarray(given))
        tensor.set_lod(given.lod() if isinstance(given, LoDTensor) else [])
    return {name: value for name, value in values.items() if name not in lasting}


def tell_unknown(program: Program, values: Mapping[str, Any]) -> None:
    """A value that nobody reads is more often a name mistyped than one pruned."""
    known = {name for block in program.blocks for name in block.vars}
    if unknown := ", ".join(repr(name) for name in values if name not in known):
        warnings.warn(
            f"feed gives {unknown}, which nobody reads: the program has no such variable, or it was pruned",
            stacklevel=5,  # where run() is called
        )


def take_axes(program: Program, values: Mapping[str, Any]) -> None:
    """A tensor that was declared without a shape has as many axes as what it is fed."""
    described = program.global_block().vars
    for name, value in values.items():
        found = described.get(name)
        if found is not None and not found.has_shape and found.type == VarType.LOD_TENSOR:
            found.shape = (-1,) * np.ndim(value)


def whole_of(block: Any, name: str) -> np.dtype[Any] | None:
    """The dtype of a variable of whole numbers."""
    described = block._find_var_recursive(name)
    if described is None or not described.has_dtype:
        return None
    dtype = numpy_dtype(described.dtype)
    return dtype if dtype.kind in "iu" else None
