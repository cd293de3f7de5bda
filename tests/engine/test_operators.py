"""Every operator: its forward against plain numpy, its gradient against central differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from paddle._engine import registry
from paddle._engine.errors import ShapeError
from paddle._engine.single import Single
from paddle.testing import check_gradient

from .ops.ahead_operators import AHEAD, DURING
from .ops.attribute_operators import ATTRIBUTES, ATTRIBUTES_OTHERS
from .ops.book_operators import BOOK, BOOK_OTHERS
from .ops.dense_operators import DENSE, DENSE_OTHERS
from .ops.first_sequence_operators import FIRST_SEQUENCE_OTHERS, FIRST_SEQUENCES
from .ops.image_operators import PICTURES, PICTURES_WRONG
from .ops.layer_operators import LAYERS, LAYERS_WRONG
from .ops.recurrent_operators import RECURRENT
from .ops.refused_operators import REFUSED
from .ops.sequence_operators import SEQUENCE_OTHERS, SEQUENCES
from .ops.tally_operators import TALLIES, TALLIES_WRONG
from .ops.varied_operators import VARIED, VARIED_OTHERS, VARIED_WRONG
from .passes.case import Case
from .passes.fused_cases import FUSED, FUSED_WRONG

RNG = np.random.default_rng(7)
X = RNG.normal(size=(5, 4))
Y = RNG.normal(size=(5, 4))
POSITIVE = RNG.uniform(0.5, 2.0, size=(5, 4))
PROBABILITIES = POSITIVE / POSITIVE.sum(1, keepdims=True)
LABEL = RNG.integers(0, 4, size=(5, 1))
TABLE = RNG.normal(size=(6, 3))
IDS = np.array([[5], [0], [5], [2]])
IMAGES, FILTERS = RNG.normal(size=(2, 4, 5, 6)), RNG.normal(size=(6, 2, 3, 2))
MOVING = {"strides": (2, 1), "paddings": (1, 0), "groups": 2}
CHANNELS = {slot: RNG.uniform(0.5, 1.5, size=(1, 4)) for slot in ("Scale", "Bias", "Mean", "Variance")}
ENTRIES = {"Ids": np.array([5, 0, 5, 2]), "Amounts": RNG.normal(size=4), "Starts": np.array([0, 3, 3, 4])}
SPREAD = np.zeros((3, 6))
np.add.at(SPREAD, ([0, 0, 0, 2], ENTRIES["Ids"]), ENTRIES["Amounts"])


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def seen(
    window: tuple[int, int], strides: tuple[int, int], paddings: tuple[int, int], around: float
) -> np.ndarray:
    """(images, channels, rows, columns, height, width) of all windows, as many as fit in."""
    (above, left), (tall, wide) = paddings, window
    padded = np.pad(IMAGES, ((0, 0), (0, 0), (above, above), (left, left)), constant_values=around)
    return sliding_window_view(padded, (tall, wide), (2, 3))[:, :, :: strides[0], :: strides[1]]


def convolved() -> np.ndarray:
    windows = seen((3, 2), MOVING["strides"], MOVING["paddings"], 0.0)
    halves = [
        np.einsum("nchwyx,fcyx->nfhw", windows[:, 2 * g : 2 * g + 2], FILTERS[3 * g : 3 * g + 3])
        for g in range(2)
    ]
    return np.concatenate(halves, 1)


def normalized(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    shape = (1, 4) + (1,) * (x.ndim - 2)
    mean, variance = mean.reshape(shape), variance.reshape(shape)
    scale, bias = CHANNELS["Scale"].reshape(shape), CHANNELS["Bias"].reshape(shape)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + bias


def picked(x: np.ndarray) -> np.ndarray:
    return np.take_along_axis(x, LABEL, 1)


DIFFERENTIABLE = [
    *FUSED,
    Case("mul", {"X": X, "Y": X.T[:, :2]}, lambda: X @ X.T[:, :2]),
    Case("mul", {"X": X[:1], "Y": RNG.normal(size=(4, 9))}, lambda: None),  # the gradient by the transpose
    Case("elementwise_add", {"X": X, "Y": Y}, lambda: X + Y),
    Case("elementwise_add", {"X": X, "Y": Y[0]}, lambda: X + Y[0]),
    Case("elementwise_sub", {"X": X, "Y": Y}, lambda: X - Y),
    Case("elementwise_sub", {"X": X, "Y": Y[:, :1]}, lambda: X - Y[:, :1]),
    Case("elementwise_mul", {"X": X, "Y": Y}, lambda: X * Y),
    Case("elementwise_mul", {"X": X, "Y": Y[0]}, lambda: X * Y[0]),
    Case("elementwise_div", {"X": X, "Y": POSITIVE}, lambda: X / POSITIVE),
    Case("elementwise_div", {"X": X, "Y": POSITIVE[0]}, lambda: X / POSITIVE[0]),
    Case("sum", {"X": [X, Y, POSITIVE]}, lambda: X + Y + POSITIVE),
    Case("sum", {"X": [X]}, lambda: X),
    Case("scale", {"X": X}, lambda: 3 * X - 1, {"scale": 3.0, "bias": -1.0}),
    Case("scale", {"X": X}, lambda: -0.5 * X, {"scale": -0.5}),
    Case("sigmoid", {"X": X}, lambda: 1 / (1 + np.exp(-X))),
    Case("tanh", {"X": X}, lambda: np.tanh(X)),
    Case("stanh", {"X": X}, lambda: 1.7159 * np.tanh(2 / 3 * X)),
    Case("relu", {"X": X}, lambda: X * (X > 0)),
    Case("brelu", {"X": 20 * X}, lambda: np.minimum(np.maximum(20 * X, 0), 24)),
    Case("soft_relu", {"X": X}, lambda: np.log(1 + np.exp(X))),
    Case("soft_relu", {"X": 4 * X}, lambda: np.log(1 + np.exp(np.clip(4 * X, -2, 2))), {"threshold": 2.0}),
    Case("softsign", {"X": X}, lambda: X / (1 + np.abs(X))),
    Case("exp", {"X": X}, lambda: np.exp(X)),
    Case("log", {"X": POSITIVE}, lambda: np.log(POSITIVE)),
    Case("abs", {"X": X}, lambda: np.abs(X)),
    Case("square", {"X": X}, lambda: X**2),
    Case("sqrt", {"X": POSITIVE}, lambda: POSITIVE**0.5),
    Case("reciprocal", {"X": POSITIVE}, lambda: 1 / POSITIVE),
    Case("softmax", {"X": X}, lambda: softmax(X)),
    Case("mean", {"X": X}, lambda: np.array([X.mean()])),
    Case("reduce_sum", {"X": X}, lambda: np.array([X.sum()])),
    Case("reduce_sum", {"X": X}, lambda: X.sum(1), {"dim": -1}),
    Case("reduce_sum", {"X": X}, lambda: X.sum(0, keepdims=True), {"dim": (0,), "keep_dim": True}),
    Case("reduce_mean", {"X": X}, lambda: X.mean(0), {"dim": 0}),
    Case("reshape", {"X": X}, lambda: X.reshape(2, 10), {"shape": (-1, 10)}),
    Case("concat", {"X": [X, Y[:, :2]]}, lambda: np.concatenate([X, Y[:, :2]], 1)),
    Case("concat", {"X": [X, Y[:2]]}, lambda: np.concatenate([X, Y[:2]], 0), {"axis": 0}),
    Case("lookup_table", {"W": TABLE, "Ids": IDS}, lambda: TABLE[IDS[:, 0]]),
    Case("lookup_table", {"W": TABLE, "Ids": IDS}, lambda: TABLE[IDS[:, 0]], {"is_sparse": True}),
    Case("sparse_mul", {"W": TABLE, **ENTRIES}, lambda: SPREAD @ TABLE),
    Case("sparse_mul", {"W": TABLE, **ENTRIES}, lambda: SPREAD @ TABLE, {"is_sparse": True}),
    Case("conv2d", {"X": IMAGES, "Filter": FILTERS}, convolved, MOVING),
    Case("max_pool2d", {"X": IMAGES}, lambda: seen((2, 3), (1, 1), (0, 0), 0).max((4, 5)), {"ksize": (2, 3)}),
    Case("max_pool2d", {"X": IMAGES}, lambda: IMAGES.max((2, 3), keepdims=True), {"ksize": (0, 0)}),
    Case(
        "max_pool2d",
        {"X": IMAGES},
        lambda: seen((2, 2), (2, 2), (1, 1), -9).max((4, 5)),
        {"ksize": (2, 2), "strides": (2, 2), "paddings": (1, 1)},
    ),
    Case(
        "average_pool2d",
        {"X": IMAGES},
        lambda: seen((2, 2), (2, 2), (1, 1), 0).mean((4, 5)),
        {"ksize": (2, 2), "strides": (2, 2), "paddings": (1, 1), "exclusive": False},
    ),
    Case(
        "average_pool2d",
        {"X": IMAGES},
        lambda: np.nanmean(seen((2, 2), (2, 2), (1, 1), np.nan), (4, 5)),
        {"ksize": (2, 2), "strides": (2, 2), "paddings": (1, 1)},
    ),
    Case(
        "batch_norm",
        {"X": IMAGES, **CHANNELS},
        lambda: normalized(IMAGES, IMAGES.mean((0, 2, 3)), IMAGES.var((0, 2, 3))),
    ),
    *(
        Case(type, {"X": X, **CHANNELS, **more}, lambda: normalized(X, X.mean(0), X.var(0)))
        for type, more in {"batch_norm": {}, "batch_norm_told": {"Momentum": np.array([0.3])}}.items()
    ),
    Case(
        "batch_norm",
        {"X": X, **CHANNELS},
        lambda: normalized(X, CHANNELS["Mean"], CHANNELS["Variance"]),
        {"use_global_stats": True},
    ),
    Case("cross_entropy", {"X": PROBABILITIES, "Label": LABEL}, lambda: -np.log(picked(PROBABILITIES))),
    Case("softmax_with_cross_entropy", {"Logits": X, "Label": LABEL}, lambda: -np.log(picked(softmax(X)))),
    Case(
        "softmax_with_soft_labels",
        {"Logits": X, "Label": softmax(Y)},
        lambda: -(softmax(Y) * np.log(softmax(X))).sum(1, keepdims=True),
    ),
    Case("square_error_cost", {"X": X, "Label": Y}, lambda: ((X - Y) ** 2).sum(1, keepdims=True)),
    Case("square_error_cost", {"X": X, "Label": Y}, lambda: (X - Y) ** 2, {"per_sample": False}),
    Case("dropout", {"X": X}, lambda: X * 0.75, {"dropout_prob": 0.25, "is_test": True}),
    Case("clip_error", {"X": X}, lambda: X, {"min": -100.0, "max": 100.0}),
    Case("dropout", {"X": X}, lambda: None, {"dropout_prob": 0.5}),
    Case("dropout", {"X": X}, lambda: None, {"dropout_implementation": "upscale_in_train"}),
    *BOOK,
    *FIRST_SEQUENCES,
    *RECURRENT,
    *SEQUENCES,
    *DENSE,
    *PICTURES,
    *TALLIES,
    *LAYERS,
    *VARIED,
    *ATTRIBUTES,
]

OTHERS = [
    Case("sparse_spread", ENTRIES, lambda: SPREAD, {"width": 6}),
    Case("cast", {"X": X}, lambda: X.astype(np.int64), {"dtype": "int64"}),
    Case("fill_constant", {}, lambda: np.full((2, 3), 1.5), {"shape": (2, 3), "value": 1.5}),
    Case("fill_any_like", {"X": X}, lambda: np.full_like(X, 2.0), {"value": 2.0}),
    Case("clip_by_value", {"X": X}, lambda: np.clip(X, -0.5, 0.2), {"min": -0.5, "max": 0.2}),
    Case("prune", {"X": X, "Mask": (X > 0).astype(np.float32)}, lambda: np.where(X > 0, X, 0)),
    Case("top_k", {"X": np.array([[1.0, 3, 3], [5, 4, 6]])}, lambda: np.array([[3.0, 3], [6, 5]]), {"k": 2}),
    Case(
        "accuracy",
        {"Out": X[:, :2], "Indices": np.array([[0, 1], [2, 3], [1, 0]]), "Label": np.array([[1], [1], [1]])},
        lambda: np.array([2 / 3]),
    ),
    Case(
        "classification_error",
        {"X": np.array([[0.5, 0.5], [0.1, 0.9], [0.2, 0.8]]), "Label": np.array([[0], [0], [1]])},
        lambda: np.array([[0.0], [1], [0]]),
    ),
    *BOOK_OTHERS,
    *FIRST_SEQUENCE_OTHERS,
    *SEQUENCE_OTHERS,
    *DENSE_OTHERS,
    *VARIED_OTHERS,
    *ATTRIBUTES_OTHERS,
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE + OTHERS if c.twin() is not None], ids=str)
def test_forward_agrees_with_numpy(case: Case, dtype: type) -> None:
    slot = registry.row(case.type).outputs[0].replace("*", "0")
    found = Single(case.type, case.slots(dtype), case.attrs).forward()[slot]
    np.testing.assert_allclose(found, case.twin(), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE if c.has_slope], ids=str)
def test_gradient_agrees_with_central_differences(case: Case) -> None:
    check_gradient(case.type, case.inputs, case.attrs)


@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE if c.has_slope], ids=str)
def test_each_gradient_is_the_same_where_nobody_wants_the_others(case: Case) -> None:
    """As where a plan parts them, or a parameter stays as it is."""
    slots = case.slots(np.float64)
    of = [
        slot
        for slot in registry.gradient(case.type).of
        if slots.get(slot) and slots[slot][0].dtype.kind == "f"
    ]
    together, call = Single(case.type, slots, case.attrs), Single(case.type, slots, case.attrs)
    given = {name: RNG.normal(size=together.forward()[name].shape) for name in together.given()}
    wanted = together.gradient(given, of)
    for slot in of if len(of) > 1 else ():
        call.forward()
        for alone, other in zip(call.gradient(given, [slot])[slot], wanted[slot], strict=True):
            np.testing.assert_allclose(alone, other, rtol=1e-9, atol=1e-12)


def test_every_operator_is_tested() -> None:
    """Its gradient: in ops/test_slopes.py; its refusals: in ops/test_refusals.py; beside torch: in
    ops/test_operators_torch.py; with each of its attributes: in ops/test_attributes.py."""
    of_steps = {"generate", "gru_step", "is_id", "lstm_step", "recurrent", "spread_row"}
    elsewhere = {"auc", "descend", "exchange", *of_steps, *(type for type, *_ in AHEAD + DURING)}
    with_twins = {case.type for case in DIFFERENTIABLE + OTHERS if case.twin() is not None}
    assert with_twins | elsewhere == set(registry.table())
    with_gradient = {type for type, row in registry.table().items() if row.gradient is not None}
    assert {case.type for case in DIFFERENTIABLE} == with_gradient - elsewhere


def test_top_k_takes_the_leftmost_of_equal_ones_first() -> None:
    single = Single("top_k", {"X": [np.array([[1.0, 3, 3, 2]])]}, {"k": 3})
    np.testing.assert_array_equal(single.forward()["Indices"], [[1, 2, 3]])


def test_accuracy_counts() -> None:
    slots = {"Out": [X[:3, :1]], "Indices": [np.array([[1], [2], [0]])], "Label": [np.array([[1], [2], [3]])]}
    found = Single("accuracy", slots, {}).forward()
    assert (found["Correct"][0], found["Total"][0]) == (2, 3)


def test_the_cost_of_an_impossible_label_is_finite() -> None:
    inputs = {"X": [np.array([[1.0, 0.0]], np.float32)], "Label": [np.array([[1]])]}
    assert 80 < Single("cross_entropy", inputs, {}).forward()["Out"][0, 0] < 100
    slope = Single("cross_entropy", inputs, {}).gradient(np.ones((1, 1), np.float32), ["X"])["X"][0]
    assert np.isfinite(slope).all()


def test_sigmoid_and_softmax_of_large_numbers_are_finite() -> None:
    large = [np.array([[-1e4, 0.0, 1e4]], np.float32)]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(Single("sigmoid", {"X": large}, {}).forward()["Out"], [[0, 0.5, 1]])
    nothing = np.exp(np.float32(-64))  # no share is less
    np.testing.assert_allclose(Single("softmax", {"X": large}, {}).forward()["Out"], [[nothing, nothing, 1]])


def test_a_sigmoid_within_limits_keeps_the_slope_of_what_it_gives() -> None:
    held = Single("sigmoid", {"X": [20 * X]}, {"x_min": -9.0, "x_max": 4.0})
    out = held.forward()["Out"]
    np.testing.assert_allclose(out, 1 / (1 + np.exp(-np.clip(20 * X, -9, 4))))
    assert (out == out.max()).sum() > 1
    np.testing.assert_allclose(held.gradient(np.ones_like(X), ["X"])["X"][0], out * (1 - out))


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_dropout_drops_at_its_rate_and_keeps_the_rest(rate: float) -> None:
    ones = np.ones((200, 300), np.float32)
    found = Single("dropout", {"X": [ones]}, {"dropout_prob": rate}).forward()
    assert set(np.unique(found["Out"])) <= {0, 1}
    assert abs(found["Out"].mean() - (1 - rate)) < 0.01
    np.testing.assert_array_equal(found["Out"], found["Mask"])


def test_dropout_upscaled_in_training_keeps_the_mean() -> None:
    attrs = {"dropout_prob": 0.25, "dropout_implementation": "upscale_in_train"}
    ones = [np.ones((200, 300), np.float32)]
    assert abs(Single("dropout", {"X": ones}, attrs).forward()["Out"].mean() - 1) < 0.01
    np.testing.assert_array_equal(
        Single("dropout", {"X": ones}, {**attrs, "is_test": True}).forward()["Out"], ones[0]
    )


WRONG = [
    *REFUSED,
    *FUSED_WRONG,
    *PICTURES_WRONG,
    *TALLIES_WRONG,
    *LAYERS_WRONG,
    *VARIED_WRONG,
    ("mul", {"X": X, "Y": Y}, {}, "4 columns and Y has 5 rows"),
    ("mul", {"X": X[0], "Y": Y}, {}, "must be a matrix"),
    ("elementwise_add", {"X": X, "Y": Y[:, :3]}, {}, "does not broadcast"),
    ("elementwise_add", {"X": X, "Y": Y[:3]}, {}, "does not broadcast"),
    ("elementwise_add", {"X": X, "Y": X.astype(np.float32)}, {}, "cast one of them"),
    ("sum", {"X": [X, Y[:2]]}, {}, "summands differ"),
    ("concat", {"X": [X, Y[:2]]}, {}, "cannot be concatenated"),
    ("concat", {"X": [X, Y]}, {"axis": 2}, "outside the 2 axes"),
    ("reshape", {"X": X}, {"shape": (3, -1)}, "cannot be reshaped"),
    ("reshape", {"X": X}, {"shape": (-1, -1)}, "more than one size open"),
    ("reshape", {"X": X}, {}, "needs the attributes"),
    ("reduce_sum", {"X": X}, {"dim": 2}, "outside the 2 axes"),
    ("lookup_table", {"W": TABLE, "Ids": X}, {}, "must be int64"),
    ("lookup_table", {"W": TABLE, "Ids": LABEL.reshape(1, 5)}, {}, "Ids must have shape"),
    ("cross_entropy", {"X": X, "Label": LABEL[:3]}, {}, "Label must have shape"),
    ("square_error_cost", {"X": X, "Label": Y[:, :1]}, {}, "does not broadcast"),
    ("dropout", {"X": X}, {"dropout_prob": 1.0}, "dropout_prob"),
    ("dropout", {"X": X}, {"dropout_implementation": "sometimes"}, "must be one of"),
    ("top_k", {"X": X}, {"k": 5}, "k must lie in"),
    ("scale", {"X": X}, {"factor": 2}, "no attribute"),
    ("scale", {"X": X, "Y": Y}, {}, "unknown"),
    ("scale", {"X": [X, Y]}, {}, "got 2 variables"),
]


@pytest.mark.parametrize(("type", "inputs", "attrs", "message"), WRONG)
def test_what_does_not_fit_is_refused(type: str, inputs: dict, attrs: dict, message: str) -> None:
    slots = {slot: v if isinstance(v, list) else [v] for slot, v in inputs.items()}
    with pytest.raises(ShapeError, match=message):
        Single(type, slots, attrs).forward()
