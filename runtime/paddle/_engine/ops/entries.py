"""Sparse rows: of each the columns that are not zero, packed one row after another.

Slot Ids is int64 (n,), the columns of all rows; Amounts is (n,), what stands there; Starts is int64
(rows + 1,) and says which entries are whose (kernels/entries.py). Sources of the semantics: v2's
``sparse_binary_vector`` and ``sparse_float_vector``, and ``fc`` of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import (
    IDS,
    REQUIRED,
    Call,
    Forms,
    Gradient,
    Index,
    Kernel,
    Row,
    Runs,
    Steps,
    same_memory,
)

MOST_SPREAD = 2**27
"""Numbers, 512 MiB, to which a batch may be spread out."""

_SLOTS = ("Ids", "Amounts", "Starts")
_RUNS = (Runs("Starts", of="Ids"),)


def _rows(forms: Forms) -> int:
    """How many rows there are, -1 where a feed decides it."""
    ids, amounts, starts = shapes.integers(forms, "Ids"), forms["Amounts"], shapes.integers(forms, "Starts")
    if len(ids.shape) != 1 or len(amounts.shape) != 1 or not shapes.agree(ids.shape[0], amounts.shape[0]):
        raise ShapeError(f"Ids and Amounts must be [n] both, got {list(ids.shape)}, {list(amounts.shape)}")
    if len(starts.shape) != 1 or starts.shape[0] == 0:
        raise ShapeError(f"Starts must have shape [rows + 1], got {list(starts.shape)}")
    return starts.shape[0] - 1 if starts.shape[0] > 0 else -1


def _product_shape(forms: Forms) -> Mapping[str, Form]:
    table = shapes.matrix(forms, "W")
    return {"Out": Form((_rows(forms), table.shape[1]), table.dtype)}


def _product(call: Call) -> Steps:
    from paddle._engine.kernels.entries import multiply_entries  # loads numba

    yield partial(multiply_entries, call["W"], *(call[slot] for slot in _SLOTS), call["Out"])


def _product_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.entries import add_entries, list_entries  # loads numba

    grad, rows = call["Out@GRAD"], call.rows("W@GRAD")
    if rows is None:
        yield partial(call["W@GRAD"].fill, 0)
        yield partial(add_entries, grad, *(call[slot] for slot in _SLOTS), call["W@GRAD"])
        return
    if not same_memory(rows.ids, call["Ids"]):
        yield partial(np.copyto, rows.ids, call["Ids"])
    yield partial(list_entries, grad, call["Amounts"], call["Starts"], rows.values)


def _spread_shape(forms: Forms) -> Mapping[str, Form]:
    rows, width = _rows(forms), forms.attrs["width"]
    if rows * width > MOST_SPREAD:
        raise ShapeError(
            f"{rows} rows of {width} columns are more than the {MOST_SPREAD} numbers to which a batch of "
            "sparse rows may be spread out, as is done for every layer but fc and those with a "
            "full_matrix_projection: make the batch smaller, or let one of these read the sparse data layer"
        )
    return {"Out": Form((rows, width), forms["Amounts"].dtype)}


def _spread(call: Call) -> Steps:
    from paddle._engine.kernels.entries import spread_entries  # loads numba

    yield from _inside(call["Ids"], call.attrs["width"])
    yield partial(spread_entries, *(call[slot] for slot in _SLOTS), call["Out"])


def _inside(ids: np.ndarray, width: int) -> Steps:
    def check() -> None:
        if ids.size and not 0 <= ids.min() <= ids.max() < width:
            raise ShapeError(f"Ids go from {ids.min()} to {ids.max()}, and there are {width} columns")

    yield check


ROWS = (
    Row(
        type="sparse_mul",
        inputs=("W", *_SLOTS),
        attrs={"is_sparse": False},
        shape=_product_shape,
        forward=Kernel(_product),
        gradient=Gradient(
            _product_gradient,
            reshapes={"W@GRAD" + IDS: "Ids"},
            of=("W",),
            needs=_SLOTS,
            rows=lambda forms: forms["Ids"].shape[0] if forms.attrs["is_sparse"] else None,
        ),
        indexes=(Index("Ids", into="W", axis=0),),
        runs=_RUNS,
    ),
    Row(
        type="sparse_spread",
        inputs=_SLOTS,
        attrs={"width": REQUIRED},
        shape=_spread_shape,
        forward=Kernel(_spread),
        runs=_RUNS,
    ),
)
