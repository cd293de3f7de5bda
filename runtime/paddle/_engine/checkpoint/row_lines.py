"""Lines of rows: ids and numbers as text, and back. See sparse_text.py, which knows files of them.

Many are written and read by compiled loops; few, and what is written otherwise than here, by Python, which is
the twin. It must never know a file. Guarantee: a number that is read is the float32 that was written, in the
fewest digits that say so (six at least, less what is nothing behind the point); what is no row is told.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

_FEW = 1 << 12  # numbers for which compiled loops are not worth loading
_DIGITS = range(6, 10)  # nine tell every float32 from the next
_ABOUT = (1 - 2e-15, 1 + 2e-15)  # who reads a number in the very middle of two may take either


def written(ids: np.ndarray, said: str, values: np.ndarray) -> bytes:
    """A line for each row: ids uint64 (k,), what is ``said`` of each, and numbers float32 (k, width)."""
    if values.size < _FEW:
        return "".join(
            f"{id}{said}{''.join(f'{_shortest(value)},' for value in row)}\n"
            for id, row in zip(ids.tolist(), values, strict=True)
        ).encode()
    from paddle._engine.kernels.row_lines import LINE, NUMBER, POWERS, write_rows

    text = np.empty(len(ids) * (LINE + len(said) + NUMBER * values.shape[1]), np.uint8)
    shown = np.frombuffer(said.encode(), np.uint8)
    size = write_rows(ids, shown, np.ascontiguousarray(values, np.float32), POWERS, text)
    return text[:size].tobytes()


def _shortest(value: np.float32) -> str:
    text = ""
    for digits in _DIGITS:
        text = f"{float(value):.{digits - 1}e}"
        if all(np.float32(float(text) * about) == value for about in _ABOUT):
            break
    return f"{float(text):.9g}"


def read(lines: Sequence[bytes], where: str, before: int) -> tuple[np.ndarray, np.ndarray]:
    """The ids and numbers of some lines of ``where``, of which so many went before. Raises ValueError."""
    width = lines[0][lines[0].rfind(b"\t") + 1 :].rstrip(b",\r\n").count(b",") + 1
    if width * len(lines) >= _FEW:
        from paddle._engine.kernels.row_lines import read_rows
        from paddle._engine.kernels.slot_lines import TENS

        ids, values = np.empty(len(lines), np.int64), np.empty((len(lines), width), np.float32)
        if read_rows(np.frombuffer(b"".join(lines), np.uint8), ids, values, TENS) == len(lines):
            return ids, values
    return _read(lines, where, before)


def _read(lines: Sequence[bytes], where: str, before: int) -> tuple[np.ndarray, np.ndarray]:
    heads = [line[: line.find(b"\t")] for line in lines]
    tails = [line[line.rfind(b"\t") + 1 :].rstrip(b",\r\n") for line in lines]
    if not all(b"\t" in line for line in lines):
        raise ValueError(_wrong(where, before, lines))
    commas = {tail.count(b",") for tail in tails}
    if len(commas) > 1:
        raise ValueError(f"rows in {where} are not all of one width")
    width = commas.pop() + 1
    try:
        ids = np.array([int(head) for head in heads], np.uint64).astype(np.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # numbers that do not parse are one
            values = np.fromstring(b",".join(tails), np.float64, sep=",")
        return ids, values.reshape(len(lines), width).astype(np.float32)
    except (ValueError, OverflowError, DeprecationWarning):
        raise ValueError(_wrong(where, before, lines)) from None


def _wrong(where: str, before: int, lines: Sequence[bytes]) -> str:
    """Which line is to blame."""
    for number, line in enumerate(lines, before + 1):
        text = line.decode(errors="replace")
        id, *_, values = text.split("\t") if "\t" in text else (text, "")
        try:
            np.array([int(id)], np.uint64)
            [float(value) for value in values.strip().rstrip(",").split(",")]
        except (ValueError, OverflowError):
            return f"{where}, line {number} is not a row of a table: {text[:80]!r}"
    return f"{where} has lines that are not rows of a table"
