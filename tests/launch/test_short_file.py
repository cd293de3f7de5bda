"""Files that users name, and what is none."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from paddle._launch import short_file
from paddle._launch.errors import SettingsError
from paddle._launch.settings import read_conf


def test_a_file_is_read_and_so_is_a_pipe_to_its_end(tmp_path: Path) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_bytes(b"x" * 200_000)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[b"y" * 200_000])
    writer.start()
    assert short_file.read(file) == b"x" * 200_000
    assert short_file.read(pipe) == b"y" * 200_000
    writer.join()
    file.write_bytes(b"")
    assert short_file.read(file) == b""


def test_a_pipe_that_nobody_writes_to_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"nobody has written to it for 0\.01 s"):
        short_file.read(tmp_path / "pipe", patience_s=0.01)


def test_a_pipe_that_somebody_holds_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    waits: list[float] = []
    writer = os.open(tmp_path / "pipe", os.O_RDWR)

    class Poll:
        def register(self, descriptor: int, what: int) -> None: ...

        def poll(self, within_ms: float) -> list[tuple[int, int]]:
            waits.append(within_ms)
            if len(waits) == 3:
                os.write(writer, b"late")
            elif len(waits) == 6:
                os.close(writer)
            return [(0, 1)] if len(waits) in (3, 6) else []

    monkeypatch.setattr("select.poll", Poll)
    assert short_file.read(tmp_path / "pipe", patience_s=0.01) == b"late"
    assert waits == [10.0] * 6


def test_what_has_no_end_is_refused_as_settings(tmp_path: Path) -> None:
    with (tmp_path / "long").open("wb") as file:
        file.truncate(1 << 40)
    for path in (Path("/dev/zero"), tmp_path / "long"):
        with pytest.raises(SettingsError, match=f"{path}: it has more than 4,194,304 bytes. Give another"):
            read_conf(path)
    with pytest.raises(SettingsError, match="Is a directory"):
        read_conf(tmp_path)
