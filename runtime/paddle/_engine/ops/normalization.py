"""Normalization of each channel over a batch, and of the last axes of each sample.

Sources of the semantics: v2's ``batch_norm`` and fluid's operator of that name. X is (samples, channels) or
has places behind; Mean and Variance are parameters that nobody trains: a step in training moves them towards
those of its batch, by a momentum that an attribute tells or, of ``batch_norm_told``, a variable, and a test
uses them. A batch of one number a channel would be 0 whatever it is: where ``passes_one``, as in fluid, it is
given as it is, and nothing is learned of it. Fluid's ``layer_norm`` and its kin are made of ``standardize``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _shape(forms: Forms) -> Mapping[str, Form]:
    x = forms["X"]
    if len(x.shape) < 2:
        raise ShapeError(f"X must be [n, channels, ...], got {list(x.shape)}")
    for slot in ("Scale", "Bias", "Mean", "Variance"):
        *others, count = forms[slot].shape or (0,)
        if x.shape[1] not in (-1, count) or others not in ([], [1]):
            raise ShapeError(
                f"{slot} {list(forms[slot].shape)} has no number for each of {x.shape[1]} channels"
            )
    if "Momentum" in forms.slots and forms["Momentum"].shape != (1,):
        raise ShapeError(f"Momentum is one number, got {list(forms['Momentum'].shape)}")
    each = replace(x, shape=(forms["Scale"].shape[-1],))
    return {"Out": x, "SavedMean": each, "SavedInverse": each}


def _scratch(forms: Forms) -> Mapping[str, Form]:
    each = Form((forms["Scale"].shape[-1],), forms["X"].dtype)
    return {"a": each, "b": each, "c": each}


def _channels(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:2], -1)


def _is_kept(attrs: Mapping[str, Any]) -> bool:
    """Whether what was found before is used, and stays as it is."""
    return bool(attrs["is_test"] or attrs["use_global_stats"])


def _passes(call: Call) -> bool:
    """Whether there is one number a channel, which is given as it is."""
    x = _channels(call["X"])
    return bool(call.attrs["passes_one"]) and not _is_kept(call.attrs) and x.shape[0] * x.shape[2] == 1


def _normalize(call: Call) -> Steps:
    from paddle._engine.kernels.channels import moments, stretch  # loads numba

    x, out, attrs = _channels(call["X"]), _channels(call["Out"]), call.attrs
    if _passes(call):
        yield partial(np.copyto, out, x)
        yield partial(call["SavedMean"].fill, 0)
        yield partial(call["SavedInverse"].fill, 0)
        return
    scale, bias, kept_mean, kept_variance = (
        call[slot].reshape(-1) for slot in ("Scale", "Bias", "Mean", "Variance")
    )
    mean, inverse, slope, offset = (
        call["SavedMean"],
        call["SavedInverse"],
        call.scratch["a"],
        call.scratch["b"],
    )

    momentum = call.get("Momentum", np.array([attrs["momentum"]])).reshape(-1)

    def keep() -> None:
        for kept, new in ((kept_mean, mean), (kept_variance, inverse)):
            kept += (new - kept) * (1 - momentum)

    def prepare() -> None:
        np.divide(1, np.sqrt(inverse + attrs["epsilon"]), inverse)
        np.multiply(scale, inverse, slope)
        np.subtract(bias, mean * slope, offset)

    if _is_kept(attrs):
        yield partial(np.copyto, mean, kept_mean)
        yield partial(np.copyto, inverse, kept_variance)
    else:
        yield partial(moments, x, mean, inverse)  # the variance, until it is inverted
        yield keep
    yield prepare
    yield partial(stretch, x, slope, offset, out)


def _gradient(call: Call) -> Steps:
    from paddle._engine.kernels.channels import stretch, stretch_both, sums  # loads numba

    x, grad = _channels(call["X"]), _channels(call["Out@GRAD"])
    scale, mean, inverse = call["Scale"].reshape(-1), call["SavedMean"], call["SavedInverse"]
    dscale = call.get("Scale@GRAD", call.scratch["a"]).reshape(-1)
    dbias = call.get("Bias@GRAD", call.scratch["b"]).reshape(-1)
    if _passes(call):
        yield partial(dscale.fill, 0)
        yield partial(dbias.fill, 0)
        if "X@GRAD" in call:
            yield partial(np.copyto, _channels(call["X@GRAD"]), grad)
        return
    yield partial(sums, grad, x, mean, dbias, dscale)
    yield partial(np.multiply, dscale, inverse, dscale)
    if "X@GRAD" not in call:
        return
    dx, is_kept = _channels(call["X@GRAD"]), _is_kept(call.attrs)
    slope, count = call.scratch["c"], x.shape[0] * x.shape[2]
    yield partial(np.multiply, scale, inverse, slope)
    if is_kept:
        yield partial(stretch, grad, slope, np.zeros_like(slope), dx)
        return
    of_x, rest = np.empty_like(slope), np.empty_like(slope)

    def part() -> None:
        """dx = slope * (grad - mean of grad - (x - mean) * inverse * mean of grad * normalized x)."""
        np.multiply(slope * inverse, dscale / -count, of_x)
        np.subtract(-of_x * mean, slope * dbias / count, rest)

    yield part
    yield partial(stretch_both, grad, x, slope, of_x, rest, dx)


def _standard_shape(forms: Forms) -> Mapping[str, Form]:
    x, begin = forms["X"], forms.attrs["begin_norm_axis"]
    if not 0 < begin < len(x.shape):
        raise ShapeError(f"X of shape {list(x.shape)} has no axes on both sides of {begin}")
    lead = x.shape[:begin]
    each = replace(x, shape=(-1 if -1 in lead else prod(lead),))
    return {"Out": x, "Mean": each, "Variance": each}


def _rows(x: np.ndarray, call: Call) -> np.ndarray:
    return x.reshape(prod(x.shape[: call.attrs["begin_norm_axis"]]), -1)


def _standardize(call: Call) -> Steps:
    """Each row less its mean, over its standard deviation."""
    x, out = _rows(call["X"], call), _rows(call["Out"], call)
    mean, variance = call["Mean"][:, None], call["Variance"][:, None]
    squares, inverse = np.empty_like(x), np.empty_like(mean)
    yield partial(np.mean, x, axis=1, out=mean, keepdims=True)
    yield partial(np.subtract, x, mean, out)
    yield partial(np.multiply, out, out, squares)
    yield partial(np.mean, squares, axis=1, out=variance, keepdims=True)
    yield partial(np.add, variance, call.attrs["epsilon"], inverse)
    yield partial(np.sqrt, inverse, inverse)
    yield partial(np.divide, out, inverse, out)


def _standardize_gradient(call: Call) -> Steps:
    """inverse * (grad - mean of grad - out * mean of grad * out)."""
    out, grad, dx = (_rows(call[slot], call) for slot in ("Out", "Out@GRAD", "X@GRAD"))
    variance = call["Variance"][:, None]
    inverse, along, level = (np.empty_like(variance) for _ in range(3))
    yield partial(np.multiply, grad, out, dx)
    yield partial(np.mean, dx, axis=1, out=along, keepdims=True)
    yield partial(np.mean, grad, axis=1, out=level, keepdims=True)
    yield partial(np.multiply, out, along, dx)
    yield partial(np.subtract, grad, dx, dx)
    yield partial(np.subtract, dx, level, dx)
    yield partial(np.add, variance, call.attrs["epsilon"], inverse)
    yield partial(np.sqrt, inverse, inverse)
    yield partial(np.divide, dx, inverse, dx)


def _row(type: str, *more: str) -> Row:
    return Row(
        type=type,
        inputs=("X", "Scale", "Bias", "Mean", "Variance", *more),
        outputs=("Out", "SavedMean", "SavedInverse"),
        attrs={
            "epsilon": 1e-5,
            "momentum": 0.9,
            "is_test": False,
            "use_global_stats": False,
            "passes_one": False,
        },
        changes=lambda attrs: () if _is_kept(attrs) else ("Mean", "Variance"),
        shape=_shape,
        forward=Kernel(_normalize, _scratch),
        gradient=Gradient(
            _gradient,
            _scratch,
            of=("X", "Scale", "Bias"),
            needs=("X", "Scale", "SavedMean", "SavedInverse"),
        ),
    )


ROWS = (
    _row("batch_norm"),
    _row("batch_norm_told", "Momentum"),
    Row(
        type="standardize",
        outputs=("Out", "Mean", "Variance"),
        attrs={"begin_norm_axis": 1, "epsilon": 1e-5},
        shape=_standard_shape,
        forward=Kernel(_standardize),
        gradient=Gradient(_standardize_gradient, needs=("Out", "Variance")),
    ),
)
