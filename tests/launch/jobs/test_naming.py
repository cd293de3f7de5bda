"""Names of jobs whose folders are on other machines."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch.jobs import naming
from paddle._launch.jobs.index import Index
from paddle._launch.jobs.naming import Naming
from paddle._launch.jobs.record import write_record
from tests.fresh import ROOT
from tests.launch.jobs.conftest import record
from tests.waiting import PATIENCE_S

HOLDS = """
import sys
from pathlib import Path
from paddle._launch.jobs.index import Index
from paddle._launch.jobs.naming import Naming
assert Naming(Index({"XDG_STATE_HOME": sys.argv[1]})).is_free(Path("/srv/JOB1"))
print("held", flush=True)
input()
"""


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index({"XDG_STATE_HOME": str(tmp_path)})


def free(index: Index, name: str = "JOB1") -> bool:
    one = Naming(index)
    try:
        return one.is_free(Path("/srv") / name)
    finally:
        one.release()


def test_a_name_is_taken_once_a_launch_has_a_record_and_nothing_else_is_kept(index, tmp_path) -> None:
    assert free(index)
    made = record(tmp_path)
    write_record(index.add(made.id), made)
    assert not free(index)
    assert free(index, "JOB2")
    assert [path.name for path in (tmp_path / "paddle-fabric").iterdir()] == ["jobs"]
    assert [path.name for path in index.folder.iterdir()] == [made.id]


def test_who_chooses_is_alone_and_a_killed_one_is_not_waited_for(index, tmp_path, monkeypatch) -> None:
    waited: list[float] = []
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=-1, stdout=-1, text=True, env=environ
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"

        def wait(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) == 3:
                other.send_signal(signal.SIGKILL)
                other.wait()

        monkeypatch.setattr(naming, "_PATIENCE_S", PATIENCE_S)
        monkeypatch.setattr(naming.time, "sleep", wait)
        assert free(index)
    assert len(waited) >= 3


def test_one_that_stands_still_keeps_others_waiting_for_a_while_only(index, monkeypatch) -> None:
    first = Naming(index)
    assert first.is_free(Path("/srv/JOB1"))
    monkeypatch.setattr(naming, "_PATIENCE_S", 0.05)
    assert free(index)
    first.release()


def test_where_nothing_can_be_kept_names_are_free(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    assert free(Index({"XDG_STATE_HOME": str(tmp_path / "file")}))
