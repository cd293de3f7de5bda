"""The rows as a v2 program's feeder takes them: every value is checked against its slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.input.data import COLUMNS, IDS, WORDS, batches, feeding
from benchmarks.worker import Work
from paddle.v2 import data_type
from paddle.v2.data_feeder import DataFeeder
from paddle.v2.data_type import InputType


def prepare(settings: Mapping[str, Any]) -> Work:
    """The feeder of ``settings``."""
    feeder = DataFeeder(list(enumerated(_types(settings["kind"]))))
    counted = settings["kind"] == "columns"

    def feed(rows: Sequence[Any]) -> list[np.ndarray]:
        arrays = feeder(rows)
        # What is 1 for every entry is not part of the answer: others have no array of it.
        return [array for name, array in arrays.items() if not (counted and name.endswith("@amounts"))]

    return feeding(feed, batches(settings["kind"], settings["rows"]))


def enumerated(types: Sequence[InputType]) -> list[tuple[str, InputType]]:
    """A name for each slot."""
    return [(f"slot{number}", type) for number, type in enumerate(types)]


def _types(kind: str) -> list[InputType]:
    label = data_type.integer_value(10)
    return {
        "words": [data_type.integer_value(WORDS)] * 5,
        "arrays": [data_type.dense_vector(784), label],
        "lists": [data_type.dense_vector(784), label],
        "ids": [data_type.dense_vector(13), *[data_type.integer_value(IDS)] * 26, label],
        "columns": [data_type.dense_vector(13), data_type.sparse_binary_vector(COLUMNS), label],
    }[kind]
