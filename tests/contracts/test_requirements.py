"""What the project requires is what published programs find beside it (decision 103)."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def required() -> dict[str, Requirement]:
    lines = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    return {found.name: found for found in map(Requirement, lines)}


def test_a_numpy_in_which_an_array_of_one_number_is_no_number_is_not_taken() -> None:
    numpy = required()["numpy"].specifier
    assert {version: version in numpy for version in ("1.26.4", "2.3.5", "2.4.0", "3.0.0")} == {
        "1.26.4": True,
        "2.3.5": True,
        "2.4.0": False,
        "3.0.0": False,
    }


def test_six_comes_along() -> None:
    assert "six" in required()
