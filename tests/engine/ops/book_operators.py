"""Cases of the operators behind the layers of the book that are neither recurrent nor images: with twins."""

from __future__ import annotations

from functools import partial
from itertools import groupby, pairwise, product

import numpy as np

from ..passes.case import Case
from .box_operators import BOXES_OTHERS

RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4))
LABEL = RNG.integers(0, 4, size=(5, 1))
ONLY = np.zeros((3, 1), np.int64)
OFFSETS = np.array([0, 2, 2, 5])  # the second sequence is empty
RUNS = [range(2), range(0), range(2, 5)]
CHAIN = RNG.normal(size=(6, 4))
MAPS = RNG.normal(size=(2, 6, 3, 4))
POSITIVE = RNG.uniform(0.5, 2.0, size=(5, 4))
COLUMN, FAR = RNG.normal(size=(5, 1)), np.array([[2.5], [-3.0], [0.4], [-0.3], [-1.6]])
SIDES = np.array([[1], [1], [0], [1], [0]])
PATHS = RNG.normal(size=(5, 3))  # of 5 classes, the longest of 3 turns
LEAVES = np.array([[0], [1], [2], [3], [4]])
SHARES = np.exp(X) / np.exp(X).sum(1, keepdims=True)
TAGS, TAG_OFFSETS = np.array([[0], [1], [1]]), np.array([0, 1, 1, 3])
EVEN = {"num_classes": 4}
SAMPLES = RNG.integers(0, 4, size=(5, 4))
UNEVEN = (0.1, 0.2, 0.3, 0.4)


def cosines(count: int) -> np.ndarray:
    others = Z.reshape(5, count, 4) if count > 1 else Y[:, None]
    dots = np.einsum("nd,nkd->nk", X, others)
    return 3 * dots / np.linalg.norm(X, axis=1, keepdims=True) / np.linalg.norm(others, axis=2)


Z = RNG.normal(size=(5, 8))


def chain_score(run: range, tags: tuple[int, ...]) -> float:
    steps = sum(CHAIN[2 + a, b] for a, b in pairwise(tags))
    own = sum(X[k, tag] for k, tag in zip(run, tags, strict=True))
    return float(CHAIN[0, tags[0]] + CHAIN[1, tags[-1]] + steps + own)


def ways(run: range) -> dict[tuple[int, ...], float]:
    return {tags: chain_score(run, tags) for tags in product(range(4), repeat=len(run))}


def chain_costs() -> np.ndarray:
    """Over all ways, one by one."""
    costs = []
    for run in RUNS:
        scores = ways(run) if run else {(): 0.0}
        right = tuple(LABEL[list(run), 0].tolist())
        costs.append(np.log(np.exp(list(scores.values())).sum()) - scores[right])
    return np.array(costs)[:, None]


def chain_best() -> np.ndarray:
    best = [max(ways(run), key=ways(run).__getitem__) for run in RUNS if run]
    return np.concatenate(best)[:, None]


def alignments(is_last_blank: bool) -> np.ndarray:
    """Over all ways to give every row a tag or none, one by one."""
    blank = 3 if is_last_blank else 2
    costs = []
    for run, first, end in zip(RUNS, TAG_OFFSETS, TAG_OFFSETS[1:], strict=False):
        wanted, total = TAGS[first:end, 0].tolist(), 0.0
        for way in product(range(4), repeat=len(run)):
            if [tag for tag, _ in groupby(way) if tag != blank] == wanted:
                total += np.prod([SHARES[k, tag] for k, tag in zip(run, way, strict=True)])
        costs.append(-np.log(total))
    return np.array(costs)[:, None]


def noise_contrast(chances: tuple[float, ...], labels: int = 1) -> np.ndarray:
    b = (4 - labels) * np.array(chances)[SAMPLES]
    hits = POSITIVE / (POSITIVE + b)
    own, others = np.log(hits[:, :labels]), np.log(1 - hits[:, labels:])
    return -(own.sum(1, keepdims=True) + others.sum(1, keepdims=True))


def turns(paths: np.ndarray = PATHS, leaves: np.ndarray = LEAVES, classes: int = 5) -> np.ndarray:
    """From the leaf c + classes up to the root 1: whether it is a right child, by the score of its row."""
    costs = []
    for scores, leaf in zip(paths, leaves[:, 0] + classes, strict=True):
        cost, node = 0.0, int(leaf)
        for score in scores:
            if node > 1:
                cost += np.log(1 + np.exp(score)) - (node % 2) * score
            node //= 2
        costs.append(cost)
    return np.array(costs)[:, None]


def near(x: np.ndarray) -> np.ndarray:
    """Each channel with those near it: one before and two behind of four in all."""
    return np.stack([(x[:, max(0, c - 1) : c + 3] ** 2).sum(1) for c in range(x.shape[1])], 1)


def enlarged() -> np.ndarray:
    """Row by row and column by column between the two that are nearest."""
    out = np.empty((2, 6, 5, 7))
    for i, j in product(range(5), range(7)):
        y, x = i * 2 / 4, j * 3 / 6
        (top, left), (down, across) = (int(y), int(x)), (y - int(y), x - int(x))
        below, right = min(top + 1, 2), min(left + 1, 3)
        upper = MAPS[..., top, left] * (1 - across) + MAPS[..., top, right] * across
        lower = MAPS[..., below, left] * (1 - across) + MAPS[..., below, right] * across
        out[..., i, j] = upper * (1 - down) + lower * down
    return out


def huber(delta: float) -> np.ndarray:
    away = np.abs(X - Y)
    return np.where(away <= delta, away**2 / 2, delta * (away - delta / 2)).sum(1, keepdims=True)


