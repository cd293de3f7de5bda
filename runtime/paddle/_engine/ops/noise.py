"""Operators that draw random numbers. All of it follows from the run's seed, its step and the output's name."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Run, Steps

_WAYS = ("downgrade_in_infer", "upscale_in_train")


def _shape(forms: Forms) -> Mapping[str, Form]:
    rate, way = forms.attrs["dropout_prob"], forms.attrs["dropout_implementation"]
    if not 0 <= rate <= 1:
        raise ShapeError(f"dropout_prob must lie in [0, 1], got {rate}")
    if way not in _WAYS:
        raise ShapeError(f"dropout_implementation must be one of {_WAYS}, got {way!r}")
    return {"Out": forms["X"], "Mask": forms["X"]}


def _dropout(call: Call) -> Steps:
    """Out = X * Mask; in a test without a mask, scaled so that the expectation is that of training.

    v2's way, ``downgrade_in_infer``, keeps values in training and multiplies by 1 - rate in a test;
    ``upscale_in_train`` divides by 1 - rate in training.
    """
    x, out, mask, kept = call["X"], call["Out"], call["Mask"], 1.0 - call.attrs["dropout_prob"]
    upscale = call.attrs["dropout_implementation"] == "upscale_in_train"
    if call.attrs["is_test"]:
        yield partial(np.multiply, x, 1.0 if upscale else kept, out)
        return
    yield _drawn(mask, call.run, zlib.crc32(call.operator.outputs["Out"][0].encode()))
    yield partial(np.less, mask, kept, mask)
    if upscale and kept > 0:
        yield partial(np.divide, mask, kept, mask)
    yield partial(np.multiply, x, mask, out)


def _drawn(out: np.ndarray, run: Run, salt: int) -> partial[None]:
    """A step that fills ``out`` with uniform numbers in [0, 1)."""

    def draw() -> None:
        key = (run.seed % 2**64) << 64 | (run.step % 2**32) << 32 | salt
        np.random.Generator(np.random.Philox(key=key)).random(dtype=out.dtype.type, out=out)

    return partial(draw)


def _dropout_gradient(call: Call) -> Steps:
    yield partial(np.multiply, call["Out@GRAD"], call["Mask"], call["X@GRAD"])


ROWS = (
    Row(
        type="dropout",
        outputs=("Out", "Mask"),
        attrs={"dropout_prob": 0.5, "dropout_implementation": _WAYS[0], "is_test": False},
        shape=_shape,
        forward=Kernel(_dropout, in_place={"Out": "X"}),
        gradient=Gradient(_dropout_gradient, in_place={"X@GRAD": "Out@GRAD"}, needs=("Mask",)),
    ),
)
