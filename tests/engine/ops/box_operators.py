"""Cases of operators that find objects by boxes, and of regions of images; with twins, box by box."""

from __future__ import annotations

from itertools import pairwise, product
from math import ceil, floor

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(61)
CLASSES, SIDE = 3, 3


def grid() -> np.ndarray:
    """Priors of two sizes in 3 x 3 cells, with a variance of each side."""
    rows = []
    for y, x in product(range(SIDE), repeat=2):
        for size in (0.3, 0.5):
            middle = (x + 0.5) / SIDE, (y + 0.5) / SIDE
            ends = [min(max(m + sign * size / 2, 0), 1) for sign in (-1, 1) for m in middle]
            rows.append([*ends, 0.1, 0.1, 0.2, 0.2])
    return np.array(rows)


PRIORS = grid()
LABEL = np.array(
    [
        [1, 0.02, 0.05, 0.32, 0.4, 0],
        [2, 0.55, 0.5, 0.95, 0.97, 1],
        [1, 0.6, 0.55, 0.9, 0.93, 0],
        [2, 0.3, 0.3, 0.75, 0.8, 0],
    ]
)
OFFSETS = np.array([0, 3, 3, 4])  # the second image shows nothing
LOC = RNG.normal(size=(3, len(PRIORS) * 4)) * 3
CONF = RNG.normal(size=(3, len(PRIORS) * CLASSES)) * 2
LOSS = {"Loc": LOC, "Conf": CONF, "Priors": PRIORS.reshape(1, -1), "Label": LABEL, "Offsets": OFFSETS}


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    wide, tall = (max(min(a[i + 2], b[i + 2]) - max(a[i], b[i]), 0.0) for i in (0, 1))
    areas = [(each[2] - each[0]) * (each[3] - each[1]) for each in (a, b)]
    return float(wide * tall / (sum(areas) - wide * tall))


def assigned(label: np.ndarray, scores: np.ndarray, attrs: dict[str, float]) -> dict[int, int | None]:
    """Of each prior that counts its object; None for nothing."""
    near = {(p, g): overlap(prior, row[1:5]) for p, prior in enumerate(PRIORS) for g, row in enumerate(label)}
    near = {pair: value for pair, value in near.items() if value > 1e-6}
    found: dict[int, int | None] = {}
    pairs = dict(near)
    while pairs:
        prior, box = max(pairs, key=lambda pair: (pairs[pair], -pair[0], -pair[1]))
        found[prior] = box
        pairs = {(p, g): value for (p, g), value in pairs.items() if p != prior and g != box}
    most = {p: max([near.get((p, g), 0.0) for g in range(len(label))], default=0) for p in range(len(PRIORS))}
    for prior in most:
        if prior not in found and most[prior] >= attrs.get("overlap_threshold", 0.5):
            found[prior] = max(range(len(label)), key=lambda g: near.get((prior, g), 0.0))
    positive = len(found)
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    shares = np.delete(shares, int(attrs.get("background_id", 0)), 1)
    far = [p for p in most if p not in found and most[p] < attrs.get("neg_overlap", 0.5)]
    hard = [(-shares[p].max(), p) for p in far]
    for _, prior in sorted(hard)[: int(attrs.get("neg_pos_ratio", 3.0)) * positive]:
        found[prior] = None
    return found


def loss(conf: np.ndarray = CONF, classes: int = CLASSES, **attrs: float) -> np.ndarray:
    total, count = 0.0, 0
    for image, (first, end) in enumerate(pairwise(OFFSETS)):
        scores = conf[image].reshape(-1, classes)
        if first == end:
            continue
        for prior, box in assigned(LABEL[first:end], scores, attrs).items():
            shares = np.exp(scores[prior]) / np.exp(scores[prior]).sum()
            if box is None:
                total -= np.log(shares[int(attrs.get("background_id", 0))])
                continue
            row = LABEL[first + box]
            total -= np.log(shares[int(row[0])])
            total += sum(smooth(LOC[image].reshape(-1, 4)[prior] - coded(row[1:5], PRIORS[prior])))
            count += 1
    return np.array([[total / count]])