def margins() -> np.ndarray:
    m = np.where(SIDES == 1, FAR, -FAR)
    return np.where(m < -1, -4 * m, np.where(m < 1, (1 - m) ** 2, 0))


CTC = {"X": SHARES, "Offsets": OFFSETS, "Label": TAGS, "LabelOffsets": TAG_OFFSETS}
CRF = {"X": X, "Label": LABEL, "Transition": CHAIN, "Offsets": OFFSETS}
RANKED = {"X": COLUMN, "Score": np.array([[2.0], [0], [1], [0], [3]]), "Offsets": OFFSETS}
CUT = {"axes": (0, 1), "starts": (1, 0), "ends": (3, 3)}
AROUND, WIDE = ((1, 0), (0, 2)), ((4, 2), (0, 3))


def shares_of_gain(places_that_count: int = 5) -> np.ndarray:
    gains, out = 2.0 ** RANKED["Score"][:, 0] - 1, []
    for run in RUNS:
        places = 1 / np.log(np.arange(2, 2 + len(run)))
        places[places_that_count:] = 0
        order = sorted(run, key=lambda k: -COLUMN[k, 0])
        best = np.sort(gains[list(run)])[::-1] @ places
        out += [gains[order] @ places / (best or 1)] * len(run)
    return np.array(out)[:, None]


BOOK = [
    Case("cos_sim", {"X": X, "Y": Y}, lambda: cosines(1), {"scale": 3.0}),
    Case("cos_sim", {"X": X, "Y": Z}, lambda: cosines(2), {"scale": 3.0}),
    Case("elementwise_pow", {"X": POSITIVE, "Y": COLUMN}, lambda: POSITIVE**COLUMN),
    Case("elementwise_pow", {"X": POSITIVE, "Y": Y}, lambda: POSITIVE**Y),
    Case("outer_product", {"X": X, "Y": Z}, lambda: np.einsum("na,nb->nab", X, Z)),
    Case("slice", {"X": X}, lambda: X[1:3, :3], CUT),
    Case("pad", {"X": X}, lambda: np.pad(X, AROUND), {"paddings": AROUND}),
    *(
        Case("pad", {"X": X}, partial(np.pad, X, WIDE, mode), {"paddings": WIDE, "mode": mode})
        for mode in ("reflect", "edge")
    ),
    Case("transpose", {"X": MAPS}, lambda: MAPS.transpose(2, 0, 3, 1), {"axis": (2, 0, 3, 1)}),
    Case("reverse", {"X": X}, lambda: X[:, ::-1], {"axis": 1}),
    Case("repeat", {"X": COLUMN}, lambda: np.tile(COLUMN, (1, 3)), {"axis": 1, "times": 3}),
    Case(
        "multiplex",
        {"Ids": LABEL % 2, "X": [X, Y]},
        lambda: np.where(LABEL % 2 == 0, X, Y),
    ),
    Case("huber_loss", {"X": X, "Label": Y}, lambda: huber(1.0)),
    Case("huber_loss", {"X": X, "Label": Y}, lambda: huber(0.3), {"delta": 0.3}),
    Case("modified_huber_loss", {"X": FAR, "Label": SIDES}, margins),
    Case("lrn", {"X": MAPS}, lambda: MAPS / (1 + 0.3 * near(MAPS)) ** 0.75, {"n": 4, "alpha": 0.3}),
    Case("maxout", {"X": MAPS}, lambda: MAPS.reshape(2, 2, 3, 3, 4).max(2), {"groups": 3}),
    Case("bilinear_interp", {"X": MAPS}, enlarged, {"size": (5, 7)}),
    Case("bilinear_interp", {"X": MAPS}, lambda: MAPS[:, :, :1, :1], {"size": (1, 1)}),
    Case("linear_chain_crf", CRF, chain_costs),
    Case("ctc", CTC, lambda: alignments(True), {"blank": 3}),
    Case("ctc", CTC, lambda: alignments(False), {"blank": 2}),
    Case("nce_cost", {"X": POSITIVE, "Samples": SAMPLES}, lambda: noise_contrast((0.25,) * 4), EVEN),
    Case(
        "nce_cost",
        {"X": POSITIVE, "Samples": SAMPLES},
        lambda: noise_contrast(UNEVEN),
        {**EVEN, "distribution": UNEVEN},
    ),
    Case(
        "nce_cost",
        {"X": POSITIVE, "Samples": SAMPLES},
        lambda: noise_contrast(UNEVEN, 2),
        {**EVEN, "distribution": UNEVEN, "labels": 2},
    ),
    Case("path_cost", {"X": PATHS, "Label": LEAVES}, lambda: turns(), {"num_classes": 5}),
    Case("lambda_rank", RANKED, lambda: shares_of_gain(), has_slope=False),
]

BOOK_OTHERS = [
    *BOXES_OTHERS,
    Case("crf_decoding", {"X": X, "Transition": CHAIN, "Offsets": OFFSETS}, chain_best),
    Case(
        "class_path",
        {"Label": LEAVES},
        lambda: np.array([[1, 0, 0], [2, 0, 0], [2, 0, 0], [3, 1, 0], [3, 1, 0]]),
        {"num_classes": 5},
    ),
    Case("differs", {"X": LABEL, "Y": SIDES}, lambda: (LABEL != SIDES).astype(float)),
    Case("sampling_id", {"X": np.eye(4)}, lambda: np.arange(4)[:, None]),
    Case("sample_classes", {"Label": LABEL}, lambda: LABEL, {**EVEN, "num_neg_samples": 0}),
    Case("sample_classes", {"Label": SAMPLES}, lambda: SAMPLES, {**EVEN, "num_neg_samples": 0}),
    Case("sample_apart", {"Label": ONLY}, lambda: [[0, 0]] * 3, {"num_classes": 1, "num_samples": 1}),
]
