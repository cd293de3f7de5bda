"""The folder of a part's agent."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from paddle._launch.parts import premises


def test_what_clears_up_old_files_leaves_it_alone_while_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As systemd-tmpfiles does, which passes over what somebody has locked."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with premises.workspace("paddle-") as folder:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
    assert not list(tmp_path.iterdir())
