"""Lookups together with what is done to the rows at once: put side by side, or summed over sequences.

No face writes these operators. A pass makes them (passes/lookups.py) of several that have the same semantics.
Guarantee: gradients of rows are where the gradient of the output is, or written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import prod

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.sequence import count_runs
from paddle._engine.ops.shares import Shares, check_pooltype
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
    Runs,
    Steps,
    same_memory,
)


def _beside_shape(forms: Forms) -> Mapping[str, Form]:
    table, ids = shapes.matrix(forms, "W"), forms.all("Ids")
    for each in ids:
        if each.dtype != "int64" or len(each.shape) not in (1, 2) or each.shape[1:] not in ((), (1,)):
            raise ShapeError(f"Ids must be int64 [n] or [n, 1], got {each.dtype}{list(each.shape)}")
    count = ids[0].shape[0]
    if not all(shapes.agree(each.shape[0], count) for each in ids):
        raise ShapeError(f"Ids are {[form.shape[0] for form in ids]}: one row of each side by side")
    return {"Out": Form((count, len(ids) * table.shape[1]), table.dtype)}


def _beside_scratch(forms: Forms) -> Mapping[str, Form]:
    return {"ids": Form((sum(prod(each.shape) for each in forms.all("Ids")),), "int64")}


def _gradient_scratch(forms: Forms) -> Mapping[str, Form]:
    """Rows list their ids themselves."""
    return {} if forms.attrs["is_sparse"] else _beside_scratch(forms)


def _interleaved(call: Call, out: np.ndarray) -> Steps:
    """The ids as their rows stand side by side: all of the first sample, then of the second."""
    columns = [ids.reshape(-1, 1) for ids in call.arrays("Ids") if ids is not None]
    yield partial(np.concatenate, columns, 1, out.reshape(-1, len(columns)))


def _beside(call: Call) -> Steps:
    table, ids = call["W"], call.scratch["ids"]
    yield from _interleaved(call, ids)
    # ids were checked before the run, and "clip" is numpy's one mode that writes straight into out
    yield partial(np.take, table, ids, 0, call["Out"].reshape(-1, table.shape[1]), "clip")


def _beside_rows(forms: Forms) -> int | None:
    if not forms.attrs["is_sparse"]:
        return None
    sizes = [prod(each.shape) for each in forms.all("Ids")]
    return -1 if min(sizes) < 0 else sum(sizes)


def _beside_gradient(call: Call) -> Steps:
    grad, rows = call["Out@GRAD"], call.rows("W@GRAD")
    if rows is None:
        from paddle._engine.kernels.rows import add_rows  # loads numba

        dense, ids = call["W@GRAD"], call.scratch["ids"]
        yield partial(dense.fill, 0)
        yield from _interleaved(call, ids)
        yield partial(add_rows, dense, ids, grad.reshape(-1, dense.shape[1]))
        return
    yield from _interleaved(call, rows.ids)
    if not same_memory(rows.values, grad):
        yield partial(np.copyto, rows.values, grad.reshape(rows.values.shape))


def _pooled_shape(forms: Forms) -> Mapping[str, Form]:
    table, ids = shapes.matrix(forms, "W"), shapes.integers(forms, "Ids")
    if ids.shape not in ((ids.shape[0],), (ids.shape[0], 1)):
        raise ShapeError(f"Ids must have shape [n] or [n, 1], got {list(ids.shape)}")
    check_pooltype(forms)
    return {"Out": Form((count_runs(forms), table.shape[1]), table.dtype)}


def _pooled(call: Call) -> Steps:
    from paddle._engine.kernels.runs import sum_rows_of_runs  # loads numba

    out = call["Out"]
    yield partial(sum_rows_of_runs, call["W"], call["Ids"].reshape(-1), call["Offsets"], out)
    yield from Shares(call, out.dtype).scale(out, out)


def _pooled_rows(forms: Forms) -> int | None:
    return forms["Ids"].shape[0] if forms.attrs["is_sparse"] else None


def _pooled_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.runs import add_runs_to_rows, spread_runs  # loads numba

    ids, offsets, grad, rows = call["Ids"].reshape(-1), call["Offsets"], call["Out@GRAD"], call.rows("W@GRAD")
    shares = Shares(call, grad.dtype)
    each = grad if call.attrs["pooltype"] == "sum" else np.empty_like(grad)
    yield from shares.scale(grad, each)
    if rows is None:
        dense = call["W@GRAD"]
        yield partial(dense.fill, 0)
        yield partial(add_runs_to_rows, dense, ids, offsets, each)
        return
    if not same_memory(rows.ids, ids):
        yield partial(np.copyto, rows.ids, ids)
    yield partial(spread_runs, each, offsets, rows.values)


ROWS = (
    Row(
        type="lookup_beside",
        inputs=("W", "Ids*"),
        attrs={"is_sparse": False},
        shape=_beside_shape,
        forward=Kernel(_beside, scratch=_beside_scratch),
        gradient=Gradient(
            _beside_gradient,
            scratch=_gradient_scratch,
            reshapes={"W@GRAD" + VALUES: "Out@GRAD"},
            of=("W",),
            needs=("Ids",),
            rows=_beside_rows,
        ),
        indexes=(Index("Ids", into="W", axis=0),),
    ),
    Row(
        type="lookup_pool",
        inputs=("W", "Ids", "Offsets"),
        attrs={"is_sparse": False, "pooltype": "average"},
        shape=_pooled_shape,
        forward=Kernel(_pooled),
        gradient=Gradient(
            _pooled_gradient,
            reshapes={"W@GRAD" + IDS: "Ids"},
            of=("W",),
            needs=("Ids", "Offsets"),
            rows=_pooled_rows,
        ),
        indexes=(Index("Ids", into="W", axis=0),),
        runs=(Runs("Offsets", of="Ids"),),
    ),
)
