"""docs/nodes.md has every task that speaks with nodes, their options, and all that `fab check` looks at."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "nodes.md").read_text()
SECTIONS = {"trust": "Trust host keys", "check": "Check nodes", "install": "Install", "clean": "Clean up"}


def options(task: str) -> set[str]:
    """Those that a table of the task's section has a row for."""
    section = PAGE.split(f"## {SECTIONS[task]}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`--.*?) \|", section, re.MULTILINE)
    return {name.replace("-", "_") for row in rows for name in re.findall(r"`--([\w-]+)", row)}


@pytest.mark.parametrize("task", SECTIONS)
def test_every_option_of_a_task_is_listed_and_no_other(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from fabfile import nodes

    tasks = {name: body for name, body in vars(nodes).items() if hasattr(body, "called")}
    for name in [name for name in sys.modules if name.split(".")[0] == "fabfile"]:
        del sys.modules[name]
    assert set(tasks) == set(SECTIONS)
    taken = set(inspect.signature(tasks[task].body).parameters) - {"c"}
    assert taken - {"conf", "flags"} <= options(task) <= taken


def test_all_that_is_looked_at_is_listed() -> None:
    listed = {
        name
        for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
        for name in re.findall(r"\w+", row)
    }
    nodes = ROOT / "runtime" / "paddle" / "_launch" / "nodes"
    texts = [(nodes / f"{name}.py").read_text() for name in ("diagnosis", "reach", "checking")]
    found = {name for text in texts for name in re.findall(r'"(\w+)",\s*State\.', text)}
    found |= {name for text in texts for name in re.findall(r'\(\("(\w+)", State', text)}
    assert {"ssh", "disk", "reach", "clock", "conf", "packages"} <= found
    assert found - {"machine"} == listed
