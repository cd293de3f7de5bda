"""docs/jobs.md lists every event and field that programs read, and every task and option of fab."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from paddle._launch.board import Row
from paddle._launch.bulletins import NAMES
from paddle._launch.jobs.record import State

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "jobs.md").read_text()
EVENTS = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
TOLD = list(NAMES)


@pytest.mark.parametrize("kind", TOLD, ids=lambda kind: NAMES[kind])
def test_an_event_is_listed_with_all_its_fields(kind: type) -> None:
    words = set(re.findall(r"`(\w+)`", EVENTS[NAMES[kind]]))
    assert {field.name for field in fields(kind)} <= words


def test_no_other_event_is_listed() -> None:
    assert set(EVENTS) == {NAMES[kind] for kind in TOLD}


def test_all_that_is_told_of_a_job_is_listed() -> None:
    words = set(re.findall(r"`(\w+)`", PAGE))
    assert {field.name for field in fields(Row)} <= words
    assert set(State.__struct_fields__) <= words


def test_every_task_and_every_option_that_it_names_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from fabfile import job

    tasks = {name: body for name, body in vars(job).items() if hasattr(body, "called")}
    listed = dict(re.findall(r"^\| `fab (\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert set(listed) | {"start"} == set(tasks)
    for name, text in listed.items():
        options = set(re.findall(r"`--(\w+)", text)) - {"resume", "detach"}
        taken = set(inspect.signature(tasks[name].body).parameters)
        assert options <= taken, name
    for name in [name for name in sys.modules if name.split(".")[0] == "fabfile"]:
        del sys.modules[name]
