"""Calls that a shape rule refuses and no other table has, so that each refusal of each operator is seen."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from paddle._engine.steps.kinds import EACH, Kind

from .book_operators import CTC, RANKED, X
from .box_operators import SEARCH
from .dense_operators import MAPS
from .layer_operators import GRU as TIMED
from .recurrent_operators import BEGUN, LSTM
from .sequence_operators import IDS, IOB, OFFSETS, SAID, UPDATES

COLUMN, FLOATS = np.array([[1], [0], [2], [1], [1]]), OFFSETS.astype(np.float64)
FEW, NONE = OFFSETS[:3], np.zeros(0, np.int64)
AUC = {
    "Predict": X[:, :2],
    "Label": COLUMN,
    "Positive": np.zeros((1, 51), np.int64),
    "Negative": np.zeros((1, 51), np.int64),
}
OF_50 = {"num_thresholds": 50, "slide_steps": 0}
STEP, STATE = {"X": np.ones((3, 9)), "Weight": np.ones((3, 9))}, {"State": np.ones((3, 3))}
PEEP = {"Bias": np.ones((1, 9))}
LATE = {slot: each for slot, each in BEGUN.items() if slot != "First"}
ONE_IN = SimpleNamespace(inputs=("a",), kinds={"a": Kind(EACH, varies=True), "o": None}, outputs=("o",))
SEEN = {"In": X, "Others": X, "Offsets": OFFSETS, "Like": X}
SPREAD = {"Ids": np.array([0]), "Amounts": np.ones(1), "Starts": np.array([0, 1])}
PAIR = {"X": COLUMN, "Offsets": OFFSETS, "Label": COLUMN, "LabelOffsets": OFFSETS}

Refused = tuple[str, dict[str, Any], dict[str, Any], str]
REFUSED: list[Refused] = [
    ("auc", AUC | {"Predict": X[0]}, OF_50, "must be a matrix"),
    ("auc", AUC | {"Label": COLUMN.astype(float)}, OF_50, "Label must be int64"),
    ("auc", AUC | {"Label": COLUMN[:3]}, OF_50, "Label must have shape"),
    ("auc", AUC | {"Positive": np.zeros((1, 51))}, OF_50, "Positive must be int64"),
    ("auc", AUC | {"Positive": np.zeros((1, 50), np.int64)}, OF_50, "counted in 51 integers"),
    ("beam_cost", SEARCH | {"Gold": SEARCH["Gold"][:1]}, {}, "2 steps have 2 choices and 1 right"),
    ("beam_cost", SEARCH | {"Chosen": [each[0] for each in SEARCH["Chosen"]]}, {}, "are no matrices"),
    ("bias_activation", {"X": X, "Bias": X[0, 0]}, {"act": "tanh"}, r"Bias is float64\[\]"),
    ("bilinear_interp", {"X": MAPS}, {"size": (2, 2), "method": "cubic"}, "method is one of"),
    (
        "chunk_eval",
        {"X": COLUMN, "Label": COLUMN, "Offsets": OFFSETS},
        IOB | {"scheme": "BIO"},
        "spelt in one",
    ),
    ("class_path", {"Label": COLUMN}, {"num_classes": 1}, "one of 2 classes or more"),
    ("clip_by_norm", {"X": X, "Squares": np.ones(())}, {"max_norm": 1.0}, "Squares is one number"),
    ("count_up", {"X": X}, {"maxlen": 3}, "must be int64"),
    ("ctc", CTC, {"blank": 4}, "none with the number 4"),
    ("descend", {"X": X[0], "Slope": X, "Param": X}, {}, "must be a matrix"),
    ("differs", {"X": COLUMN[:, 0], "Y": COLUMN}, {}, "X must have shape"),
    ("edit_distance", PAIR | {"LabelOffsets": FEW}, {}, "3 sequences are compared with 2"),
    ("gather", {"X": X, "Index": np.array(1)}, {}, "Index must have the shape"),
    (
        "generate",
        {"In": X},
        {"loop": ONE_IN, **dict.fromkeys(("word", "end", "longest", "beam_size"), 1)},
        "how many",
    ),
    ("gru_layer", TIMED | {"X": TIMED["X"].astype(np.float32)}, {}, "X is float32 and Weight is float64"),
    ("gru_step", {**STEP, **STATE, **PEEP, "X": X[0]}, {}, "X must be a matrix"),
    ("gru_step", {**STEP, **STATE, "Bias": X}, {}, "Bias must have shape"),
    ("gru_step", {**STEP, **STATE, **PEEP, "Weight": X}, {}, "Weight must have shape"),
    ("huber_loss", {"X": X, "Label": X}, {"delta": 0.0}, "delta is greater than 0"),
    ("is_id", {"X": X}, {"id": 1}, "must be int64"),
    ("lambda_rank", RANKED, {"ndcg_num": 0}, "ndcg_num is 1 or more"),
    ("lookup_beside", {"W": X, "Ids": [COLUMN, np.array(1)]}, {}, "must be int64"),
    *(
        (
            type,
            {**LATE, "Offsets": FLOATS, **more},
            {},
            "Offsets must be int64",
        )
        for type, more in (
            ("lstm", {}),
            ("lstmp", {"Weight": np.ones((3, 8)), "Projection": np.ones((2, 3))}),
        )
    ),
    ("lstm", LSTM | {"Weight": LSTM["Weight"].astype(np.float32)}, {}, "Weight is float32: cast one of them"),
    ("lstm_step", {**STATE, "X": X[0], "Bias": X}, {}, "X must be a matrix"),
    ("lstm_step", {**STATE, "X": np.ones((3, 12)), "Bias": X}, {}, "Bias must have shape"),
    ("mul", {"X": X, "Y": X.T.astype(np.float32)}, {}, "X is float64 and Y is float32: cast one of them"),
    ("recurrent", SEEN | {"Offsets": FLOATS}, {"loop": ONE_IN}, "Offsets must be int64"),
    ("recurrent", SEEN, {"loop": ONE_IN}, "known from none of the inputs"),
    ("reshape", {"X": np.ones((0, 4))}, {"shape": (-1, 5, 0)}, "cannot be reshaped"),
    ("reshape_by", {"X": X, "Like": [X[0]]}, {"sizes": ((0, 1), -1)}, "outside the 1 axes"),
    ("sample_apart", {"Label": COLUMN}, {"num_classes": 3, "num_samples": 4}, "4 of 3 classes"),
    (
        "sample_classes",
        {"Label": COLUMN},
        {"num_classes": 3, "distribution": (0.5, 0.5)},
        "2 probabilities for 3",
    ),
    ("scatter", {"X": X, "Index": np.array(1), "Updates": X[:1]}, {}, "Index must have the shape"),
    (
        "selected_mul",
        {"X": X, "W": X, "Ids": COLUMN, "Starts": np.arange(6)},
        {},
        r"Ids must have the shape \[n\]",
    ),
    ("sequence_best", {"X": X[:, :1], "Offsets": FLOATS}, {"k": 1}, "must be int64"),
    ("sequence_best", {"X": X[0], "Offsets": OFFSETS}, {"k": 1}, "must be a matrix"),
    ("sequence_best", {"X": X, "Offsets": OFFSETS}, {"k": 1}, "has one score"),
    ("sequence_concat", {"X": X, "Y": X, "Offsets": OFFSETS, "YOffsets": FEW}, {}, "3 sequences and Y has 2"),
    ("sequence_end", {"X": X, "Offsets": OFFSETS}, {"which": "middle"}, "first or last"),
    ("sequence_enumerate", {"X": SAID, "Offsets": OFFSETS}, {"win_size": 0}, "win_size is 1 or more"),
    *(
        (type, {**inputs, slot: offsets}, {}, message)
        for offsets, message in ((FLOATS, "must be int64"), (NONE, "must have shape"))
        for type, inputs, slot in (
            ("sequence_expand", {"X": X[:3], "Like": X}, "Offsets"),
            ("sequence_repeat", {"Times": OFFSETS}, "Offsets"),
            ("sequence_repeat", {"Offsets": OFFSETS}, "Times"),
            ("sequence_scatter", {"X": X[:3], "Ids": IDS, "Updates": UPDATES}, "Offsets"),
            ("sequence_unpad", {"X": MAPS[0], "Rows": np.arange(3)}, "Offsets"),
        )
    ),
    ("sequence_repeat", {"Offsets": OFFSETS, "Times": FEW}, {}, "X has 3 sequences, and 2 say"),
    ("sequence_resize", {"Offsets": FLOATS}, {"width": 1, "into": 1}, "must be int64"),
    (
        "sequence_window_padded",
        {"X": X, "Offsets": OFFSETS, "Padding": X[:0]},
        {"start": 0, "length": 0},
        "a window has 1 row or more",
    ),
    ("sparse_spread", SPREAD, {"width": 2**40}, "may be spread out"),
    ("spread_row", {"X": X[:3], "Offsets": FLOATS}, {}, "must be int64"),
    ("spread_row", {"X": X[0], "Offsets": OFFSETS}, {}, "must be a matrix"),
    *(
        (f"{type}_batch_size_like", {"X": X}, {"shape": (-1, 2), **more, **wrong}, message)
        for type, more in (
            ("fill_constant", {}),
            ("gaussian_random", {}),
            ("truncated_gaussian_random", {}),
            ("uniform_random", {}),
            ("randint", {"high": 1}),
        )
        for wrong, message in (
            ({"output_dim_idx": 2}, "output_dim_idx 2 is outside"),
            ({"input_dim_idx": -3}, "axis -3 is outside the 2 axes of X"),
        )
    ),
]
