"""Where no lab can stand, tests that want one are left out and say why; where CI is set they fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.lab import ground
from tests.lab.lab import Lab
from tests.lab.machine import ROOT

LACKING = ("there is no sshd (package openssh-server)",)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ground, "SYSTEM_PATHS", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert LACKING[0] in ground.find_missing()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert ground.find_missing() == ("namespaces of a whole machine are made by root only",)


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("yes", pytest.fail.Exception)])
def test_a_test_is_left_out_with_a_reason_and_fails_in_continuous_integration(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(ground, "missing", lambda: LACKING)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no cluster can be made here: there is no sshd"):
        ground.require()


def test_no_lab_is_begun_where_it_cannot_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ground, "missing", lambda: LACKING)
    with pytest.raises(RuntimeError, match="there is no sshd"):
        Lab(1)


def test_the_script_of_tests_installs_what_a_lab_needs() -> None:
    script = (ROOT / "packages.sh").read_text()
    assert [need for need in map(":".join, ground.PROGRAMS.items()) if need not in script] == []