def coded(box: np.ndarray, prior: np.ndarray) -> np.ndarray:
    size, extent = prior[2:4] - prior[:2], box[2:] - box[:2]
    moved = ((box[:2] + box[2:]) - (prior[:2] + prior[2:4])) / 2 / size
    return np.concatenate([moved, np.log(extent / size)]) / prior[4:]


def smooth(away: np.ndarray) -> list[float]:
    return [each**2 / 2 if abs(each) < 1 else abs(each) - 0.5 for each in away]


def found(
    keep: int,
    apart: float,
    above: float,
    top: int,
    conf: np.ndarray = CONF,
    classes: tuple[int, ...] = (1, 2),
) -> np.ndarray:
    """Rows of all images, and -1 behind them. ``classes``: all but that of nothing."""
    rows = [np.full(7, -1.0)] * (3 * keep)
    at = 0
    for image in range(3):
        scores = conf[image].reshape(-1, len(classes) + 1)
        shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        own = [row for c in classes for row in of_class(image, c, shares[:, c], apart, above, top)]
        best = sorted(own, key=lambda row: -row[2])[:keep]
        for row in sorted(best, key=lambda row: (row[1], -row[2])):
            rows[at] = row
            at += 1
    return np.array(rows)


def of_class(
    image: int, number: int, shares: np.ndarray, apart: float, above: float, top: int
) -> list[np.ndarray]:
    order = [p for p in np.argsort(-shares) if shares[p] > above][: top or None]
    taken: list[tuple[int, np.ndarray]] = []
    for prior in order:
        box = decoded(LOC[image].reshape(-1, 4)[prior], PRIORS[prior])
        if all(overlap(box, other) <= apart for _, other in taken):
            taken.append((prior, box))
    return [np.array([image, number, shares[p], *np.clip(box, 0, 1)]) for p, box in taken]


def decoded(loc: np.ndarray, prior: np.ndarray) -> np.ndarray:
    size, scaled = prior[2:4] - prior[:2], loc * prior[4:]
    middle = (prior[:2] + prior[2:4]) / 2 + scaled[:2] * size
    half = np.exp(scaled[2:]) * size / 2
    return np.concatenate([middle - half, middle + half])


IMAGES = RNG.normal(size=(2, 3, 5, 6))
REGIONS = np.array([[0, 0, 0, 7, 5], [1, 4, 2, 11, 9], [1, 2.4, 3.2, 4.8, 3.4], [0, 40, 0, 60, 4]])
BOUNDS = np.array([[1, 2, 2, 4, 3, 6], [3, 3, 1, 5, 1, 1]], np.float64)


def greatest(cells: tuple[int, int] = (2, 3), scale: float = 0.5) -> np.ndarray:
    out = np.zeros((len(REGIONS), 3, *cells))
    for number, (image, *ends) in enumerate(REGIONS):
        left, top, right, bottom = (int(end * scale + 0.5) for end in ends)
        tall, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i, j in np.ndindex(*cells):
            down = slice(top + floor(i * tall / cells[0]), top + ceil((i + 1) * tall / cells[0]))
            across = slice(left + floor(j * wide / cells[1]), left + ceil((j + 1) * wide / cells[1]))
            seen = IMAGES[int(image)][:, down, across]
            out[number, :, i, j] = seen.max((1, 2)) if seen.size else 0
    return out


def scaled() -> np.ndarray:
    out = IMAGES.copy()
    out[0, 0:2, 1:4, 2:6] *= -1.5
    out[1, 2:3, 0:5, 0:1] *= -1.5
    return out


def standing() -> np.ndarray:
    """Two sizes in 2 x 3 cells of an image of 20 x 30 pixels."""
    rows = []
    for y, x in product((5, 15), (5, 15, 25)):
        for wide, tall in ((12, 12), (8, 16)):
            ends = [(x - wide / 2) / 30, (y - tall / 2) / 20, (x + wide / 2) / 30, (y + tall / 2) / 20]
            rows += [*np.clip(ends, 0, 1), 0.1, 0.1, 0.2, 0.2]
    return np.array([rows])


PLACES = np.array([[[[0, 3], [8, 11]], [[2, 5], [19, 14]]], [[[7, 1], [13, 4]], [[6, 9], [10, 12]]]])
SMALL = RNG.normal(size=(2, 2, 2, 2))


