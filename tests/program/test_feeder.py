"""DataFeeder: samples become tensors of the variables' dtypes and shapes, or an error says which is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._program.errors import BadFeed
from paddle._program.running.feeder import SampleFeeder, Slot
from tests.counting import calls_of, instructions_of

WORDS = Slot("words", (1,), np.dtype(np.int64), 1)
IMAGE = Slot("image", (2, 2), np.dtype(np.float32), 0)
LABEL = Slot("label", (1,), np.dtype(np.int64), 0)
PAIRS = Slot("pairs", (2,), np.dtype(np.float32), 0)
TEXTS = Slot("texts", (1,), np.dtype(np.int64), 2)


def fed(slot: Slot, *fields: object):
    return SampleFeeder([slot]).feed([(field,) for field in fields])[slot.name]


def test_fields_become_rows_of_the_declared_shape() -> None:
    made = SampleFeeder([IMAGE, LABEL]).feed([([1, 2, 3, 4], 7), (np.zeros((2, 2)), 8)])
    assert np.array(made["image"]).shape == (2, 2, 2)
    assert np.array(made["image"]).dtype == np.float32
    assert np.array(made["label"]).tolist() == [[7], [8]]
    assert made["label"].lod() == []


def test_fields_of_sequences_are_laid_one_after_another() -> None:
    words = fed(WORDS, [3, 1], [], [[2]])
    assert np.array(words).tolist() == [[3], [1], [2]]
    assert words.recursive_sequence_lengths() == [[2, 0, 1]]
    texts = fed(TEXTS, [[1, 2], [3]], [[4]])
    assert np.array(texts).tolist() == [[1], [2], [3], [4]]
    assert texts.recursive_sequence_lengths() == [[2, 1], [2, 1, 1]]
    vectors = fed(Slot("v", (3,), np.dtype(np.float32), 1), [[1, 2, 3]], np.ones((2, 3)))
    assert np.array(vectors).shape == (3, 3)
    assert np.array(fed(WORDS, [], [])).shape == (0, 1)


def test_an_open_size_is_that_of_the_rows() -> None:
    assert np.array(fed(Slot("x", (-1, 2), np.dtype(np.float32), 0), [[1, 2], [3, 4]])).shape == (1, 2, 2)


def test_a_field_may_hold_several_rows() -> None:
    lengths = Slot("lengths", (), np.dtype(np.int64), 0)
    assert np.array(fed(lengths, [5, 4, 3])).tolist() == [5, 4, 3]
    assert np.array(fed(lengths, [5, 4, 3], [1, 2])).tolist() == [5, 4, 3, 1, 2]
    assert np.array(fed(LABEL, [[1], [2]], [[3], [4]])).tolist() == [[1], [2], [3], [4]]
    assert np.array(fed(Slot("x", (2,), np.dtype(np.float32), 0), np.ones((3, 2)), [7, 8])).shape == (4, 2)


@pytest.mark.parametrize(
    ("slot", "fields", "message"),
    [
        (IMAGE, ([1, 2, 3, 4], [1, 2, 3]), "'image', sample 1: .*shape .3., where each row is float32.2, 2."),
        (LABEL, (1, "two"), "'label', sample 1: 'two' is no int64"),
        (PAIRS, ([1, 2, 3], [1, 2, 3, 4, 5]), "'pairs', sample 0: .*shape .3., where each row is float32.2."),
        (WORDS, ([1], [2, "x"]), "'words', sample 1: 'x' is no int64"),
        (WORDS, ([1], 5), "'words', sample 1: 5 is given, where LoD level 1 expects a list of rows"),
        (WORDS, ([1], np.array(5)), "'words', sample 1: .*5.* is given, where LoD level 1 expects a list of"),
        (TEXTS, ([1, 2],), "'texts', sample 0: 1 is given, where LoD level 2 expects a list of rows"),
        (TEXTS, ([[1]], 2), "'texts', sample 1: 2 is given, where LoD level 2 expects a list of sequences"),
        (
            TEXTS,
            ([[1], [2]], [[3], 4]),
            "'texts', sample 1: 4 is given, where LoD level 2 expects a list of r",
        ),
        (TEXTS, ([[1], [2]], [["x"]]), "'texts', sample 1: 'x' is no int64"),
    ],
)
def test_what_does_not_fit_is_named(slot: Slot, fields: tuple, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        fed(slot, *fields)


def test_a_sample_has_a_field_for_each_variable() -> None:
    with pytest.raises(AssertionError, match="sample 1 has 1 fields, and feed_list has 2 variables"):
        SampleFeeder([IMAGE, LABEL]).feed([([1, 2, 3, 4], 1), ([1, 2, 3, 4],)])


def test_batches_are_fed_to_places() -> None:
    feeder = SampleFeeder([LABEL], places=lambda: 2)
    first, second = feeder.feed_parallel([[(1,), (2,)], [(3,)]])
    assert np.array(first["label"]).shape == (2, 1)
    assert np.array(second["label"]).tolist() == [[3]]
    with pytest.raises(ValueError, match="1 batches are given for 2 places"):
        feeder.feed_parallel([[(1,)]])

    def reader():
        yield from ([(1,)], [(2,)], [(3,)])

    assert [np.array(each["label"]).item() for each in feeder.decorate_reader(reader, False)()] == [1, 2, 3]
    assert [len(each) for each in feeder.decorate_reader(reader, True)()] == [2]
    with pytest.raises(ValueError, match="1 batches left for 2 places"):
        list(feeder.decorate_reader(reader, True, drop_last=False)())


@pytest.mark.parametrize(
    "sample",
    [
        (np.ones((2, 2), np.float32), np.ones(1, np.int64)),
        (np.ones((2, 2)), np.int32(1)),
        ([1.0, 2.0, 3.0, 4.0], 1),
    ],
    ids=["arrays", "of other dtypes", "numbers"],
)
def test_a_sample_more_costs_no_call_more(sample: tuple[Any, ...]) -> None:
    feeder = SampleFeeder([IMAGE, LABEL])
    few, many = (calls_of(lambda rows=rows: feeder.feed([sample] * rows)) for rows in (16, 512))
    assert few == many < 100
    few, many = (instructions_of(lambda rows=rows: feeder.feed([sample] * rows)) for rows in (16, 512))
    assert few == many


VECTORS = Slot("v", (3,), np.dtype(np.float32), 1)


@pytest.mark.parametrize(
    ("slot", "field"),
    [
        (WORDS, [3, 1]),
        (WORDS, np.arange(3)),
        (WORDS, np.arange(3, dtype=np.int32)),
        (WORDS, [[3], [1]]),
        (VECTORS, np.ones((2, 3))),
        (VECTORS, [[1.0, 2.0, 3.0]] * 2),
        (TEXTS, [[1, 2], [3], []]),
        (TEXTS, [np.arange(2), np.arange(1)]),
        (TEXTS, np.ones((2, 3), np.int64)),
        (LABEL, [[1], [2]]),
        (Slot("x", (2,), np.dtype(np.float32), 0), np.ones((3, 2))),
    ],
    ids=lambda each: each.name if isinstance(each, Slot) else str(each),
)
def test_a_sequence_more_costs_no_call_more(slot: Slot, field: Any) -> None:
    feeder = SampleFeeder([slot])
    few, many = (instructions_of(lambda rows=rows: feeder.feed([(field,)] * rows)) for rows in (16, 512))
    assert few == many
    few, many = (calls_of(lambda rows=rows: feeder.feed([(field,)] * rows)) for rows in (16, 512))
    assert few == many


def test_whose_number_is_too_large_is_said_among_arrays_and_numbers() -> None:
    narrow = Slot("n", (1,), np.dtype(np.int8), 0)
    for fields in ([np.array([1]), np.array([300])], [np.uint64(1), np.int64(300)], [1, np.int64(300)]):
        with pytest.raises(BadFeed, match="sample 1, is int8, which holds -128 to 127, and is fed 300"):
            fed(narrow, *fields)
