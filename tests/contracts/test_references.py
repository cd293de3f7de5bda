"""What the code tells a reader to see is there: whole names of modules, and what is in them."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = re.compile(r":(?:class|meth|func|data|mod|attr):`~?((?:paddle|benchmarks)\.[\w.]+)`")


def references() -> dict[str, Path]:
    """Each whole name with a file that has it."""
    files = [path for folder in ("runtime/paddle", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    return {name: path for path in files for name in REFERENCE.findall(path.read_text(encoding="utf-8"))}


def is_there(name: str) -> bool:
    """Whether ``name`` is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_whole_names_lead_somewhere() -> None:
    named = references()
    assert len(named) > 10
    lost = {name: str(path.relative_to(ROOT)) for name, path in named.items() if not is_there(name)}
    assert not lost


def test_a_name_that_leads_nowhere_is_found() -> None:
    assert is_there("paddle._pserver.tables.tables.Tables.state")
    assert not is_there("paddle._pserver.tables.Tables.state")
    assert not is_there("paddle._pserver.nowhere")
