"""A master's state on a real disk: what lasts when a save is over (the rest: test_tasks_master.py)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddle._pserver.tasks.messages import State
from paddle._pserver.tasks.state_file import StateFile


def test_a_state_that_is_renamed_was_flushed_before_and_its_name_is_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    really_flush, really_rename = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        told.append(f"flush {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
        really_flush(descriptor)

    def replace(self: Path, target: Path) -> Path:
        told.append(f"rename {self.name}")
        return really_rename(self, target)

    folder = tmp_path / "kept"
    folder.mkdir()
    file = StateFile(folder / "state")
    file.open()
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    file.save(State(pass_id=1))
    assert told == ["flush state.new", "rename state.new", "flush kept"]
