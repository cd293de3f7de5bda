"""Cases whose attributes differ from the defaults, and refused ones: what other tables leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(41)
X, WIDE = RNG.normal(size=(5, 4)), 4 * RNG.normal(size=(5, 4))
CUBE, MAPS = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4, 5, 5))
KERNELS = RNG.normal(size=(4, 3, 2, 2))
LABEL = np.array([[3], [-1], [0], [2], [-1]])
COUNTED = (LABEL >= 0).astype(np.float64)
SHARES = np.exp(X) / np.exp(X).sum(1, keepdims=True)
BIAS = RNG.normal(size=(1, 4))
OFFSETS, FEW = np.array([0, 2, 5]), np.array([1, 2, 3])
CHANNELS = {slot: RNG.uniform(0.5, 1.5, size=(1, 4)) for slot in ("Scale", "Bias", "Mean", "Variance")}
PASSED = {"ignored": -1}


def cost(x: np.ndarray) -> np.ndarray:
    """What the labels that count cost, of scores."""
    picked = np.take_along_axis(x, np.maximum(LABEL, 0), 1)
    return COUNTED * (np.log(np.exp(x).sum(1, keepdims=True)) - picked)


def normalized(mean: np.ndarray, variance: np.ndarray, epsilon: float) -> np.ndarray:
    return (X - mean) / np.sqrt(variance + epsilon) * CHANNELS["Scale"] + CHANNELS["Bias"]


def by_what_was_kept() -> np.ndarray:
    return normalized(CHANNELS["Mean"], CHANNELS["Variance"], 1e-5)


def selu(x: np.ndarray) -> np.ndarray:
    return 1.5 * np.where(x > 0, x, 1.2 * np.expm1(x))


def transposed() -> np.ndarray:
    out = np.zeros((2, 3, 8, 7))
    for i, j in np.ndindex(5, 5):
        out[:, :, i : i + 4 : 3, j : j + 3 : 2] += np.einsum("nc,cfyx->nfyx", MAPS[:, :, i, j], KERNELS)
    return out


def averaged() -> np.ndarray:
    """Windows of 2 by steps of 2; the last of either axis sticks out of 5, and what is seen of it counts."""
    around = np.pad(MAPS, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.nan)
    mean: np.ndarray = np.nanmean(around.reshape(2, 4, 3, 2, 3, 2), axis=(3, 5))
    return mean


VARIED = [
    Case("average_pool2d", {"X": MAPS}, averaged, {"ksize": (2, 2), "strides": (2, 2), "ceil_mode": True}),
    Case(
        "batch_norm",
        {"X": X, **CHANNELS},
        lambda: normalized(X.mean(0), X.var(0), 0.5),
        {"epsilon": 0.5, "momentum": 0.2},
    ),
    *(
        Case(type, {"X": X, **CHANNELS, **more}, by_what_was_kept, attrs)
        for type, more in {"batch_norm": {}, "batch_norm_told": {"Momentum": np.array([0.3])}}.items()
        for attrs in ({"is_test": True}, {"use_global_stats": True})
    ),
    Case("bias_softmax_cost", {"X": X, "Bias": BIAS, "Label": LABEL}, lambda: cost(X + BIAS), PASSED),
    Case("brelu", {"X": WIDE}, lambda: np.clip(WIDE, -1.5, 2.5), {"t_min": -1.5, "t_max": 2.5}),
    Case("conv2d_transpose", {"X": MAPS, "Filter": KERNELS}, transposed, {"dilations": (3, 2)}),
    Case("cross_entropy", {"X": SHARES, "Label": LABEL}, lambda: cost(X), PASSED),
    Case("hard_sigmoid", {"X": X}, lambda: np.clip(0.3 * X + 0.4, 0, 1), {"slope": 0.3, "offset": 0.4}),
    Case(
        "hard_swish",
        {"X": WIDE},
        lambda: WIDE * np.clip(WIDE + 1, 0, 4) / 5,
        {"threshold": 4.0, "scale": 5.0, "offset": 1.0},
    ),
    Case("pad", {"X": X}, lambda: np.pad(X, 1, constant_values=7), {"paddings": ((1, 1),) * 2, "value": 7.0}),
    *(
        Case(f"reduce_{name}", {"X": CUBE}, of, {"dim": 1, "keep_dim": True})
        for name, of in {
            "max": lambda: CUBE.max(1, keepdims=True),
            "min": lambda: CUBE.min(1, keepdims=True),
            "mean": lambda: CUBE.mean(1, keepdims=True),
            "prod": lambda: CUBE.prod(1, keepdims=True),
        }.items()
    ),
    Case("relu6", {"X": WIDE}, lambda: np.clip(WIDE, 0, 3), {"threshold": 3.0}),
    Case("selu", {"X": X}, lambda: selu(X), {"scale": 1.5, "alpha": 1.2}),
    Case("softmax_with_cross_entropy", {"Logits": X, "Label": LABEL}, lambda: cost(X), PASSED),
    Case(
        "standardize",
        {"X": X},
        lambda: (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 0.5),
        {"begin_norm_axis": 1, "epsilon": 0.5},
    ),
    Case("stanh", {"X": X}, lambda: 1.2 * np.tanh(0.4 * X), {"scale_a": 0.4, "scale_b": 1.2}),
]

VARIED_OTHERS = [
    Case("arg_max", {"X": CUBE}, lambda: CUBE.argmax(0)[None], {"axis": 0, "keep_dim": True}),
    Case("arg_min", {"X": CUBE}, lambda: CUBE.argmin(1), {"axis": 1}),
    Case("assign_value", {}, lambda: np.array([1, 2]), {"shape": (2,), "values": (1, 2), "dtype": "int64"}),
    Case(
        "classification_error",
        {"X": np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]), "Label": np.array([[1], [2]])},
        lambda: np.array([[0.0], [1]]),
        {"top_k": 2},
    ),
    Case("fill_constant", {}, lambda: np.full(3, 7), {"shape": (3,), "value": 7, "dtype": "int64"}),
    *(
        Case(
            f"{type}_batch_size_like",
            {"X": CUBE},
            lambda value=value: np.full((2, 3), value),
            {"shape": (2, -1), "input_dim_idx": 1, "output_dim_idx": 1, **attrs},
        )
        for type, value, attrs in (
            ("uniform_random", 4.0, {"min": 4.0, "max": 4.0}),
            ("gaussian_random", 1.5, {"mean": 1.5, "std": 0.0}),
            ("truncated_gaussian_random", 1.5, {"mean": 1.5, "std": 0.0}),
            ("randint", 7, {"low": 7, "high": 8}),
            ("fill_constant", 2.5, {"value": 2.5}),
        )
    ),
]

Wrong = tuple[str, dict[str, Any], dict[str, Any], str]
VARIED_WRONG: list[Wrong] = [
    *((type, {"X": X}, {"axis": 2}, "outside the 2 axes") for type in ("arg_max", "argsort", "cumsum")),
    ("arg_min", {"X": X}, {"axis": -3}, "outside the 2 axes"),
    *((f"reduce_{of}", {"X": X}, {"dim": 2}, "outside the 2 axes") for of in ("max", "min", "mean", "prod")),
    ("slice", {"X": X}, {"axes": (2,), "starts": (0,), "ends": (1,)}, "outside the 2 axes"),
    ("squeeze", {"X": X}, {"axes": (5,)}, "outside the 2 axes"),
    ("squeeze", {"X": X}, {"axes": (0,)}, "not of size 1"),
    ("unsqueeze", {"X": X}, {"axes": (-5,)}, "no axis -5 can be put"),
    ("tile", {"X": X}, {"times": (2,)}, "repeated once or more"),
    ("transpose", {"X": X}, {"axis": (0, 0)}, "an order of the 2 axes"),
    ("flatten", {"X": X}, {"start": 1, "stop": 3}, "not among the 2 axes"),
    ("pad", {"X": X}, {"paddings": ((1, 1),)}, "before, after"),
    ("pad", {"X": X}, {"paddings": ((1, 1),) * 2, "mode": "mirror"}, "mode is one of"),
    ("standardize", {"X": X}, {"begin_norm_axis": 2}, "no axes on both sides"),
    ("assign_value", {}, {"shape": (2, 2), "values": (1.0,)}, "not of shape"),
    ("lrn", {"X": X}, {"n": 3}, "must be images"),
    ("average_pool2d", {"X": X}, {"ksize": (2, 2)}, "must be images"),
    ("average_pool2d", {"X": MAPS}, {"ksize": (9, 2)}, "9 by steps of 1 does not fit 5"),
    ("bilinear_interp", {"X": MAPS}, {"size": (0, 2)}, "one pixel or more"),
    ("image_windows", {"X": MAPS}, {"kernels": (9, 2)}, "9 by steps of 1 does not fit 5"),
    ("gather_nd", {"X": X, "Index": FEW[None]}, {}, "names some axes"),
    ("gather_nd", {"X": X, "Index": X}, {}, "must be int64"),
    ("one_hot", {"X": X}, {"depth": 3}, "must be int64"),
    ("sampling_id", {"X": X[0]}, {}, "must be a matrix"),
    *(
        (type, {"X": X, "Offsets": X}, {}, "Offsets must be int64")
        for type in ("sequence_pool", "sequence_max", "sequence_end", "sequence_reverse", "in_rows")
    ),
    ("sequence_pool", {"X": X, "Offsets": OFFSETS}, {"pooltype": "median"}, "sum, average or sqrt"),
    ("sequence_window", {"X": X, "Offsets": OFFSETS}, {"start": 0, "length": 0}, "1 row or more"),
    ("gru_step", {"X": X, "State": X, "Weight": X, "Bias": X}, {}, "so X has 12 columns"),
    ("lstm_step", {"X": X, "State": X, "Bias": X}, {}, "so X has 16 columns"),
]
