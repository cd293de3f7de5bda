"""Given: the arrays that a caller hands to an exchange, checked against what it declared.

It must never know where they go. Guarantee: what comes out fits its parameter; nothing is copied that lies in
memory as it should.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence, Set

import numpy as np

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import ParameterSpec, UpdateSpec
from paddle._engine.rows import OPEN, SparseRows, ascends, each_once
from paddle._engine.rules import rule_of

Arrays = Mapping[str, np.ndarray]
Gradients = Mapping[str, np.ndarray | SparseRows]
_FLOAT32 = np.dtype(np.float32)
_MOST = 1 << 62


def check_values(values: Mapping[str, np.ndarray], parameters: Sequence[ParameterSpec]) -> None:
    """Raise where initial values are missing or do not fit."""
    for parameter in parameters:
        if parameter.is_open:
            continue
        value = values.get(parameter.name)
        if value is None or value.dtype != np.float32 or value.shape != parameter.shape:
            found = "missing" if value is None else f"{value.dtype} {value.shape}"
            raise ExchangeError(
                f"the initial values of {parameter.name!r} should be float32 {parameter.shape}, and are "
                f"{found}"
            )


def check_names(gradients: Gradients, names: Set[str]) -> None:
    """Raise where a gradient is for a parameter that was not declared."""
    if not gradients.keys() <= names:
        unknown = sorted(gradients.keys() - names)
        raise ExchangeError(f"step got gradients for {unknown}, which start did not declare")


def count(number: int, of: str) -> int:
    """A number ``of`` something, as a message can say it."""
    try:
        whole = operator.index(number)
    except TypeError:
        raise ExchangeError(f"a number of {of} is an int, and not {number!r}") from None
    if not 0 <= whole <= _MOST:
        raise ExchangeError(f"there can be no {whole} {of}: a number of {of} is 0 or more")
    return whole


def rate(told: float | None) -> float | None:
    """A learning rate that a step is told, as a message can say it."""
    if told is None:
        return None
    number = float(told)
    if not math.isfinite(number):
        raise ExchangeError(f"the learning rate of this step is {number}: parameters would be lost with it")
    return number


def unique_rows(name: str, wanted: np.ndarray, tables: Sequence[ParameterSpec]) -> np.ndarray:
    """The rows of a table of ``tables`` that are ``wanted``, each once; raises where there are no such."""
    unique = each_once(ids(name, wanted))
    table = next((table for table in tables if table.name == name and not table.is_open), None)
    if table is None:
        raise ExchangeError(f"prefetch of {name!r}, which is not a sparse parameter of this job")
    if len(unique) and not 0 <= unique[0] <= unique[-1] < table.shape[0]:
        raise ExchangeError(
            f"prefetch of row {unique[0]} to {unique[-1]} of {name!r}, which is {table.shape}"
        )
    return unique


def ids(name: str, given: np.ndarray) -> np.ndarray:
    """Ids of rows of ``name``, as they are; raises where they are none."""
    if given.dtype != np.int64:
        raise ExchangeError(f"ids of rows of {name!r} are int64, and not {given.dtype}")
    return given


def open_tables(rows: Mapping[str, np.ndarray], parameters: Sequence[ParameterSpec]) -> None:
    """Raise where rows of something else than an open table are looked up."""
    for name, wanted in rows.items():
        ids(name, wanted)
    if unknown := rows.keys() - {parameter.name for parameter in parameters if parameter.is_open}:
        raise ExchangeError(f"a lookup of rows in {sorted(unknown)}, which are not open tables of this job")


def open_table(name: str, parameters: Sequence[ParameterSpec]) -> ParameterSpec:
    """The open table of that name; raises where it is something else."""
    open_tables({name: np.empty(0, np.int64)}, parameters)
    return next(parameter for parameter in parameters if parameter.name == name)


def slots(parameter: ParameterSpec, update: UpdateSpec | None) -> Sequence[str]:
    """What the rule remembers of a parameter."""
    return () if update is None else rule_of(parameter, update).slots


def check_threshold(threshold: int) -> None:
    """Raise where rows would be forgotten at once."""
    if count(threshold, "days") < 1:
        raise ExchangeError(f"rows can be forgotten after one day or more, and not after {threshold}")


def check_averaged(update: UpdateSpec | None) -> None:
    """Raise where averages are asked for and none are kept."""
    if update is None or update.average is None:
        raise ExchangeError("this job keeps no averages of its parameters: its update names none")


def flat(gradients: Gradients, parameter: ParameterSpec) -> np.ndarray:
    """The gradient of a dense parameter, as flat float32."""
    return dense(gradients, parameter).reshape(-1)


def dense(gradients: Gradients, parameter: ParameterSpec) -> np.ndarray:
    """The gradient of a dense parameter, float32 in its shape."""
    gradient = gradients.get(parameter.name)
    if not isinstance(gradient, np.ndarray):
        raise ExchangeError(
            f"step needs a float32 array of shape {parameter.shape} as gradient of {parameter.name!r}, and "
            f"got {'nothing' if gradient is None else type(gradient).__name__}"
        )
    if gradient.dtype != _FLOAT32 or gradient.shape != parameter.shape:
        raise ExchangeError(
            f"the gradient of {parameter.name!r} should be float32 {parameter.shape}, and is "
            f"{gradient.dtype} {gradient.shape}"
        )
    return gradient


def rows(gradients: Gradients, parameter: ParameterSpec) -> SparseRows:
    """The gradient of a sparse parameter; a table that the batch did not touch has none."""
    height, width = parameter.shape
    gradient = gradients.get(parameter.name)
    if gradient is None:
        return SparseRows(np.empty(0, np.int64), np.empty((0, width), np.float32), height)
    if not isinstance(gradient, SparseRows):
        raise ExchangeError(f"step needs SparseRows as gradient of sparse parameter {parameter.name!r}")
    if (gradient.height, gradient.width) != parameter.shape or gradient.values.dtype != np.float32:
        raise ExchangeError(
            f"the gradient of {parameter.name!r} should be float32 rows of {parameter.shape}, and is rows of "
            f"{gradient.values.dtype} {(gradient.height, gradient.width)}"
        )
    ids(parameter.name, gradient.ids)
    return gradient


def all_merged(
    gradients: Gradients, parameters: Sequence[ParameterSpec], *, given: bool
) -> list[tuple[str, SparseRows]]:
    """Those of all ``parameters``, by their names; see :func:`merged`."""
    return [(each.name, merged(gradients, each, given=given)) for each in parameters]


def merged(gradients: Gradients, parameter: ParameterSpec, *, given: bool = False) -> SparseRows:
    """The same with each id once, ascending, and each a row of the parameter. A copy, for it may have to be
    told again when its arrays hold the next step; but where they are ``given`` away, and lie as they
    are sent already."""
    gradient = rows(gradients, parameter)
    lies = gradient.ids.flags.c_contiguous and gradient.values.flags.c_contiguous
    if not (given and lies and ascends(gradient.ids)):
        gradient = gradient.merged()
    found, height = gradient.ids, gradient.height
    if height != OPEN and len(found) and not 0 <= found[0] <= found[-1] < height:
        raise ExchangeError(
            f"the gradient of {parameter.name!r} has rows {found[0]} to {found[-1]}, and that has rows 0 to "
            f"{height - 1} only"
        )
    return gradient
