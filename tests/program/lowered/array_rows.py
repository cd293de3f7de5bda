"""Sums and norms, truths, choices, shapes and costs, of which no layer appends the most by these names."""

from __future__ import annotations

from typing import Any

import numpy as np

from .row import Row

RNG = np.random.default_rng(13)
A, B = RNG.normal(size=(2, 3, 4))
IMAGES = RNG.normal(size=(2, 3, 4, 5))
HOLES = np.array([[0.0, 1, -2], [0, 0, 3], [0.5, 0, 0]])
BROKEN = np.array([[1.0, np.nan, 2], [np.inf, 0, -np.inf]])
TRUTHS = np.array([[1.0], [0.0], [1.0]])
NOT_SO = "no such function"


def _norms(order: float, axis: int = -1, keeps: bool = False, x: np.ndarray = A) -> Row:
    return Row(
        "p_norm",
        {"X": x},
        lambda x: np.linalg.norm(x, order, axis, keeps),
        lambda t, x: t.linalg.vector_norm(x, order, axis, keeps),
        told={"porder": order, "axis": axis, "keepdim": keeps},
    )


def _frobenius(axes: tuple[int, ...], keeps: bool) -> Row:
    return Row(
        "frobenius_norm",
        {"X": IMAGES},
        lambda x: np.sqrt((x**2).sum(axes, keepdims=keeps)),
        lambda t, x: t.linalg.matrix_norm(x, "fro", axes, keeps),
        told={"dim": list(axes), "keep_dim": keeps},
    )


def _log_sum(x: np.ndarray, axis: Any = None, keeps: bool = False) -> np.ndarray:
    return np.log(np.exp(x).sum(axis, keepdims=keeps))


def _shaped(type: str, x: np.ndarray, wanted: tuple[int, ...], **told: Any) -> Row:
    return Row(type, {"X": x}, lambda x: x.reshape(wanted), lambda t, x: x.reshape(wanted), told=told)


def _same(type: str) -> Row:
    return Row(type, {"X": A}, lambda x: x, "no rows that stand for a table")


def _apart(x: np.ndarray, y: np.ndarray) -> Any:
    return ((x - y) ** 2).sum(1, keepdims=True), x - y


def _hinge(x: Any, label: Any) -> Any:
    return (1 - (2 * label - 1) * x).clip(0)


def _selected(no: int) -> Row:
    return Row(
        "select_input",
        {"X": [A, B], "Mask": np.array([no], np.int32)},
        lambda x, mask: x[no],
        lambda t, x, mask: x[no],
        of="X.0 X.1",
    )


