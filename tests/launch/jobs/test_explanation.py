"""Why a job failed, in words: in a file by lines, on a terminal in a box."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddle._launch.jobs.explanation import paragraphs
from paddle._launch.news import Failed
from tests.launch.jobs.conftest import plan

LINES = ("one", "\x1b[31mtwo\x1b[0m " + "x" * 70, "")
FAILED = Failed(7, "trainer-1 ended with status 7", 1, "trainer-1", "pserver-0: it said so", LINES, False)


def test_in_a_file_it_is_a_line_each(tmp_path: Path) -> None:
    said = list(paragraphs(FAILED, plan(tmp_path), None))
    assert said[0] == "paddle.py: trainer-1 ended with status 7 on node 1 (127.0.0.2). Its last lines:"
    assert said[1:4] == [f"  | {line}" for line in LINES]
    assert said[4:] == ["Why: pserver-0: it said so", f"All it printed: {tmp_path}/log/node-1/train.log"]


@pytest.mark.parametrize("width", [60, 200])
def test_on_a_terminal_last_lines_stand_in_a_box_that_none_of_them_leaves(tmp_path: Path, width: int) -> None:
    said = list(paragraphs(FAILED, plan(tmp_path), width))
    box = said[1:-2]
    assert box[0].startswith("\u256d\u2500 trainer-1 on node 1 (127.0.0.2) \u2500")
    assert {len(line) for line in box} == {width}
    assert "\x1b" not in "".join(box)
    assert "".join(line.strip("\u2502 ") for line in box).count("x") == 70


def test_a_node_has_no_lines(tmp_path: Path) -> None:
    failed = Failed(1, "disk full", 0, None, "", (), False)
    assert list(paragraphs(failed, plan(tmp_path), 80)) == [
        "paddle.py: the job failed on node 0 (127.0.0.1): disk full"
    ]
