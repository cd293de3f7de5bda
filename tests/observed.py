"""What tests bind: the operators whose kernels they have made, with which attributes, and of which gradients;
which operators, and gradients, were computed on the host between two plans; and which were lowered.

A plugin of pytest notes it, where a file is named to write it to. ``observe`` runs tests so, in a process of
their own: a test that says that others check something knows by that whether they are there, pass, and do it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from paddle._engine import registry
from paddle._engine.program import Operator
from paddle._program.lowering import op_rows

ROOT = Path(__file__).resolve().parents[1]
TO_FILE = "PADDLE_TESTS_OBSERVED"

_bound: list[Operator] = []
_hosted: set[str] = set()
_lowered: set[str] = set()


@dataclass
class Observed:
    """Of tests: the operators, a gradient being one of its own, and values of attributes, by operator and
    name. ``on_host``: the operators, and gradients, of programs that were computed between two plans.
    ``lowered``: those of programs that were lowered to some of the engine."""

    operators: set[str] = field(default_factory=set)
    attributes: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    on_host: set[str] = field(default_factory=set)
    lowered: set[str] = field(default_factory=set)


def observe(nodes: Iterable[str]) -> dict[str, Observed]:
    """Run tests, each named as pytest names it, from ``tests`` on; a test that is given many values is one.
    Raises AssertionError where one is not there, or does not pass."""
    nodes = sorted(set(nodes))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "observed.json"
        environ = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.observed"]
        done = subprocess.run(
            [*command, *(f"tests/{node}" for node in nodes)],
            cwd=ROOT,
            env=environ | {TO_FILE: str(path), "PYTHONPATH": str(ROOT / "runtime")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        noted = json.loads(path.read_text())
    return {node: _together(noted, f"tests/{node}") for node in nodes}


def _together(noted: dict[str, Any], node: str) -> Observed:
    found = Observed()
    own = [operators for name, operators in noted.items() if name.partition("[")[0] == node]
    found.on_host.update(*(each["host"] for each in own))
    found.lowered.update(*(each["lowered"] for each in own))
    for type, attrs in chain.from_iterable(each["bound"] for each in own):
        found.operators.add(type)
        for key, value in attrs.items():
            found.attributes[type, key].add(value)
    return found


_noted: dict[str, dict[str, Any]] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Of each test what it binds."""
    _bound.clear()
    _hosted.clear()
    _lowered.clear()
    result = yield
    kept = {
        (each.type, tuple(sorted((key, repr(value)) for key, value in each.attrs.items()))) for each in _bound
    }
    bound = [(type, dict(attrs)) for type, attrs in sorted(kept)]
    _noted[item.nodeid] = {"bound": bound, "host": sorted(_hosted), "lowered": sorted(_lowered)}
    return result


def pytest_sessionfinish() -> None:
    """Written when all have run."""
    if path := os.environ.get(TO_FILE):
        Path(path).write_text(json.dumps(_noted))


def _watch() -> None:
    """From before the rows of programs' operators are loaded."""
    make, register = registry.Call.__init__, op_rows._register

    def noting(self: Any, operator: Operator, *arguments: Any, **named: Any) -> None:
        _bound.append(operator)
        make(self, operator, *arguments, **named)

    def noted(kept: set[str], name: str, rule: Any) -> Any:
        def noting_type(*arguments: Any) -> None:
            kept.add(name)
            rule(*arguments)

        return noting_type

    def registering(type: str, attrs: Any, **rules: Any) -> None:
        back = f"{type}{op_rows.GRADIENT_OF}"
        kept = {"host": (_hosted, type), "back": (_hosted, back), "lower": (_lowered, type)}
        told = {key: noted(*kept[key], rule) if key in kept else rule for key, rule in rules.items()}
        register(type, attrs, **told)

    registry.Call.__init__ = noting  # type: ignore[method-assign]
    op_rows._register = registering


if TO_FILE in os.environ:
    _watch()
