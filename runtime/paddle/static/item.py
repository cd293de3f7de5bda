"""``paddle.static.setitem``, by which 2.5 and later write ``x[index] = value``.

It must never know how that is computed. Guarantee: ``x`` itself stays as it is.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.putting import put
from paddle.tensor.creation import assign


def setitem(x: Any, index: Any, value: Any) -> Any:
    """What ``x`` would be, were ``x[index]`` ``value``: a number, an array or a Variable, which is spread."""
    made = assign(x)
    made.stop_gradient = x.stop_gradient
    put(made, index if isinstance(index, tuple) else (index,), value)
    return made
