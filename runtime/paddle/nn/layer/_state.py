"""A layer's state put into the current scope.

It must never know a layer. Guarantee: a value goes where its name and its shape fit, or is an error that
names both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddle._complaint import Complaint
from paddle._program.scope import global_scope


class WrongState(Complaint, ValueError):
    """Values that do not fit a layer."""


def put_state(layer: str, own: Mapping[str, Any], given: Mapping[str, Any], *, structured: bool) -> None:
    """Set the variables ``own`` (by name in the layer) to ``given``."""
    named = own if structured else {variable.name: variable for variable in own.values()}
    for name, variable in named.items():
        if name not in given:
            continue
        value = np.asarray(given[name])
        if tuple(value.shape) != tuple(variable.shape):
            raise WrongState(
                f"{name} of {layer} has the shape {list(variable.shape)}, its value in the state_dict "
                f"{list(value.shape)}"
            )
        global_scope().var(variable.name).get_tensor().set(value)
