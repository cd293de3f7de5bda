"""What a tensor is: ``paddle.shape`` and ``paddle.rank``.

It must never compute: each function appends an operator to the default program. Guarantee: what they give is
that of each batch, where a declaration says -1.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor._append import append

__all__ = ["rank", "shape"]


def shape(input: Any) -> Any:
    """The sizes of all axes, int32."""
    return append("shape", {"Input": input}, dtype="int32", stop_gradient=True)


def rank(input: Any) -> Any:
    """How many axes there are."""
    from paddle.tensor.creation import full

    return full([1], len(input.shape), "int32")
