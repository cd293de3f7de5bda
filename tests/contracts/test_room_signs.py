"""Where the text of a package lists its modules, it lists those that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
ROW = re.compile(r"^ {4}(?! )([\w.]+(?:, [\w.]+)*)(?: {2,}\S.*)?$", re.MULTILINE)


def listed(package: Path) -> set[str]:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    return {name.removesuffix(".py") for row in ROW.findall(text) for name in row.split(", ")}


def there(package: Path) -> set[str]:
    modules = {path.stem for path in package.glob("*.py")}
    return (modules | {path.parent.name for path in package.glob("*/__init__.py")}) - {"__init__", "__main__"}


SIGNED = [path.parent for path in sorted(RUNTIME.rglob("__init__.py")) if len(listed(path.parent)) > 1]


def test_rooms_have_signs() -> None:
    names = {str(package.relative_to(RUNTIME / "paddle")) for package in SIGNED}
    assert {"_launch/jobs", "_launch/results", "_launch/screens", "_launch/upkeep", "_pserver"} <= names


@pytest.mark.parametrize("package", SIGNED, ids=lambda package: package.name)
def test_what_a_package_lists_is_what_it_has(package: Path) -> None:
    assert listed(package) == there(package)
