"""Ranking: the rows of a sequence are to stand in the order of their scores.

Source of the semantics: v2's ``lambda_cost``. What it reports is the share of the best gain that the order
has (kernels/ranks.py), which rises with training. That has no slope, as it changes only where two rows change
places; what ``lambda_rank_grad`` gives pulls rows towards the right order instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Runs, Steps


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, score = shapes.matrix(forms, "X"), shapes.matrix(forms, "Score")
    shapes.integers(forms, "Offsets")
    if x.shape[1] != 1 or score.shape[1] != 1 or not shapes.agree(x.shape[0], score.shape[0]):
        raise ShapeError(f"X and Score are columns, not {list(x.shape)} and {list(score.shape)}")
    if forms.attrs["ndcg_num"] < 1:
        raise ShapeError(f"ndcg_num is 1 or more, not {forms.attrs['ndcg_num']}")
    return {"Out": x}


def _rank(call: Call) -> Steps:
    from paddle._engine.kernels.ranks import gain_shares  # loads numba

    x, score, out = (call[slot].reshape(-1) for slot in ("X", "Score", "Out"))
    yield partial(gain_shares, x, score, call["Offsets"], call.attrs["ndcg_num"], out)


def _rank_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.ranks import gain_slopes  # loads numba

    given, x, score, dx = (call[slot].reshape(-1) for slot in ("Out@GRAD", "X", "Score", "X@GRAD"))
    attrs = call.attrs
    yield partial(
        gain_slopes, given, x, score, call["Offsets"], attrs["ndcg_num"], attrs["max_sort_size"], dx
    )


ROWS = (
    Row(
        type="lambda_rank",
        inputs=("X", "Score", "Offsets"),
        attrs={"ndcg_num": 5, "max_sort_size": -1},
        shape=_shape,
        forward=Kernel(_rank),
        gradient=Gradient(_rank_gradient, needs=("X", "Score", "Offsets")),
        runs=(Runs("Offsets", of="X"),),
    ),
)