def put_back() -> np.ndarray:
    out = np.zeros((2, 2, 20))
    for n, c, i, j in np.ndindex(2, 2, 2, 2):
        out[n, c, PLACES[n, c, i, j]] = SMALL[n, c, i, j]
    return out.reshape(2, 2, 4, 5)


ROWS, TURNS = RNG.normal(size=(3, 4)), RNG.normal(size=(6, 4))
ASKED = {"X": ROWS, "W": TURNS, "Ids": np.array([5, 0, 2, 2, 3, 1]), "Starts": np.array([0, 2, 4, 6])}


def asked() -> np.ndarray:
    return np.array([[ROWS[n] @ TURNS[i] for i in two] for n, two in enumerate(([5, 0], [2, 2], [3, 1]))])


# Of two samples a search chooses two elements, then two of each of these; the second has one at first.
FIRST, SECOND = RNG.normal(size=(7, 1)), RNG.normal(size=(9, 1))
SEARCH = {
    "X": [FIRST, SECOND],
    "Chosen": [np.array([[2.0, 0], [1, -1]]), np.array([[1.0, 0], [2, -1], [0, 3]])],
    "Gold": [np.array([[0], [1]]), np.array([[2], [1]])],
    "Ends": [np.array([0, 4, 7]), np.array([0, 2, 3]), np.array([0, 2, 5, 9])],
}


def searched() -> np.ndarray:
    """By hand: rows of FIRST and SECOND on each way, the right one last."""
    first, second = FIRST[:, 0], SECOND[:, 0]
    ways = [
        [first[2] + second[1], first[2] + second[0], first[0] + second[4]],
        [first[5] + second[5], first[5] + second[8], first[5] + second[6]],
    ]
    return np.array([[np.log(np.exp(each).sum()) - each[-1]] for each in ways])


def fell_off() -> np.ndarray:
    """The first sample's right element, the last of its four, is not chosen at all."""
    first, second = FIRST[:, 0], SECOND[:, 0]
    ways = [[first[2], first[0], first[3]], [first[5] + second[5], first[5] + second[8]]]
    return np.array([[np.log(np.exp(each).sum()) - each[-1]] for each in ways])


FALLEN = {**SEARCH, "Gold": [np.array([[3], [1]]), np.array([[0], [3]])]}
THREE = {"num_classes": CLASSES}
KEEP = {"keep_top_k": 4, "nms_threshold": 0.3, "confidence_threshold": 0.2, "nms_top_k": 5}
STANDS = {"grid": (2, 3), "image": (20, 30), "sizes": ((12, 12), (8, 16)), "variances": (0.1, 0.1, 0.2, 0.2)}
BOXES = [
    Case("multibox_loss", LOSS, lambda: loss(), THREE),
    Case("multibox_loss", LOSS, lambda: loss(neg_pos_ratio=1.9), {**THREE, "neg_pos_ratio": 1.9}),
    Case(
        "multibox_loss",
        LOSS,
        lambda: loss(overlap_threshold=0.3, neg_overlap=0.2),
        {**THREE, "overlap_threshold": 0.3, "neg_overlap": 0.2},
    ),
    Case("of_batch", {"X": LOC[:1, :1], "Like": CONF}, lambda: np.full((3, 1), LOC[0, 0]), has_slope=False),
    Case("region_max", {"X": IMAGES, "Regions": REGIONS}, greatest, {"cells": (2, 3), "scale": 0.5}),
    Case("unpool", {"X": SMALL, "Places": PLACES}, put_back, {"size": (4, 5)}),
    Case("selected_mul", ASKED, asked),
    Case("beam_cost", SEARCH, searched),
    Case("beam_cost", FALLEN, fell_off),
    Case("scale_piece", {"X": IMAGES, "Bounds": BOUNDS}, scaled, {"value": -1.5}),
]
BOXES_OTHERS = [
    Case("prior_boxes", {}, standing, STANDS),
    Case(
        "detection_output",
        {slot: LOSS[slot] for slot in ("Loc", "Conf", "Priors")},
        lambda: found(4, 0.3, 0.2, 5),
        {**THREE, **KEEP},
    ),
    Case(
        "detection_output",
        {slot: LOSS[slot] for slot in ("Loc", "Conf", "Priors")},
        lambda: found(30, 0.45, 0.01, 0),
        {**THREE, "keep_top_k": 30, "nms_top_k": 0},
    ),
]
