"""What begins with adding a bias: to the product of matrices before an activation, or before a softmax.

No face writes these operators. A pass makes them (passes/bias.py) of several that have the same semantics.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Index, Kernel, Row, Steps, same_memory

ACTIVATIONS = ("sigmoid", "tanh", "relu")
"""Those that have a kernel together with a bias."""


def _check_bias(forms: Forms, x: Form) -> None:
    bias = forms["Bias"]
    *others, size = bias.shape or (0,)
    if any(other != 1 for other in others) or not shapes.agree(size, x.shape[-1]) or bias.dtype != x.dtype:
        raise ShapeError(f"Bias is {bias.dtype}{list(bias.shape)}, X is {x.dtype}{list(x.shape)}")


def _activation_shape(forms: Forms) -> Mapping[str, Form]:
    x = forms["X"]
    _check_bias(forms, x)
    if forms.attrs["act"] not in ACTIVATIONS:
        raise ShapeError(f"act is one of {', '.join(ACTIVATIONS)}, not {forms.attrs['act']!r}")
    return {"Out": x}


def _copied(source: np.ndarray, target: np.ndarray) -> Steps:
    """A copy, where the plan has not made the two one memory."""
    if not same_memory(source, target):
        yield partial(np.copyto, target, source)


def _rows(array: np.ndarray) -> np.ndarray:
    """An array as a matrix: its last axis is that of the bias."""
    return array.reshape(-1, array.shape[-1])


def _activation(call: Call) -> Steps:
    from paddle._engine.kernels.biased import forward  # loads numba

    out, attrs = call["Out"], call.attrs
    number = out.dtype.type  # of a wider one the arithmetic would become wider
    yield from _copied(call["X"], out)
    limits = number(attrs["x_min"]), number(attrs["x_max"])
    yield partial(forward(attrs["act"], out.dtype), _rows(out), call["Bias"].reshape(-1), *limits)


def _activation_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.biased import backward  # loads numba

    out, grad = call["Out"], call["Out@GRAD"]
    slope = call["X@GRAD"] if "X@GRAD" in call else np.empty_like(grad)
    total = call["Bias@GRAD"].reshape(-1) if "Bias@GRAD" in call else np.empty(out.shape[-1], out.dtype)
    yield from _copied(grad, slope)
    yield partial(backward(call.attrs["act"], out.dtype), _rows(slope), _rows(out), total)


def _softmax_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.matrix(forms, "X")
    _check_bias(forms, x)
    shapes.column(forms, "Label", x.shape[0])
    return {"Loss": shapes.per_sample(x), "Softmax": x}


def _softmax(call: Call) -> Steps:
    from paddle._engine.kernels.softmax import biased_softmax_cross_entropy, passed_label  # loads numba

    bias, label = call["Bias"].reshape(-1), call["Label"].reshape(-1)
    ignored = passed_label(call.attrs["ignored"])
    yield biased_softmax_cross_entropy(call["X"], bias, label, call["Softmax"], call["Loss"], ignored)


def _softmax_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.softmax import passed_label, softmax_slopes  # loads numba

    softmax, grad = call["Softmax"], call["Loss@GRAD"]
    slope = call["X@GRAD"] if "X@GRAD" in call else np.empty_like(softmax)
    total = call["Bias@GRAD"].reshape(-1) if "Bias@GRAD" in call else np.empty(slope.shape[1], slope.dtype)
    yield from _copied(softmax, slope)
    ignored = passed_label(call.attrs["ignored"])
    yield partial(softmax_slopes(slope.dtype), slope, call["Label"].reshape(-1), grad, total, ignored)


ROWS = (
    Row(
        type="bias_activation",
        inputs=("X", "Bias"),
        attrs={"act": REQUIRED, "x_min": -np.inf, "x_max": np.inf},
        shape=_activation_shape,
        forward=Kernel(_activation, in_place={"Out": "X"}),
        gradient=Gradient(
            _activation_gradient,
            in_place={"X@GRAD": "Out@GRAD"},
            of=("X", "Bias"),
            needs=("Out",),
        ),
    ),
    Row(
        type="bias_softmax_cost",
        inputs=("X", "Bias", "Label"),
        outputs=("Loss", "Softmax"),
        attrs={"ignored": None},
        shape=_softmax_shape,
        forward=Kernel(_softmax, in_place={"Softmax": "X"}),
        gradient=Gradient(
            _softmax_gradient,
            in_place={"X@GRAD": "Softmax"},
            of=("X", "Bias"),
            needs=("Softmax", "Label"),
            given="Loss",
        ),
        indexes=(Index("Label", into="X", axis=1, passed="ignored"),),
    ),
)
