"""Setting one variable to the value of another, as loops do at the end of each round."""

from __future__ import annotations

from paddle._program.layer_helper import LayerHelper
from paddle._program.variable import Variable


def assign_to(source: Variable, target: Variable) -> Variable:
    """Have ``target`` be what ``source`` is."""
    LayerHelper("assign").append_op("assign", {"X": [source]}, {"Out": [target]})
    return target
