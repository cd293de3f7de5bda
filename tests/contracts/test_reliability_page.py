"""docs/reliability.md promises nothing without a test; all tests that it and the threat model name exist.

Each of the numbered promises has rows, and those that are about machines a test on machines.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMISES = range(1, 26)
PAGE = (ROOT / "docs/reliability.md").read_text()
OF_MACHINES = {*range(1, 12), 25}  # what a launch does there; the others are between trainers and pservers
ON_MACHINES = ("tests/cluster/test_ssh", "tests/cluster/test_dispatch_faults", "tests/cluster/test_restarts")


def promised(page: str = "docs/reliability.md") -> list[list[str]]:
    """Per row of a page, the tests that it names."""
    rows = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("| ")]
    found = []
    for row in rows[1:]:
        file = ""
        tests = []
        for path, name in re.findall(r"`([\w/.]*)::(\w+)`", row):
            file = path or file
            tests.append(f"{file}::{name}")
        found.append(tests)
    return found


def kept() -> dict[int, list[str]]:
    """Per promise, the tests of its rows."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")][1:]
    found: dict[int, list[str]] = {}
    for row, tests in zip(rows, promised(), strict=True):
        if marked := re.match(r"\| \(([\d, ]+)\) ", row):
            for number in marked[1].split(", "):
                found.setdefault(int(number), []).extend(tests)
    return found


def test_every_row_names_a_test() -> None:
    rows = promised()
    assert len(rows) >= 180
    assert all(rows)


def test_every_promise_is_said_and_has_a_row_and_no_row_has_another() -> None:
    said = [int(number) for number in re.findall(r"^(\d+)\. ", PAGE, re.MULTILINE)]
    assert said == list(PROMISES)
    assert sorted(kept()) == said


@pytest.mark.parametrize("number", sorted(OF_MACHINES))
def test_a_promise_about_machines_is_shown_on_machines(number: int) -> None:
    assert [test for test in kept()[number] if test.startswith(ON_MACHINES)]


def test_every_test_that_is_named_exists() -> None:
    claimed = [tests for tests in promised("docs/THREAT_MODEL.md") if tests]
    assert len(claimed) >= 5
    for test in (test for tests in (*promised(), *claimed) for test in tests):
        path, name = test.split("::")
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE), test
