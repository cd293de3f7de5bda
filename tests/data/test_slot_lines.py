"""Lines of slots are read as Python reads numbers; what is wrong with one is told by file, line and slot."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._data.lines import BadLine, Lines
from paddle._data.records import BadRecord, Records
from paddle._data.slot import slots_of

from .variables import ALL, Variable

SLOTS = slots_of(ALL)


def read(text: str) -> Records:
    return Lines(SLOTS, "part-0").read(text.encode())


def values(records: Records, place: int) -> list[list[float]]:
    column = records.columns[place]
    return [part.tolist() for part in np.split(column.values, column.offsets[1:-1])]


def test_a_line_has_for_each_slot_how_many_values_and_the_values() -> None:
    found = read("2 7 9 2 1 0.5 1 3\n\n1 -5\t2 -1.5e3 .25 1 0\r\n")
    assert len(found) == 2
    assert values(found, 0) == [[7, 9], [-5]]
    assert values(found, 1) == [[1, 0.5], [-1500, 0.25]]
    assert values(found, 2) == [[3], [0]]


@pytest.mark.parametrize(
    ("text", "words", "dense", "label"),
    [
        ("2 5 6 2 0.5 1.5 1 1\n1 7 2 -1 2e-1 1 0\n", [5, 6, 7], [0.5, 1.5, -1, 0.2], [1, 0]),
        ("2  5   6 2 0.5  1.5 1 1\n", [5, 6], [0.5, 1.5], [1]),
        (" 2 5 6 2 0.5 1.5 1 1   \n1 7 2 1 2 1 0", [5, 6, 7], [0.5, 1.5, 1, 2], [1, 0]),
        ("2\t5\t6\t2\t0.5\t1.5\t1\t1\n", [5, 6], [0.5, 1.5], [1]),
        ("2 5 6 2 0.5 1.5 1 1\r\n1 7 2 1 2 1 0\r\n", [5, 6, 7], [0.5, 1.5, 1, 2], [1, 0]),
        ("2 18446744073709551615 9223372036854775808 2 0.5 1.5 1 1\n", [-1, -(2**63)], [0.5, 1.5], [1]),
        ("2 -1 6 2 0.5 1.5 1 1\n", [-1, 6], [0.5, 1.5], [1]),
        ("2 5 6 2 0.5 1.5 1 1 1 9\n", [5, 6], [0.5, 1.5], [1]),
        ("1 5 2 inf 3 1 1\n", [5], [np.inf, 3], [1]),
    ],
)
def test_lines_are_read_as_1_8_5_reads_them(
    text: str, words: list[int], dense: list[float], label: list[int]
) -> None:
    """What its QueueDataset and InMemoryDataset gave of files of these lines."""
    found = [column.values for column in read(text).columns]
    assert (found[0].tolist(), found[2].tolist()) == (words, label)
    np.testing.assert_array_equal(found[1], np.float32(dense))


def test_numbers_are_those_that_python_reads() -> None:
    random = np.random.default_rng(0)
    numbers = [*random.normal(0, 1e4, 500).tolist(), 1e-30, 3e38, 0.1, float("inf"), 1e22, 123456789012345678]
    ids = [*random.integers(-(2**63), 2**63, 500).tolist(), 2**63 - 1, -(2**63), 0, 10**18, 10**19]
    text = f"{len(ids)} {' '.join(map(str, ids))} {len(numbers)} {' '.join(map(repr, numbers))} 1 1"
    found = read(text)
    np.testing.assert_array_equal(found.columns[1].values, np.array(numbers, np.float32))
    assert found.columns[0].values[:-1].tolist() == ids[:-1]
    assert found.columns[0].values[-1] == 10**19 - 2**64


def test_what_is_plainly_written_and_what_is_not_stay_in_order() -> None:
    found = read("1 1 2 1 1 1 1\n1 2 2 nan -inf 1 18446744073709551615\n1 3 2 +1 1E2 1 3")
    assert values(found, 0) == [[1], [2], [3]]
    assert values(found, 2) == [[1], [-1], [3]]
    assert np.isnan(found.columns[1].values[2])
    assert values(found, 1)[2] == [1, 100]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2 7 9 2 1 0.5", "slot label (the 3. of 3) is missing"),
        ("2 7 9 2 1 0.5 2 1", "slot label (the 3. of 3) says 2 values and has 1"),
        ("2 7 9.5 2 1 1 1 1", "slot words (the 1. of 3) has '9.5', which is no whole number"),
        ("1 7 2 1 x 1 1", "slot dense (the 2. of 3) has 'x', which is no number"),
        ("0 2 1 1 1 1", "slot words (the 1. of 3) has 0 values"),
        ("x 1 2 1 1 1 1", "slot words (the 1. of 3) begins with 'x'"),
        ("1 18446744073709551616 2 1 1 1 1", "more than 64 bits"),
    ],
)
def test_what_is_wrong_is_told_by_file_line_and_slot(line: str, said: str) -> None:
    lines = Lines(SLOTS, "part-0")
    lines.read(b"1 1 2 1 1 1 1\n" * 3)
    with pytest.raises(BadLine) as error:
        lines.read(f"1 1 2 1 1 1 1\n{line}\n".encode())
    assert str(error.value).startswith("part-0, line 5: ")
    assert said in str(error.value)


def test_more_values_than_slots_are_left_over_and_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    assert len(read("1 1 2 1 1 1 1 5 5\n" * 2)) == 2
    assert [text.startswith("part-0") for text in caplog.messages if "part-" in text] == [True]


def test_a_dense_slot_has_the_shape_of_its_variable() -> None:
    found = read("1 1 2 1 2 1 1\n1 1 2 3 4 1 1\n")
    assert found.columns[1].dense(SLOTS[1]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(BadRecord, match=r"slot dense is dense, of shape .2. a sample, .* have 2, 3 values"):
        read("1 1 2 1 2 1 1\n1 1 3 3 4 5 1 1\n").columns[1].dense(SLOTS[1])


def test_variables_of_other_dtypes_are_no_slots() -> None:
    with pytest.raises(ValueError, match="float32 and int64 alone, and x has float64"):
        slots_of([Variable("x", "float64")])
