"""What says ahead of a run, or in it, which rows there are: operators, and what plain lists say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

OFFSETS, TIMES = np.array([0, 2, 2, 5]), np.array([0, 2, 3, 3])  # the second sequence is empty
OUTER = np.array([0, 2, 3])  # two sequences, of two and of one inner ones
STARTS, ENDS = np.array([[0, 1], [-1, -1], [1, -1]]), np.array([[0, 1], [-1, -1], [2, -1]])
SCORES = np.array([[0.3], [0.9], [0.1], [0.8], [0.8]])
LENGTHS = np.array([2, 0, 3])
FROM, UP_TO = {"has_ends": False}, {"has_starts": False}

Listed = dict[str, list[Any]]
AHEAD: list[tuple[str, dict[str, Any], dict[str, Any], Listed]] = [
    (
        "sequence_repeat",
        {"Offsets": OFFSETS, "Times": TIMES},
        {},
        {"Rows": [0, 1, 0, 1], "Out": [0, 2, 4, 4]},
    ),
    ("row_repeat", {"Times": TIMES}, {}, {"Rows": [0, 0, 1]}),
    ("sequence_ends", {"X": LENGTHS[:, None]}, {}, {"Out": [0, 2, 2, 5], "Rows": [0, 1, 2, 3, 4]}),
    ("count_up", {"X": LENGTHS}, {"maxlen": -1, "holds_all": True}, {"Out": [0, 1, 2]}),
    ("count_up", {"X": LENGTHS}, {"maxlen": 2}, {"Out": [0, 1]}),
    ("sequence_strides", {"Offsets": OFFSETS}, {"stride": 2}, {"Out": [0, 2, 4, 5], "Outer": [0, 1, 1, 3]}),
    ("sequence_strides", {"Offsets": OFFSETS}, {"stride": 1}, {"Out": [*range(6)], "Outer": [0, 2, 2, 5]}),
    (
        "sequence_strides",
        {"Offsets": OFFSETS},
        {"stride": 2, "from_end": True},
        {"Out": [0, 2, 3, 5], "Outer": [0, 1, 1, 3]},
    ),
    (
        "sequence_slices",
        {"Offsets": OFFSETS, "Bounds": [STARTS, ENDS]},
        {},
        {"Rows": [0, 1, 3, 4], "Out": [0, 1, 2, 4], "Outer": [0, 2, 2, 3]},
    ),
    (
        "sequence_slices",
        {"Offsets": OFFSETS, "Bounds": [STARTS]},
        FROM,
        {"Rows": [0, 1, 1, 3, 4], "Out": [0, 2, 3, 5], "Outer": [0, 2, 2, 3]},
    ),
    (
        "sequence_slices",
        {"Offsets": OFFSETS, "Bounds": [ENDS]},
        UP_TO,
        {"Rows": [0, 0, 1, 2, 3, 4], "Out": [0, 1, 3, 6], "Outer": [0, 2, 2, 3]},
    ),
    (
        "sequence_parts",
        {"Offsets": OFFSETS, "Begins": np.array([[1], [0], [0]]), "Sizes": np.array([[1], [0], [2]])},
        {},
        {"Rows": [1, 2, 3], "Out": [0, 1, 1, 3]},
    ),
    (
        "sequence_chosen",
        {"Outer": OUTER, "Offsets": OFFSETS, "Chosen": np.array([[1, 0], [0, -1]])},
        {},
        {"Rows": [0, 1, 2, 3, 4], "Out": [0, 0, 2, 5], "Kept": [0, 2, 3]},
    ),
]
DURING: list[tuple[str, dict[str, Any], dict[str, Any], Listed]] = [
    ("sequence_best", {"X": SCORES, "Offsets": OFFSETS}, {"k": 2}, {"Out": [[1, 0], [-1, -1], [1, 2]]}),
    ("sequence_best", {"X": SCORES, "Offsets": OFFSETS}, {"k": 1}, {"Out": [[1], [-1], [1]]}),
    ("sequence_resize", {"Offsets": 2 * OFFSETS}, {"width": 3, "into": 2}, {"Out": [0, 6, 6, 15]}),
    ("sequence_resize", {"Offsets": 2 * OFFSETS}, {"width": 4, "into": 8}, {"Out": [0, 2, 2, 5]}),
]
AHEAD_WRONG: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("sequence_repeat", {"Offsets": OFFSETS, "Times": TIMES[:3]}, {}, "3 sequences are to be repeated as"),
    ("sequence_ends", {"X": np.array([-1])}, {}, "cannot have -1"),
    ("count_up", {"X": LENGTHS}, {"maxlen": 2, "holds_all": True}, "padded to 2 elements, and one has 3"),
    ("sequence_slices", {"Offsets": OFFSETS, "Bounds": [STARTS[:2]]}, FROM, "2 rows of numbers cut 3"),
    (
        "sequence_slices",
        {"Offsets": OFFSETS, "Bounds": [STARTS + 5]},
        FROM,
        "no piece from 5 to 1 can be cut",
    ),
    ("sequence_slices", {"Offsets": OFFSETS, "Bounds": [ENDS + 5]}, UP_TO, "no piece from 0 to 5 can be cut"),
    ("sequence_slices", {"Offsets": OFFSETS, "Bounds": [STARTS, ENDS[:, :1]]}, {}, "an end, not 2 and 1"),
    (
        "sequence_parts",
        {"Offsets": OFFSETS, "Begins": LENGTHS, "Sizes": LENGTHS[:2]},
        {},
        "by 3 begins and 2 sizes",
    ),
    (
        "sequence_parts",
        {"Offsets": OFFSETS, "Begins": LENGTHS, "Sizes": LENGTHS},
        {},
        "no piece of 2 elements from 2 on can be cut out of sequence 0, which has 2",
    ),
    (
        "sequence_chosen",
        {"Outer": OUTER, "Offsets": OFFSETS, "Chosen": np.array([[0], [1]])},
        {},
        "sequence 1 has 1 inner sequences, of which 1 cannot be chosen",
    ),
]
