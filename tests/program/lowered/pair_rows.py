"""What two arrays make: arithmetic, comparisons, choices of rows, products and costs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.special as special

from .row import Row

RNG = np.random.default_rng(19)
A, B = RNG.normal(size=(2, 3, 4))
ABOVE = RNG.uniform(0.5, 3, (3, 4))
SHARES = ABOVE / ABOVE.sum(1, keepdims=True)
WHOLE, OTHER = RNG.integers(1, 4, (2, 3, 4))
TRUE, FALSE = WHOLE > 2, OTHER > 2
IDS = np.array([[2], [0], [2]])
PLACES = np.array([[2, 1], [0, 3]])
IMAGE, FILTER = RNG.normal(size=(1, 2, 3, 3)), RNG.normal(size=(2, 1, 2, 2))
SIGMOID = special.expit


def _pair(
    type: str, x: np.ndarray, y: np.ndarray, numpy: Any, torch: Any = None, of: str | None = None
) -> Row:
    return Row(type, {"X": x, "Y": y}, numpy, torch or (lambda t, x, y: numpy(x, y)), of=of)


def _divided(t: Any, x: Any, y: Any) -> Any:
    return t.div(x, y, rounding_mode="floor")


def _arithmetic() -> list[Row]:
    return [
        _pair("elementwise_add", A, B[:1], operator.add),
        _pair("elementwise_sub", A, B[:1], operator.sub),
        _pair("elementwise_mul", A, B[:1], operator.mul),
        _pair("elementwise_div", A, ABOVE[:1], operator.truediv),
        _pair("elementwise_pow", ABOVE, B, operator.pow),
        _pair("elementwise_max", A, B, np.maximum, lambda t, x, y: t.maximum(x, y)),
        _pair("elementwise_min", A, B, np.minimum, lambda t, x, y: t.minimum(x, y)),
        _pair("elementwise_mod", WHOLE, OTHER, operator.mod),
        _pair("elementwise_floordiv", WHOLE, OTHER, operator.floordiv, _divided),
    ]


def _compared(type: str, rule: Any) -> Row:
    return _pair(type, WHOLE, OTHER, rule)


def _transposed_windows(x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Each pixel gives its channel's filter, times itself, to all that it is seen from."""
    out = np.zeros((1, 2, 6, 6))
    for row, column in np.ndindex(3, 3):
        out[:, :, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2] += (
            x[:, :, row, column, None, None] * filters[None, :, 0]
        )
    return out


def _cell(x: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    i, f, o, g = np.split(x, 4, 1)
    now = SIGMOID(f + 0.5) * before + SIGMOID(i) * np.tanh(g)
    return now, SIGMOID(o) * np.tanh(now)


def _torch_cell(t: Any, x: Any, before: Any) -> Any:
    i, f, o, g = x.chunk(4, 1)
    now = (f + 0.5).sigmoid() * before + i.sigmoid() * g.tanh()
    return now, o.sigmoid() * now.tanh()


def _scattered(x: np.ndarray, ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = x.copy()
    out[ids] = rows
    return out


def _torch_scattered(t: Any, x: Any, ids: Any, rows: Any) -> Any:
    return x.index_copy(0, ids, rows)


CASES = [
    *_arithmetic(),
    _compared("less_than", operator.lt),
    _compared("less_equal", operator.le),
    _compared("greater_than", operator.gt),
    _compared("greater_equal", operator.ge),
    _compared("equal", operator.eq),
    _compared("not_equal", operator.ne),
    _pair("logical_and", TRUE, FALSE, operator.and_),
    _pair("logical_or", TRUE, FALSE, operator.or_),
    _pair("logical_xor", TRUE, FALSE, operator.xor),
    Row("logical_not", {"X": TRUE}, np.logical_not, lambda t, x: ~x),
    Row("assign", {"X": A}, lambda x: x, lambda t, x: x * 1),
    Row("fill_zeros_like", {"X": A}, np.zeros_like, lambda t, x: t.zeros_like(x), of=""),
    Row(
        "log_softmax",
        {"X": A},
        lambda x: special.log_softmax(x, 0),
        lambda t, x: x.log_softmax(0),
        told={"axis": 0},
    ),
    Row("softmax", {"X": A}, lambda x: special.softmax(x, 0), lambda t, x: x.softmax(0), told={"axis": 0}),
    Row("matmul_v2", {"X": A, "Y": B.T.copy()}, np.matmul, lambda t, x, y: x @ y),
    Row("matmul_v2", {"X": A, "Y": B}, lambda x, y: x.T @ y, lambda t, x, y: x.T @ y, told={"trans_x": True}),
    Row(
        "gather_nd",
        {"X": A, "Index": PLACES},
        lambda x, at: x[at[:, 0], at[:, 1]],
        lambda t, x, at: x[at[:, 0], at[:, 1]],
    ),
    Row("lookup_table", {"W": A, "Ids": IDS}, lambda w, ids: w[ids[:, 0]], lambda t, w, ids: w[ids[:, 0]]),
    Row("lookup_table_v2", {"W": A, "Ids": IDS}, lambda w, ids: w[ids], lambda t, w, ids: w[ids]),
    Row(
        "scatter",
        {"X": A, "Ids": np.array([2, 0]), "Updates": B[:2]},
        _scattered,
        _torch_scattered,
        told={"overwrite": True},
    ),
    Row(
        "kldiv_loss",
        {"X": A, "Target": SHARES},
        lambda x, y: y * (np.log(y) - x),
        lambda t, x, y: t.nn.functional.kl_div(x, y, reduction="none"),
        "Loss",
        {"reduction": "none"},
        of="X",
    ),
    Row(
        "lstm_unit",
        {"X": RNG.normal(size=(3, 16)), "C_prev": A},
        _cell,
        _torch_cell,
        "C H",
        {"forget_bias": 0.5},
    ),
    Row(
        "depthwise_conv2d_transpose",
        {"Input": IMAGE, "Filter": FILTER},
        _transposed_windows,
        lambda t, x, w: t.nn.functional.conv_transpose2d(x, w, stride=2, groups=2),
        "Output",
        {"strides": [2, 2], "groups": 2},
    ),
]
