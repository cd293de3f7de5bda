"""docs/reliability.md promises nothing without a test: every test that it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def promised() -> list[list[str]]:
    """Per row of the page, the tests that it names."""
    rows = [line for line in (ROOT / "docs/reliability.md").read_text().splitlines() if line.startswith("| ")]
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
    for test in (test for tests in promised() for test in tests):
        path, name = test.split("::")
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE), test
