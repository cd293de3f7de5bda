"""What the tasks of `fab` give the launcher that takes their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddle._launch.errors import UsageError
from paddle._launch.jobs import commands


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(commands, "_launch", found.extend)
    return found


def test_settings_that_come_from_a_pipe_of_the_shells_keep_its_name(launched: list[str]) -> None:
    receiver, sender = os.pipe()
    try:
        commands.start("package", "", f"/dev/fd/{receiver}", detach=False)
    finally:
        os.close(receiver)
        os.close(sender)
    assert launched == [f"--conf=/dev/fd/{receiver}", "--job_dispatch_package=package"]


def test_a_settings_file_is_named_as_it_is_wherever_from(
    launched: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real.py").write_text("")
    (tmp_path / "conf.py").symlink_to("real.py")
    monkeypatch.chdir(tmp_path)
    commands.start("package", "--port=8000 -p", "conf.py", detach=True)
    named = f"--conf={(tmp_path / 'real.py').resolve()}"
    assert launched == [named, "--job_dispatch_package=package", "--detach", "--port=8000", "-p"]


@pytest.mark.parametrize("typed", ["--help", "-h", "--no-detach"])
def test_a_flag_in_the_place_of_the_package_is_told_with_where_help_is(
    launched: list[str], typed: str
) -> None:
    with pytest.raises(UsageError, match=f"^{typed} is no folder: .*`fab --help start` shows"):
        commands.start(typed, "", "", detach=True)
    assert launched == []
