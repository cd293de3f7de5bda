"""Tables: rows looked up by integer ids."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import prod

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import (
    IDS,
    VALUES,
    Call,
    Forms,
    Gradient,
    Index,
    Kernel,
    Row,
    Steps,
    same_memory,
)


def _shape(forms: Forms) -> Mapping[str, Form]:
    table, ids = shapes.matrix(forms, "W"), shapes.integers(forms, "Ids")
    if len(ids.shape) > 1 and ids.shape[-1] != 1:
        raise ShapeError(f"Ids must have shape [n] or [n, 1], got {list(ids.shape)}")
    lead = ids.shape[:-1] if len(ids.shape) > 1 else ids.shape
    return {"Out": Form((*lead, table.shape[1]), table.dtype)}


def _lookup(call: Call) -> Steps:
    table, out = call["W"], call["Out"]
    rows = out.reshape(-1, table.shape[1])
    # ids were checked before the run, and "clip" is numpy's one mode that writes straight into out
    yield partial(np.take, table, call["Ids"].reshape(-1), 0, rows, "clip")


def _listed(forms: Forms) -> int | None:
    if not forms.attrs["is_sparse"]:
        return None
    sizes = forms["Ids"].shape
    return -1 if -1 in sizes else prod(sizes)


def _lookup_gradient(call: Call) -> Steps:
    ids, grad, rows = call["Ids"].reshape(-1), call["Out@GRAD"], call.rows("W@GRAD")
    if rows is None:
        from paddle._engine.kernels.rows import add_rows  # loads numba

        dense = call["W@GRAD"]
        yield partial(dense.fill, 0)
        yield partial(add_rows, dense, ids, grad.reshape(-1, dense.shape[1]))
        return
    if not same_memory(rows.ids, ids):
        yield partial(np.copyto, rows.ids, ids)
    if not same_memory(rows.values, grad):
        yield partial(np.copyto, rows.values, grad.reshape(rows.values.shape))


ROWS = (
    Row(
        type="lookup_table",
        inputs=("W", "Ids"),
        attrs={"is_sparse": False},
        shape=_shape,
        forward=Kernel(_lookup),
        gradient=Gradient(
            _lookup_gradient,
            reshapes={"W@GRAD" + VALUES: "Out@GRAD", "W@GRAD" + IDS: "Ids"},
            of=("W",),
            needs=("Ids",),
            rows=_listed,
        ),
        indexes=(Index("Ids", into="W", axis=0),),
    ),
)
