"""The state of a layer or an optimizer, as a dictionary, put into the current scope.

It must never know either. Guarantee: a value goes where its name and its shape fit, or is an error that
names both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.running.scope import global_scope


class WrongState(BadArgument):
    """Values that do not fit what they are for."""


def put_state(
    owner: str, own: Mapping[str, Any], given: Mapping[str, Any], *, structured: bool
) -> tuple[list[str], list[str]]:
    """Set the variables ``own``, by name in their ``owner``, to ``given``. Returns the names that are not
    given, and those given that are of nothing."""
    named = own if structured else {variable.name: variable for variable in own.values()}
    for name, variable in named.items():
        if name not in given:
            continue
        value = _value(given[name])
        if tuple(value.shape) != tuple(variable.shape):
            raise WrongState(
                f"{name} of {owner} has the shape {list(variable.shape)}, its value in the state_dict "
                f"{list(value.shape)}"
            )
        global_scope().var(variable.name).get_tensor().set(value)
    return [name for name in named if name not in given], [name for name in given if name not in named]


def _value(given: Any) -> np.ndarray:
    """An array; of a variable, what it holds, as where a state_dict is set again that was just asked for."""
    if isinstance(given, Variable):
        given = global_scope().var(given.name).get_tensor()
    return np.asarray(given)
