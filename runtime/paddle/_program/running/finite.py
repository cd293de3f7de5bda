"""What operators gave, searched for NaN and Inf: FLAGS_check_nan_inf.

It must never change a value. Guarantee: the operator that is named is the first that gave one, of those that
the engine computes one by one; a loop that it computes as a whole is one operator. Names are those of the
program, and what only the engine knows in between is not looked at: an operator may mask an Inf.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from paddle._engine.program import Parameter, Program
from paddle._engine.rows import SparseRows
from paddle._program.description.operator import Operator
from paddle._program.errors import NotFinite
from paddle._program.lowering.value import Given
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.scope import Scope


class Finite:
    """Looks at what is written in one run of a segment. ``watched``: variables to be kept as they are for it,
    so that no two operators are computed as one; those that lack something that is not fed are not run."""

    def __init__(self, given: Mapping[str, Given], program: Program, feed: Iterable[str]) -> None:
        self._given = given
        known = {*feed, *(each.name for each in program.parameters())}
        for operator in program.main.operators:
            if known.issuperset(operator.reads()):
                known.update(operator.writes())
        variables = program.main.variables
        self.watched = [
            name
            for name in given
            if (each := variables[name]).dtype == "float32"
            and name in known
            and each.kind == "dense"
            and not (each.is_data or isinstance(each, Parameter))
        ]

    def __call__(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            given = self._given.get(name)
            if given is not None:
                _check(given, value.values if isinstance(value, SparseRows) else value)


def check_given(host: Host, op: Operator, names: Iterable[str]) -> None:
    """Look at what an operator of the host gave."""
    for name in names:
        if host.has(name):
            _check(Given(op.type, op.where, name), host.get(name))


def check_gradients(host: Host, wanted: Iterable[str]) -> None:
    """Look at gradients that went back along what was run."""
    writers = {name: op for op in host.block.ops for name in op.output_arg_names}
    for name in wanted:
        if name in writers:
            check_given(host, writers[name], [name])


def check_moved(scope: Scope, moved: Iterable[Given]) -> None:
    """Look at parameters that an optimizer has moved."""
    for given in moved:
        _check(given, scope.value(given.name))


def _check(given: Given, value: Any) -> None:
    array = value.array() if isinstance(value, LoDTensor) else value
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        return
    fine = np.isfinite(array)
    if fine.all():
        return
    at = [int(each) for each in np.argwhere(~fine)[0]] if array.ndim else []
    kinds = [kind for kind, found in (("NaN", np.isnan(array)), ("Inf", np.isinf(array))) if found.any()]
    where = f" (written at {given.where})" if given.where else ""
    raise NotFinite(
        f"operator {given.type!r}{where} gave variable {given.name!r} {' and '.join(kinds)}: "
        f"{int((~fine).sum())} of {array.size} elements, the first at {at}. It was looked for, as "
        "FLAGS_check_nan_inf is set; look at what the operator reads"
    )
