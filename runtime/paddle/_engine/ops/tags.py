"""Tags of sequences: what the right ones cost, and which are the best.

Sources of the semantics: v2's ``crf`` and ``crf_decoding``, where tags are a linear chain (kernels/tags.py
says what slot Transition holds), and ``ctc``, where there are fewer of them than rows
(kernels/alignments.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Index, Kernel, Row, Runs, Steps

_RUNS = (Runs("Offsets", of="X"),)


def _chain(forms: Forms) -> Form:
    """The form of X, which the weights fit."""
    x, weights = shapes.matrix(forms, "X"), shapes.matrix(forms, "Transition")
    if weights.shape != (x.shape[1] + 2, x.shape[1]):
        raise ShapeError(
            f"Transition must have shape {[x.shape[1] + 2, x.shape[1]]}, got {list(weights.shape)}"
        )
    return x


def _cost_shape(forms: Forms) -> Mapping[str, Form]:
    x, offsets = _chain(forms), shapes.integers(forms, "Offsets")
    shapes.column(forms, "Label", x.shape[0])
    count = offsets.shape[0] - 1 if offsets.shape[0] > 0 else -1
    return {"Out": replace(x, shape=(count, 1)), "Shares": x}


def _cost(call: Call) -> Steps:
    from paddle._engine.kernels.tags import tag_costs  # loads numba

    x, tags, out = call["X"], call["Label"].reshape(-1), call["Out"].reshape(-1)
    yield partial(tag_costs, x, tags, call["Transition"], call["Offsets"], call["Shares"], out)


def _cost_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.tags import tag_slopes  # loads numba

    x, weights = call["X"], call["Transition"]
    given, tags = call["Out@GRAD"].reshape(-1), call["Label"].reshape(-1)
    dx, dweights = (call.get(f"{slot}@GRAD", np.empty_like(call[slot])) for slot in ("X", "Transition"))
    yield partial(tag_slopes, given, x, tags, weights, call["Offsets"], call["Shares"], dx, dweights)


def _best_shape(forms: Forms) -> Mapping[str, Form]:
    x = _chain(forms)
    return {"Out": Form((x.shape[0], 1), "int64")}


def _best_scratch(forms: Forms) -> Mapping[str, Form]:
    return {"scores": forms["X"], "came_from": replace(forms["X"], dtype="int64")}


def _best(call: Call) -> Steps:
    from paddle._engine.kernels.tags import best_tags  # loads numba

    out, room = call["Out"].reshape(-1), (call.scratch["scores"], call.scratch["came_from"])
    yield partial(best_tags, call["X"], call["Transition"], call["Offsets"], *room, out)


def _ctc_shape(forms: Forms) -> Mapping[str, Form]:
    x, offsets = shapes.matrix(forms, "X"), shapes.integers(forms, "Offsets")
    shapes.column(forms, "Label", forms["Label"].shape[0])
    if not shapes.agree(offsets.shape[0], shapes.integers(forms, "LabelOffsets").shape[0]):
        raise ShapeError("X and Label are not as many sequences")
    if not 0 <= forms.attrs["blank"] < x.shape[1]:
        raise ShapeError(f"X has {x.shape[1]} columns and none with the number {forms.attrs['blank']}")
    count = offsets.shape[0] - 1 if offsets.shape[0] > 0 else -1
    return {"Out": replace(x, shape=(count, 1)), "Shares": x}


def _ctc(call: Call) -> Steps:
    from paddle._engine.kernels.alignments import alignment_costs  # loads numba

    tags, out = call["Label"].reshape(-1), call["Out"].reshape(-1)
    offsets = call["Offsets"], call["LabelOffsets"]
    blank, shares = call.attrs["blank"], call["Shares"]
    yield partial(alignment_costs, call["X"], offsets[0], tags, offsets[1], blank, shares, out)


def _ctc_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.alignments import alignment_slopes  # loads numba

    given, by_length = call["Out@GRAD"].reshape(-1), bool(call.attrs["norm_by_times"])
    x, shares, dx = call["X"], call["Shares"], call["X@GRAD"]
    yield partial(alignment_slopes, given, x, call["Offsets"], shares, by_length, dx)


ROWS = (
    Row(
        type="ctc",
        inputs=("X", "Offsets", "Label", "LabelOffsets"),
        outputs=("Out", "Shares"),
        attrs={"blank": 0, "norm_by_times": False},
        shape=_ctc_shape,
        forward=Kernel(_ctc),
        gradient=Gradient(_ctc_gradient, needs=("X", "Offsets", "Shares")),
        indexes=(Index("Label", into="X", axis=1),),
        runs=(*_RUNS, Runs("LabelOffsets", of="Label")),
    ),
    Row(
        type="linear_chain_crf",
        inputs=("X", "Label", "Transition", "Offsets"),
        outputs=("Out", "Shares"),
        shape=_cost_shape,
        forward=Kernel(_cost),
        gradient=Gradient(
            _cost_gradient, of=("X", "Transition"), needs=("X", "Label", "Transition", "Offsets", "Shares")
        ),
        indexes=(Index("Label", into="X", axis=1),),
        runs=_RUNS,
    ),
    Row(
        type="crf_decoding",
        inputs=("X", "Transition", "Offsets"),
        shape=_best_shape,
        forward=Kernel(_best, _best_scratch),
        runs=_RUNS,
    ),
)
