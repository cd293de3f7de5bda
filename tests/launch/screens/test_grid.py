"""The rows of a board fit into any width, and say what is most to be seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paddle._launch.board import Row
from paddle._launch.screens.grid import HEADINGS, grid

NODES = 16


def rows(**trainer: object) -> list[Row]:
    def row(kind: str, rank: int, **how: object) -> Row:
        address = f"192.168.100.{rank + 17}"
        return Row(node=rank, address=address, role=f"{kind}-{rank}", kind=kind, rank=rank, **how)  # type: ignore[arg-type]

    moves = {"state": "trains", "pass_id": 12, "batch_id": 34567, "cost": 6.12345, "samples_per_s": 1234567.0}
    pservers = [row("pserver", rank, state="serves") for rank in range(NODES)]
    return [*pservers, *(row("trainer", rank, **{**moves, **trainer}) for rank in range(NODES))]


def test_where_there_is_room_everything_is_said() -> None:
    lines = [line.text for line in grid(rows(restarts=2))]
    assert lines[0].split() == list(HEADINGS)
    assert lines[-1].split() == [
        *("15", "192.168.100.32", "trainer", "15", "trains", "12", "34567", "6.1235", "1,234,567", "2")
    ]
    assert len(lines) == 1 + 2 * NODES


@pytest.mark.parametrize(
    ("width", "left_out"),
    [(100, set()), (80, {"restarts"}), (60, {"address", "restarts"}),
     (40, {"address", "node", "restarts", "samples/s", "pass"})],
)  # fmt: skip
def test_where_there_is_less_what_is_missed_least_is_left_out(width: int, left_out: set[str]) -> None:
    lines = [line.text for line in grid(rows(), width=width)]
    assert set(HEADINGS) - set(lines[0].split()) == left_out
    assert max(map(len, lines)) <= width


def test_restarts_are_not_left_out_where_there_were_some() -> None:
    assert "restarts" in grid(rows(restarts=1), width=75)[0].text


@pytest.mark.parametrize("width", range(1, 100, 7))
def test_no_line_is_wider_than_there_is_room(width: int) -> None:
    failed = [replace(row, state="failed", exit_status=-9) for row in rows(restarts=3)]
    assert all(len(line.text) <= width for line in grid(failed, width=width, most=5))


def test_of_too_many_rows_those_that_are_ordinary_are_counted() -> None:
    all_of_them = rows()
    all_of_them[3] = replace(all_of_them[3], state="failed", exit_status=7)
    lines = grid(all_of_them, most=10)
    assert len(lines) == 1 + 9 + 1
    assert "failed: status 7" in lines[1].text
    assert [line.row.kind for line in lines[2:-1] if line.row] == ["trainer"] * 8
    assert lines[-1].text == "and 23 more: serves 15, trains 8"


def test_a_job_of_one_line_is_a_job() -> None:
    assert len(grid(rows()[:1], width=20, most=0)) == 2
    assert len(grid([], width=20)) == 1
