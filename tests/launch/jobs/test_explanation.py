"""Why a job failed, in words: in a file by lines, on a terminal in a box."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL, SIGSEGV, SIGTERM

import pytest
from rich.cells import cell_len

from paddle._launch.cause import Cause, end_of
from paddle._launch.jobs.explanation import PLAIN, paragraphs
from paddle._launch.news import Failed
from tests.launch.jobs.conftest import plan

LINES = ("one", "\x1b[31mtwo\x1b[0m " + "x" * 70, "")
FAILED = Failed(7, "trainer-1 ended with status 7", 1, "trainer-1", "pserver-0: it said so", LINES, False)


def test_in_a_file_it_is_a_line_each(tmp_path: Path) -> None:
    said = list(paragraphs(FAILED, plan(tmp_path), None))
    assert said[0] == "paddle.py: trainer-1 ended with status 7 on node 1 (127.0.0.2). Its last lines:"
    assert said[1:4] == [f"  | {line}" for line in LINES]
    assert said[4:] == ["Why: pserver-0: it said so", f"Its full output: {tmp_path}/log/node-1/train.log"]


@pytest.mark.parametrize("width", [60, 200])
def test_on_a_terminal_last_lines_stand_in_a_box_that_none_of_them_leaves(tmp_path: Path, width: int) -> None:
    said = list(paragraphs(FAILED, plan(tmp_path), width))
    box = said[1:-2]
    assert box[0].startswith("\u256d\u2500 trainer-1 on node 1 (127.0.0.2) \u2500")
    assert {len(line) for line in box} == {width}
    assert "\x1b" not in "".join(box)
    assert "".join(line.strip("\u2502 ") for line in box).count("x") == 70


@pytest.mark.parametrize("width", [30, 40, 79])
def test_wide_letters_long_lines_and_long_names_stay_within(tmp_path: Path, width: int) -> None:
    lines = ("\u8bcd" * 100, "\ttab", "y" * 8192, "a\u0301" * 90)
    failed = replace(FAILED, role="trainer-with-a-name-that-is-long", lines=lines, detail="")
    box = list(paragraphs(failed, plan(tmp_path), width, PLAIN))[1:-1]
    assert {cell_len(line) for line in box} == {width}
    assert len(box) < 25
    assert "8,192 letters in all" in "".join(box)
    assert "".join(box).isascii() is False and "\u256d" not in "".join(box)


def test_a_node_has_no_lines(tmp_path: Path) -> None:
    failed = Failed(1, "disk full", 0, None, "", (), False)
    assert list(paragraphs(failed, plan(tmp_path), 80)) == [
        "paddle.py: the job failed on node 0 (127.0.0.1): disk full"
    ]


@pytest.mark.parametrize(
    ("status", "detail", "why"),
    [
        (-SIGKILL, "", "^SIGKILL is not the launcher's .*dmesg"),
        (128 + SIGKILL, "", "^SIGKILL is not the launcher's .*dmesg"),
        (-SIGKILL, "it had been started again once", "^it had been started again once; SIGKILL .*dmesg"),
        (-SIGSEGV, "pserver-0: it said so", "^pserver-0: it said so$"),
        (1, "", "^$"),
    ],
    ids=["killed", "its child was killed", "killed too often", "another signal", "failed"],
)
def test_of_what_sigkill_has_ended_it_is_said_where_to_look(status: int, detail: str, why: str) -> None:
    cause = end_of("trainer-1", 1, status, detail=detail)
    assert cause.detail == detail
    assert re.search(why, cause.why)


def test_of_a_launch_that_was_stopped_it_is_not() -> None:
    assert Cause(status=128 + SIGTERM, text="stopped by SIGTERM", signum=SIGTERM).why == ""
    assert Cause(status=128 + SIGKILL, text="stopped by SIGKILL", signum=SIGKILL).why == ""
