"""A machine's time of day can be set, forward or back: nothing that waits, or gives up, goes by it.

What else needs it is listed here, with why. (``time.monotonic`` and its kin do not run backwards.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

RUNTIME = Path(__file__).resolve().parents[2] / "runtime" / "paddle"
OF_DAY = {
    *(("time", "time"), ("time", "time_ns")),
    *(("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today")),
}
ALLOWED = {
    "_launch/agent/cleaner.py": "the age of files that a day protects",
    "_launch/agent/receiver.py": "when a file was last used, for who clears up",
    "_launch/agent/survey.py": "what a node's clock shows, for `fab check`",
    "_launch/backends/crew.py": "since when a certificate is good",
    "_launch/cli.py": "the name of a job, and lines with the time of day",
    "_launch/digests.py": "whether a file has changed since it was looked at, by its own times",
    "_launch/jobs/desk.py": "when something was told, for people",
    "_launch/jobs/register.py": "when a job began, for people",
    "_launch/kubernetes/whole.py": "since when a certificate is good",
    "_launch/machines/mpi.py": "since when a certificate is good",
    "_launch/nodes/checking.py": "by how much a node's clock differs, for `fab check`",
    "_launch/screens/lines.py": "lines with the time of day",
    "_launch/upkeep/commands.py": "the age of what is shown, for people",
}


def looks(tree: ast.AST) -> Iterator[str]:
    """Where the time of day is named, and as what."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = (
                node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            )
            if (owner, node.attr) in OF_DAY:
                yield f"{node.lineno} {owner}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            found = (alias.name for alias in node.names if (node.module, alias.name) in OF_DAY)
            yield from (f"{node.lineno} {node.module}.{name}" for name in found)


def test_who_looks_at_the_time_of_day_is_listed_with_why_and_no_parameter_server_is() -> None:
    found = {
        str(path.relative_to(RUNTIME)): places
        for path in sorted(RUNTIME.rglob("*.py"))
        if (places := list(looks(ast.parse(path.read_text()))))
    }
    assert found.keys() == ALLOWED.keys(), found
    assert not [path for path in found if not path.startswith("_launch/")]


@pytest.mark.parametrize(
    "text",
    [
        "time.time()",
        "from time import time",
        "datetime.now()",
        "datetime.datetime.now()",
        "f(clock=time.time_ns)",
    ],
)
def test_every_way_to_look_is_seen(text: str) -> None:
    assert list(looks(ast.parse(text)))
    assert not list(looks(ast.parse("time.monotonic()")))