CASES = [
    *(_norms(order) for order in (1.0, 2.0, 3.0, 0.5, -1.0, float("inf"), -float("inf"))),
    _norms(3.0, 0, True),
    _norms(0.0),
    _norms(0.0, 0, True),
    Row(
        "p_norm",
        {"X": HOLES},
        lambda x: np.array([1.0, 1, 2]),
        lambda t, x: t.linalg.vector_norm(x, 0, 0),
        told={"porder": 0.0, "axis": 0},
        of="",  # no difference is where one is 0
    ),
    Row(
        "p_norm",
        {"X": BROKEN},
        lambda x: np.array([3.0, 2.0]),
        "counts what is no number, too",
        told={"porder": 0.0},
        of="",
    ),
    Row(
        "p_norm",
        {"X": A},
        lambda x: np.array(np.linalg.norm(x)).reshape(1),
        lambda t, x: t.linalg.vector_norm(x).reshape(1),
        told={"asvector": True},
    ),
    _frobenius((2, 3), True),
    _frobenius((-2, -1), False),
    Row(
        "frobenius_norm",
        {"X": IMAGES},
        lambda x: np.sqrt((x**2).sum()).reshape(1),
        lambda t, x: t.linalg.vector_norm(x).reshape(1),
        told={"reduce_all": True},
    ),
    Row("l1_norm", {"X": A}, lambda x: np.abs(x).sum().reshape(1), lambda t, x: x.abs().sum().reshape(1)),
    Row("logsumexp", {"X": A}, lambda x: _log_sum(x, 0), lambda t, x: x.logsumexp(0)),
    Row(
        "logsumexp",
        {"X": IMAGES},
        lambda x: _log_sum(x, (1, 3), True),
        lambda t, x: x.logsumexp((1, 3), True),
        told={"axis": [1, -1], "keepdim": True},
    ),
    Row(
        "logsumexp",
        {"X": A},
        lambda x: _log_sum(x).reshape(1),
        lambda t, x: x.logsumexp((0, 1)).reshape(1),
        told={"reduce_all": True},
    ),
    *(
        Row(
            "squared_l2_distance",
            {"X": A, "Y": y},
            _apart,
            lambda t, x, y: (((x - y) ** 2).sum(1, True), x - y),
            "Out sub_result",
        )
        for y in (B, B[:1])
    ),
    Row("square_error_cost", {"X": A, "Y": B}, lambda x, y: (x - y) ** 2, lambda t, x, y: (x - y) ** 2),
    Row(
        "hinge_loss",
        {"Logits": A[:, :1], "Labels": TRUTHS},
        _hinge,
        lambda t, *each: _hinge(*each),
        "Loss",
        of="Logits",
    ),
    Row("minus", {"X": A, "Y": B}, np.subtract, lambda t, x, y: x - y),
    Row("mm", {"X": A, "Y": B.T.copy()}, np.matmul, lambda t, x, y: t.mm(x, y)),
    *(
        Row(
            "isfinite",
            {"X": x},
            lambda x: np.isfinite(x).all().reshape(1),
            lambda t, x: x.isfinite().all().reshape(1),
            of="",
        )
        for x in (A, BROKEN)
    ),
    *(
        Row(
            "isinf",
            {"X": x},
            lambda x: np.isinf(x).any().reshape(1),
            lambda t, x: x.isinf().any().reshape(1),
            of="",
        )
        for x in (A, BROKEN, BROKEN[:1])
    ),
    *(
        Row(
            "isnan",
            {"X": x},
            lambda x: np.isnan(x).any().reshape(1),
            lambda t, x: x.isnan().any().reshape(1),
            of="",
        )
        for x in (A, BROKEN, BROKEN[1:])
    ),
    Row("isfinite_v2", {"X": BROKEN}, np.isfinite, lambda t, x: x.isfinite(), of=""),
    Row("isinf_v2", {"X": BROKEN}, np.isinf, lambda t, x: x.isinf(), of=""),
    Row("isnan_v2", {"X": BROKEN}, np.isnan, lambda t, x: x.isnan(), of=""),
    *(
        Row(
            "equal_all",
            {"X": A, "Y": y},
            lambda x, y: np.array([np.array_equal(x, y)]),
            lambda t, x, y: t.tensor([t.equal(x, y)]),
            of="",
        )
        for y in (A, np.where(A[2, 3] == A, 0, A))
    ),
    Row(
        "multiplex",
        {"X": [A, B], "Ids": np.array([[1], [0], [1]], np.int32)},
        lambda x, ids: np.stack([x[1][0], x[0][1], x[1][2]]),
        lambda t, x, ids: t.stack([x[1][0], x[0][1], x[1][2]]),
        of="X.0 X.1",
    ),
    _selected(0),
    _selected(1),
    Row("fill_zeros_like2", {"X": A}, np.zeros_like, lambda t, x: t.zeros_like(x), told={"dtype": 5}, of=""),
    _same("get_tensor_from_selected_rows"),
    _same("merge_selected_rows"),
    _shaped("reshape", A, (2, 6), shape=[2, -1]),
    _shaped("reshape", IMAGES, (2, 60), shape=[0, -1]),
    _shaped("squeeze", A[:, None], (3, 4), axes=[1]),
    _shaped("squeeze", A[:, None, :, None], (3, 4), axes=[]),
    _shaped("unsqueeze", A, (1, 3, 4, 1), axes=[0, 3]),
    _shaped("unsqueeze", A, (3, 4, 1), axes=[-1]),
    _shaped("flatten", IMAGES, (6, 20), axis=2),
    _shaped("flatten", IMAGES, (1, 120), axis=0),
    Row(
        "transpose",
        {"X": IMAGES},
        lambda x: x.transpose(0, 2, 3, 1),
        lambda t, x: x.permute(0, 2, 3, 1),
        told={"axis": [0, 2, 3, 1]},
    ),
    *(
        Row(
            "expand_as_v2",
            {"X": A[:1], **beside},
            lambda x, *like: x.repeat(3, 0),
            lambda t, x, *like: x.expand(3, 4),
            told=told,
            of="X",
        )
        for beside, told in (({}, {"target_shape": [3, 4]}), ({"Y": B}, {}))
    ),
    Row("mean", {"X": A}, lambda x: x.mean().reshape(1), lambda t, x: x.mean().reshape(1)),
    Row("squared_l2_norm", {"X": A}, lambda x: (x**2).sum().reshape(1), lambda t, x: (x**2).sum().reshape(1)),
    Row("arg_min", {"X": A}, lambda x: x.argmin(0), lambda t, x: x.argmin(0), told={"axis": 0}, of=""),
    Row("reduce_all", {"X": HOLES > 0}, lambda x: x.all(0), lambda t, x: x.all(0), told={"dim": [0]}),
    Row("reduce_any", {"X": HOLES > 0.7}, lambda x: x.any(1), lambda t, x: x.any(1), told={"dim": [1]}),
    Row(
        "crop",
        {"X": A},
        lambda x: x[1:3, 2:4],
        lambda t, x: x[1:3, 2:4],
        told={"offsets": [1, 2], "shape": [2, 2]},
    ),
]
