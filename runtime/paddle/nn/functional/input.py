"""What ids become: ``paddle.nn.functional.embedding`` and ``one_hot``.

It must never compute: each function appends an operator to the default program. Guarantee: the result has the
shape of the ids and one axis more.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor._append import append

__all__ = ["embedding", "one_hot"]


def embedding(
    x: Any, weight: Any, padding_idx: int | None = None, sparse: bool = False, name: str | None = None
) -> Any:
    """The rows of ``weight`` that ``x`` names. ``padding_idx``: the id whose row counts as zeros.

    ``sparse``: the gradient lists rows, and only these are moved.
    """
    attrs = {
        "is_sparse": sparse,
        "is_distributed": False,
        "remote_prefetch": False,
        "padding_idx": padding_of(padding_idx, weight.shape[0]),
    }
    inputs = {"Ids": x, "W": weight}
    return append("lookup_table_v2", inputs, attrs, dtype=weight.dtype, name=name)


def padding_of(padding_idx: int | None, height: int) -> int:
    """The id that counts as zeros, -1 for none; below 0 it counts from the end."""
    if padding_idx is None:
        return -1
    if not -height <= padding_idx < height:
        raise ValueError(
            f"padding_idx is an id of the table, from {-height} to {height - 1}, not {padding_idx}"
        )
    return padding_idx if padding_idx >= 0 else height + padding_idx


def one_hot(x: Any, num_classes: int, name: str | None = None) -> Any:
    """1 at the place that each id of ``x`` names, else 0."""
    attrs = {"depth": int(num_classes), "allow_out_of_range": False}
    return append("one_hot_v2", {"X": x}, attrs, dtype="float32", stop_gradient=True, name=name)
