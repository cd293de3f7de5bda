"""Lines of rows: what compiled loops write and read is what their twins do."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.checkpoint import row_lines
from paddle._engine.kernels.row_lines import POWERS, read_rows, write_rows
from paddle._engine.kernels.slot_lines import TENS

SAID = "\t1\t0\t1\t"
PLAIN = [0.0, -0.0, 1, 10, 123456, 1e6, 123456789, 1e9, 0.1, 0.5, 1e-4, 1e-5, 1 / 3, 16777216, 99999996]
EXTREME = [3.4028235e38, -3.4028235e38, 1.17549435e-38, 1e-45, np.inf, -np.inf, np.nan]


def _compiled(ids: np.ndarray, values: np.ndarray) -> bytes:
    text = np.empty(values.size * 17 + len(ids) * 48, np.uint8)
    size = write_rows(ids, np.frombuffer(SAID.encode(), np.uint8), values, POWERS, text)
    return text[:size].tobytes()


@pytest.mark.parametrize("number", PLAIN + EXTREME)
def test_a_number_is_written_as_its_twin_writes_it(number: float) -> None:
    ids, values = np.array([7], np.uint64), np.array([[number]], np.float32)
    assert _compiled(ids, values) == row_lines.written(ids, SAID, values)


@pytest.fixture(scope="module")
def any_rows() -> tuple[np.ndarray, np.ndarray]:
    """Every bit of a float32 is as likely as not; ids have all 64."""
    random = np.random.default_rng(7)
    values = random.integers(0, 1 << 32, (4000, 5), np.uint32).view(np.float32)
    return random.integers(0, 1 << 63, 4000).astype(np.uint64) * np.uint64(2), np.nan_to_num(values)


def test_what_is_read_is_what_was_written_whoever_writes_and_reads(any_rows) -> None:
    ids, values = any_rows
    for written in (_compiled(ids, values), row_lines.written(ids[:99], SAID, values[:99])):
        lines = written.splitlines(keepends=True)
        for read in (row_lines.read, row_lines._read):
            found, numbers = read(lines, "here", 0)
            assert found.astype(np.uint64).tolist() == ids[: len(lines)].tolist()
            assert numbers.tobytes() == values[: len(lines)].tobytes()


def test_no_number_has_more_digits_than_it_needs(any_rows) -> None:
    ids, values = (each[:99] for each in any_rows)
    assert values.size < row_lines._FEW
    assert len(_compiled(ids, values)) == len(row_lines.written(ids, SAID, values))


@pytest.mark.parametrize(
    "line",
    [b"7\n", b"x\t1,2,\n", b"-1\t1,2,\n", b"7\t1,\n", b"7\t1,2,3,\n", b"7\t1,two,\n", b"\n"],
)
def test_what_is_not_plainly_written_is_left_to_the_twin(line: bytes) -> None:
    text = np.frombuffer(b"8\t3\t0.5,2,\r\n" + line + b"9\t1,2,\n", np.uint8)
    ids, values = np.empty(3, np.int64), np.empty((3, 2), np.float32)
    assert read_rows(text, ids, values, TENS) == 1
    assert (ids[0], values[0].tolist()) == (8, [0.5, 2.0])


def test_a_bad_line_among_many_is_told_by_its_number() -> None:
    lines = [b"%d\t1\t0\t1\t1,2,\n" % id for id in range(3000)]
    lines[2500] = b"7\t1\t0\t1\t1,two,\n"
    with pytest.raises(ValueError, match=r"a\.txt, line 2511 is not a row of a table: '7\\t1\\t0"):
        row_lines.read(lines, "a.txt", 10)
