"""Cases of the operators that the later generations of the API need besides: with twins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(13)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4))
COLUMN, ROW = RNG.normal(size=(5, 1)), RNG.normal(size=(1, 4))
POSITIVE = RNG.uniform(0.5, 2.0, size=(5, 4))
WITHIN = RNG.uniform(-0.9, 0.9, size=(5, 4))
NUMBERS, OTHERS_OF = RNG.integers(-9, 9, size=(3, 4)), np.array([[2, -3, 4, 5]])
CUBE, BATCH = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 4))
MAPS, KERNELS = RNG.normal(size=(2, 4, 3, 4)), RNG.normal(size=(4, 3, 3, 2))
IMAGES, FILTERS = RNG.normal(size=(2, 2, 6, 7)), RNG.normal(size=(3, 2, 2, 3))
INDEX, CORNERS = np.array([4, 0, 4]), np.array([[0, 2], [1, 1], [0, 2]])
UPDATES, OWN = RNG.normal(size=(3, 4)), np.array([[0, 3], [1, 1], [2, 0], [3, 3], [0, 1]])
IS_SO = (X > 0).astype(np.int64)
TRUTHS = np.array([[1, 0, 1, 0], [0, 0, 2, 5], [1, 1, 1, 1]])
UNEVEN = {"strides": (2, 1), "paddings": (1, 0), "groups": 2}
FAR_APART = {"dilations": (2, 2), "paddings": (1, 1)}


def standard(x: np.ndarray, begin: int) -> np.ndarray:
    axes = tuple(range(begin, x.ndim))
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def transposed(height: int = 5) -> np.ndarray:
    """Every pixel puts its share of the filters where a convolution would have seen it."""
    out = np.zeros((2, 6, height + 2, 5))
    for n, c, i, j in product(range(2), range(4), range(3), range(4)):
        group = slice(3 * (c // 2), 3 * (c // 2) + 3)
        out[n, group, 2 * i : 2 * i + 3, j : j + 2] += MAPS[n, c, i, j] * KERNELS[c]
    return out[:, :, 1:-1]


def dilated() -> np.ndarray:
    around = np.pad(IMAGES, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((2, 3, 6, 5))
    for i, j in product(range(2), range(3)):
        seen = around[:, :, 2 * i : 2 * i + 6, 2 * j : 2 * j + 5]
        out += np.einsum("nchw,fc->nfhw", seen, FILTERS[:, :, i, j])
    return out


def resized(size: tuple[int, int], place: Callable[[int, int, int], float]) -> np.ndarray:
    """Row by row and column by column between the two pixels that are nearest to a place."""
    out = np.empty((2, 4, *size))
    for i, j in product(*map(range, size)):
        y, x = (min(max(place(k, s, n), 0), s - 1) for k, s, n in zip((i, j), (3, 4), size, strict=True))
        (top, left), (down, across) = (int(y), int(x)), (y - int(y), x - int(x))
        below, right = min(top + 1, 2), min(left + 1, 3)
        upper = MAPS[..., top, left] * (1 - across) + MAPS[..., top, right] * across
        lower = MAPS[..., below, left] * (1 - across) + MAPS[..., below, right] * across
        out[..., i, j] = upper * (1 - down) + lower * down
    return out


def averaged(tall: int, wide: int) -> np.ndarray:
    out = np.empty((2, 4, tall, wide))
    for i, j in product(range(tall), range(wide)):
        rows = slice(i * 3 // tall, -(-(i + 1) * 3 // tall))
        out[..., i, j] = MAPS[..., rows, j * 4 // wide : -(-(j + 1) * 4 // wide)].mean((2, 3))
    return out


def scattered(overwrite: bool) -> np.ndarray:
    out = X.copy()
    out[4], out[0] = UPDATES[2] + (0 if overwrite else UPDATES[0]), UPDATES[1]
    return out


def added() -> np.ndarray:
    out = CUBE.copy()
    for place, row in zip(CORNERS, UPDATES, strict=True):
        out[tuple(place)] += row
    return out


def erf(x: np.ndarray) -> np.ndarray:
    """By its series."""
    term, total = x.copy(), x.copy()
    for n in range(1, 60):
        term = -term * x * x / n
        total += term / (2 * n + 1)
    return 2 / np.sqrt(np.pi) * total


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def of(type: str, twin: Callable[[np.ndarray], np.ndarray], x: np.ndarray = X, **attrs: float) -> Case:
    return Case(type, {"X": x}, lambda: twin(x), attrs)


FORMULAS = [
    of("pow", lambda x: x**3, POSITIVE, factor=3.0),
    of("rsqrt", lambda x: x**-0.5, POSITIVE),
    of("log1p", lambda x: np.log(1 + x), POSITIVE),
    of("sin", np.sin),
    of("cos", np.cos),
    of("tan", np.tan, WITHIN),
    of("asin", np.arcsin, WITHIN),
    of("acos", np.arccos, WITHIN),
    of("atan", np.arctan),
    of("sinh", np.sinh),
    of("cosh", np.cosh),
    of("erf", erf),
    of("floor", np.floor),
    of("ceil", np.ceil),
    of("round", lambda x: np.floor(x + 0.5)),
    of("sign", np.sign),
    of("clip", lambda x: np.minimum(np.maximum(x, -0.5), 0.7), min=-0.5, max=0.7),
    of("leaky_relu", lambda x: np.maximum(x, 0.1 * x), alpha=0.1),
    of("elu", lambda x: np.where(x > 0, x, 0.5 * (np.exp(x) - 1)), alpha=0.5),
    of("selu", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1))),
    of("relu6", lambda x: np.minimum(np.maximum(x, 0), 6), 10 * X),
    of("gelu", lambda x: x * 0.5 * (1 + erf(x / np.sqrt(2)))),
    of(
        "gelu",
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        approximate=True,
    ),
    of("swish", lambda x: x * sigmoid(2 * x), beta=2.0),
    of("mish", lambda x: x * np.tanh(np.log(1 + np.exp(x)))),
    of("softplus", lambda x: np.log(1 + np.exp(x))),
    of("logsigmoid", lambda x: np.log(sigmoid(x))),
    of("tanh_shrink", lambda x: x - np.tanh(x)),
    Case(
        "softshrink",
        {"X": X},
        lambda: np.where(X > 0.4, X - 0.4, np.where(X < -0.4, X + 0.4, 0)),
        {"lambda": 0.4},
    ),
    of("hard_shrink", lambda x: np.where(np.abs(x) > 0.4, x, 0), threshold=0.4),
    of("thresholded_relu", lambda x: np.where(x > 0.2, x, 0), threshold=0.2),
    of("hard_sigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1), 4 * X),
    of("hard_swish", lambda x: x * np.clip(x + 3, 0, 6) / 6, 4 * X),
]

DENSE = [
    *FORMULAS,
    Case("elementwise_add", {"X": COLUMN, "Y": ROW}, lambda: COLUMN + ROW),
    Case("elementwise_add", {"X": X, "Y": ROW[0, :1]}, lambda: X + ROW[0, 0]),
    Case("elementwise_add", {"X": ROW[0], "Y": COLUMN[:1]}, lambda: ROW + COLUMN[0, 0]),
    Case("elementwise_max", {"X": X, "Y": ROW[0, :1]}, lambda: np.maximum(X, ROW[0, 0])),
    Case("elementwise_sub", {"X": ROW, "Y": X}, lambda: ROW - X),
    Case("elementwise_mul", {"X": ROW[0], "Y": X}, lambda: ROW * X),
    Case("elementwise_div", {"X": COLUMN, "Y": POSITIVE}, lambda: COLUMN / POSITIVE),
    Case("elementwise_pow", {"X": POSITIVE[:1], "Y": Y}, lambda: POSITIVE[:1] ** Y),
    Case("elementwise_max", {"X": X, "Y": Y}, lambda: np.maximum(X, Y)),
    Case("elementwise_max", {"X": X, "Y": ROW[0]}, lambda: np.maximum(X, ROW)),
    Case("elementwise_min", {"X": COLUMN, "Y": X}, lambda: np.minimum(COLUMN, X)),
    Case("matmul", {"X": CUBE, "Y": BATCH}, lambda: CUBE @ BATCH.swapaxes(1, 2), {"transpose_Y": True}),
    Case(
        "matmul",
        {"X": X, "Y": BATCH},
        lambda: 0.5 * np.einsum("ki,nkj->nij", X, BATCH),
        {"transpose_X": True, "alpha": 0.5},
    ),
    Case("matmul", {"X": BATCH, "Y": X.T}, lambda: BATCH @ X.T),
    Case("reduce_max", {"X": CUBE}, lambda: CUBE.max((0, 2)), {"dim": (0, 2)}),
    Case("reduce_min", {"X": X}, lambda: X.min(1, keepdims=True), {"dim": 1, "keep_dim": True}),
    Case("reduce_prod", {"X": CUBE}, lambda: CUBE.prod((0, 2)), {"dim": (0, -1)}),
    Case("reduce_prod", {"X": X}, lambda: np.array([X.prod()])),
    Case("cumsum", {"X": X}, lambda: X.cumsum(0), {"axis": 0}),
    Case(
        "cumsum",
        {"X": X},
        lambda: X[:, ::-1].cumsum(1)[:, ::-1] - X,
        {"exclusive": True, "reverse": True},
    ),
    Case("reshape", {"X": CUBE}, lambda: CUBE.reshape(2, 2, 6), {"shape": (0, 2, -1)}),
    Case(
        "reshape_by",
        {"X": CUBE, "Like": [X, COLUMN.T, CUBE]},
        lambda: CUBE.reshape(2, 4, 3),
        {"sizes": ((2, 0), (0, 1), -1)},
    ),
    Case("squeeze", {"X": COLUMN}, lambda: COLUMN[:, 0], {"axes": (1,)}),
    Case("squeeze", {"X": ROW}, lambda: ROW[0]),
    Case("unsqueeze", {"X": X}, lambda: X[:, None, :, None], {"axes": (1, 3)}),
    Case("flatten", {"X": CUBE}, lambda: CUBE.reshape(2, 12), {"start": 1, "stop": 3}),
    Case("flatten", {"X": CUBE}, lambda: CUBE[None], {"start": 0, "stop": 0}),
    Case(
        "slice",
        {"X": X},
        lambda: X[-3:9:2, ::-1],
        {"axes": (0, 1), "starts": (-3, 3), "ends": (9, -9), "steps": (2, -1), "clamps": True},
    ),
    Case("gather", {"X": X, "Index": INDEX}, lambda: X[INDEX]),
    Case("gather", {"X": CUBE, "Index": INDEX[1:2, None]}, lambda: CUBE[:, :, :1], {"axis": 2}),
    Case("gather_nd", {"X": CUBE, "Index": CORNERS}, lambda: CUBE[[0, 1, 0], [2, 1, 2]]),
    Case("scatter", {"X": X, "Index": INDEX, "Updates": UPDATES}, lambda: scattered(True), has_slope=False),
    Case(
        "scatter",
        {"X": X, "Index": INDEX[:, None], "Updates": UPDATES},
        lambda: scattered(False),
        {"overwrite": False},
    ),
    Case("scatter_nd_add", {"X": CUBE, "Index": CORNERS, "Updates": UPDATES}, added),
    Case("index_sample", {"X": X, "Index": OWN}, lambda: np.take_along_axis(X, OWN, 1)),
    Case("tile", {"X": X}, lambda: np.tile(X, (2, 1, 3)), {"times": (2, 1, 3)}),
    Case("expand", {"X": COLUMN}, lambda: np.tile(COLUMN, (2, 1, 3)), {"shape": (2, -1, 3)}),
    Case("expand_as", {"X": ROW, "Like": X}, lambda: np.tile(ROW, (5, 1))),
    Case("select", {"Condition": IS_SO, "X": X, "Y": ROW}, lambda: np.where(X > 0, X, ROW)),
    Case("argsort", {"X": X}, lambda: np.sort(X, 0), {"axis": 0}),
    Case("argsort", {"X": X}, lambda: np.sort(X, 1)[:, ::-1], {"descending": True}),
    Case("top_k", {"X": X}, lambda: np.sort(X, 1)[:, :1:-1], {"k": 2}),
    Case("log_softmax", {"X": X}, lambda: X - np.log(np.exp(X).sum(1, keepdims=True))),
    Case("standardize", {"X": X}, lambda: standard(X, 1)),
    Case("standardize", {"X": CUBE}, lambda: standard(CUBE, 2), {"begin_norm_axis": 2}),
    Case("conv2d", {"X": IMAGES, "Filter": FILTERS}, dilated, FAR_APART),
    Case("conv2d_transpose", {"X": MAPS, "Filter": KERNELS}, transposed, UNEVEN),
    Case(
        "conv2d_transpose",
        {"X": MAPS, "Filter": KERNELS},
        lambda: transposed(6),
        {**UNEVEN, "output_size": (6, 5)},
    ),
    Case(
        "bilinear_interp",
        {"X": MAPS},
        lambda: resized((5, 6), lambda k, s, n: (k + 0.5) * s / n - 0.5),
        {"size": (5, 6), "align_corners": False, "align_mode": 0},
    ),
    Case(
        "bilinear_interp",
        {"X": MAPS},
        lambda: resized((5, 6), lambda k, s, n: k * s / n),
        {"size": (5, 6), "align_corners": False},
    ),
    Case(
        "bilinear_interp",
        {"X": MAPS},
        lambda: MAPS.repeat(2, 2).repeat(2, 3),
        {"size": (6, 8), "align_corners": False, "method": "nearest"},
    ),
    Case("bilinear_interp", {"X": MAPS}, lambda: averaged(2, 3), {"size": (2, 3), "method": "average"}),
]


def compared(type: str, twin: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Case:
    """Equal and unequal numbers, broadcast both ways."""
    x, y = np.array([[1.0, 2.0, 3.0]]), np.array([[2.0], [3.0]])
    return Case(type, {"X": x, "Y": y}, lambda: twin(x, y))


SPECIAL = np.array([[1.0, np.nan], [np.inf, -np.inf]])

DENSE_OTHERS = [
    Case("elementwise_div", {"X": NUMBERS, "Y": OTHERS_OF}, lambda: np.trunc(NUMBERS / OTHERS_OF)),
    Case("elementwise_mod", {"X": NUMBERS, "Y": OTHERS_OF}, lambda: NUMBERS % OTHERS_OF),
    Case("elementwise_floordiv", {"X": NUMBERS, "Y": OTHERS_OF}, lambda: NUMBERS // OTHERS_OF),
    Case("scale_by", {"X": X, "Y": np.array([0.5])}, lambda: X / 2),
    compared("less_than", np.less),
    compared("less_equal", np.less_equal),
    compared("greater_than", np.greater),
    compared("greater_equal", np.greater_equal),
    compared("equal", np.equal),
    compared("not_equal", np.not_equal),
    Case("logical_and", {"X": TRUTHS, "Y": TRUTHS[:1]}, lambda: (TRUTHS != 0) & (TRUTHS[:1] != 0)),
    Case("logical_or", {"X": TRUTHS, "Y": TRUTHS[:1]}, lambda: (TRUTHS != 0) | (TRUTHS[:1] != 0)),
    Case("logical_xor", {"X": TRUTHS, "Y": TRUTHS[:1]}, lambda: (TRUTHS != 0) ^ (TRUTHS[:1] != 0)),
    Case("logical_not", {"X": TRUTHS}, lambda: TRUTHS == 0),
    Case("is_nan", {"X": SPECIAL}, lambda: np.array([[0, 1], [0, 0]])),
    Case("is_infinite", {"X": SPECIAL}, lambda: np.array([[0, 0], [1, 1]])),
    Case("is_finite", {"X": SPECIAL}, lambda: np.array([[1, 0], [0, 0]])),
    Case("arg_max", {"X": CUBE}, lambda: CUBE.argmax(1), {"axis": 1}),
    Case("arg_min", {"X": CUBE}, lambda: CUBE.argmin(2)[..., None], {"keep_dim": True}),
    Case("one_hot", {"X": OWN}, lambda: np.eye(5)[OWN], {"depth": 5}),
    Case("assign_value", {}, lambda: np.array([[1, 2.0]]), {"shape": (1, 2), "values": (1, 2.0)}),
    Case("shape", {"X": CUBE}, lambda: np.array([2, 3, 4])),
    Case("uniform_random", {}, lambda: np.full((2, 3), 4.0), {"shape": (2, 3), "min": 4.0, "max": 4.0}),
    Case("gaussian_random", {}, lambda: np.full((2, 3), 1.5), {"shape": (2, 3), "mean": 1.5, "std": 0.0}),
    Case("truncated_gaussian_random", {}, lambda: np.full(3, 1.5), {"shape": (3,), "mean": 1.5, "std": 0.0}),
    Case("randint", {}, lambda: np.full((2,), 7), {"shape": (2,), "low": 7, "high": 8}),
    *(
        Case(f"{type}_batch_size_like", {"X": X}, lambda: np.zeros((5, 2)), {"shape": (-1, 2), **attrs})
        for type, attrs in {
            "uniform_random": {"min": 0.0, "max": 0.0},
            "gaussian_random": {"std": 0.0},
            "truncated_gaussian_random": {"std": 0.0},
            "randint": {"high": 1},
            "fill_constant": {},
        }.items()
    ),
]
