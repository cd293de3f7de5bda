"""docs/THREAT_MODEL.md tells limits as they are."""

import importlib
import re
from operator import attrgetter
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "THREAT_MODEL.md"
ROWS = re.findall(r"^\| `([a-z_.]+)\.([A-Z][\w.]+)` \| (\d+)[ \w]* \|", PAGE.read_text(), re.MULTILINE)


def test_there_are_limits() -> None:
    assert len(ROWS) >= 14


@pytest.mark.parametrize(("module", "name", "number"), ROWS, ids=[row[1] for row in ROWS])
def test_a_limit_is_what_the_page_says(module: str, name: str, number: str) -> None:
    of = importlib.import_module(f"paddle._pserver.{module}")
    if name.startswith("Limits."):  # what stands for every frame where nothing else is said
        of, name = of.Limits(), name.removeprefix("Limits.")
    assert attrgetter(name)(of) == float(number)
