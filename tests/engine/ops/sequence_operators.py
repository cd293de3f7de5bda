"""Cases of the operators behind the later generations' layers over sequences: with twins."""

from __future__ import annotations

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(13)
X, UPDATES = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 1))
PADDED = RNG.normal(size=(3, 4, 2))
OFFSETS, OTHER_OFFSETS = np.array([0, 2, 2, 5]), np.array([0, 1, 3, 4])  # the second sequence is empty
LENGTHS = np.array([2, 0, 3])
IMAGES = RNG.normal(size=(2, 2, 3, 3))
IDS = np.array([[2], [0], [2], [2], [3]])
SAID, RIGHT = np.array([[4], [2], [1], [1], [3]]), np.array([[4], [7], [1], [3]])
PLACES = np.arange(4)
IOB = {"scheme": "IOB", "types": 2}
TAGS = np.array([[0], [1], [0], [1], [2]]), np.array([[0], [1], [0], [4], [2]])


def windows() -> np.ndarray:
    """Of 2 by 3, by steps of (2, 1), with a row of zeros above and a column of them on the right."""
    framed, rows = np.pad(IMAGES, ((0, 0), (0, 0), (1, 0), (0, 1))), []
    for image in framed:
        rows += [image[:, y : y + 2, x : x + 3].ravel() for y in (0, 2) for x in (0, 1)]
    return np.array(rows)


def overhanging() -> np.ndarray:
    """Of 2 by 2, by steps of 2, with a column of zeros on the left and as many behind as are needed."""
    framed, rows = np.pad(IMAGES, ((0, 0), (0, 0), (0, 1), (1, 2))), []
    for image in framed:
        rows += [image[:, y : y + 2, x : x + 2].ravel() for y in (0, 2) for x in (0, 2, 4)]
    return np.array(rows)


def padded() -> np.ndarray:
    out = np.full((3, 4, 4), 1.5)
    out[0, :2], out[2, :3] = X[:2], X[2:]
    return out


def scattered() -> np.ndarray:
    out = X[:3].copy()
    for row, id, update in zip((0, 0, 2, 2, 2), IDS[:, 0], UPDATES[:, 0], strict=True):
        out[row, id] += update
    return out


SEQUENCES = [
    Case(
        "sequence_pad",
        {"X": X, "Offsets": OFFSETS, "Pad": np.array([1.5]), "Places": PLACES},
        padded,
    ),
    Case(
        "sequence_unpad",
        {"X": PADDED, "Offsets": OFFSETS, "Rows": np.arange(5)},
        lambda: np.concatenate([PADDED[0, :2], PADDED[2, :3]]),
    ),
    Case(
        "image_windows",
        {"X": IMAGES},
        windows,
        {"kernels": (2, 3), "strides": (2, 1), "paddings": (1, 0, 0, 1)},
    ),
    Case(
        "image_windows",  # places that stick out: zeros behind an image are as many as the last one needs
        {"X": IMAGES},
        overhanging,
        {"kernels": (2, 2), "strides": (2, 2), "paddings": (0, 1)},
    ),
    Case("sequence_scatter", {"X": X[:3], "Ids": IDS, "Offsets": OFFSETS, "Updates": UPDATES}, scattered),
]

SEQUENCE_OTHERS = [
    Case("even_offsets", {"X": RNG.normal(size=(6, 4)), "Of": IMAGES}, lambda: np.array([0, 3, 6])),
    Case("sequence_lengths", {"Offsets": OFFSETS}, lambda: LENGTHS),
    Case(
        "sequence_mask",
        {"X": LENGTHS, "Places": PLACES},
        lambda: np.array([[1.0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]),
        {"dtype": "float32"},
    ),
    Case(
        "sequence_enumerate",
        {"X": SAID, "Offsets": OFFSETS},
        lambda: np.array([[4, 2], [2, 9], [1, 1], [1, 3], [3, 9]]),
        {"win_size": 2, "pad_value": 9},
    ),
    Case(
        "edit_distance",
        {"X": SAID, "Offsets": OFFSETS, "Label": RIGHT, "LabelOffsets": OTHER_OFFSETS},
        lambda: np.array([[1.0], [1.0], [2.0]]),
    ),
    Case(
        "edit_distance",
        {"X": SAID, "Offsets": OFFSETS, "Label": RIGHT, "LabelOffsets": OTHER_OFFSETS},
        lambda: np.array([[1.0], [2.0], [2.0]]),
        {"normalized": False},
    ),
    Case("chunk_eval", {"X": TAGS[0], "Label": TAGS[1], "Offsets": OFFSETS}, lambda: np.array([2 / 3]), IOB),
]
