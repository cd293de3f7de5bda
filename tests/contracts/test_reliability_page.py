"""docs/reliability.md promises nothing without a test; all tests that it and the threat model name exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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


def test_every_promise_names_a_test() -> None:
    rows = promised()
    assert len(rows) >= 17
    assert all(rows)


def test_every_test_that_is_named_exists() -> None:
    claimed = [tests for tests in promised("docs/THREAT_MODEL.md") if tests]
    assert len(claimed) >= 5
    for test in (test for tests in (*promised(), *claimed) for test in tests):
        path, name = test.split("::")
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE), test
