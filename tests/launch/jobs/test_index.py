"""Which job is meant, whether it runs, and who may look."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import msgspec
import pytest

from paddle._launch.errors import JobError, UsageError
from paddle._launch.jobs import commands
from paddle._launch.jobs import index as of_jobs
from paddle._launch.jobs.index import Index, Standing, choose
from paddle._launch.jobs.launcher import this_one
from paddle._launch.jobs.record import read_record, read_state


def test_what_is_kept_is_read_as_it_was_written(keep) -> None:
    job = keep()
    assert read_record(job.folder) == job.record
    state = read_state(job.folder)
    assert state is not None
    assert [row.role for row in state.rows] == ["pserver-0", "pserver-1", "trainer-0", "trainer-1"]


def test_nobody_else_can_enter_or_read(keep, index) -> None:
    before = os.umask(0)
    try:
        job = keep()
    finally:
        os.umask(before)
    assert stat.S_IMODE(index.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(job.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in job.folder.iterdir()} == {0o600}


def test_a_folder_that_others_may_enter_is_closed_to_them(keep, index) -> None:
    index.folder.mkdir(parents=True)
    index.folder.chmod(0o755)
    keep()
    assert stat.S_IMODE(index.folder.stat().st_mode) == 0o700


def test_a_launcher_is_its_number_and_its_start_together(keep, gone) -> None:
    assert this_one().lives and not gone.lives
    assert not msgspec.structs.replace(this_one(), boot="another").lives
    assert keep("JOB1").standing is Standing.RUNS
    assert keep("JOB2", launcher=gone).standing is Standing.LOST
    assert keep("JOB3", launcher=gone, exit_status=0).standing is Standing.ENDED
    away = msgspec.structs.replace(this_one(), machine="elsewhere")
    assert keep("JOB4", launcher=away).standing is Standing.ELSEWHERE


def test_a_process_that_got_a_launchers_number_is_not_signalled(gone) -> None:
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    try:
        gone.signal(signal.SIGUSR1)
        assert heard == []
        this_one().signal(signal.SIGUSR1)
        assert heard == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_the_only_one_that_runs_is_meant_and_of_several_none(keep, index, gone, tmp_path: Path) -> None:
    conf = tmp_path / "conf.py"
    keep("JOB1", launcher=gone)
    one = keep("JOB2")
    keep("JOB3", conf="other.py")
    assert choose(index.jobs(), "", conf, what="stop", running=True) == one
    keep("JOB4")
    with pytest.raises(JobError, match=r"2 jobs of .*conf.py run: JOB2-aa, JOB4-aa. Say which one to stop"):
        choose(index.jobs(), "", conf, what="stop", running=True)
    assert choose(index.jobs(), "JOB3", conf, what="stop", running=True).record.name == "JOB3"
    with pytest.raises(JobError, match="no job JOB9 of this user; the newest are JOB2-aa, JOB3-aa, JOB4-aa"):
        choose(index.jobs(), "JOB9", conf, what="stop", running=True)


def test_where_none_runs_the_newest_is_shown_and_none_stopped(keep, index, gone, tmp_path: Path) -> None:
    conf = tmp_path / "conf.py"
    keep("JOB2", launcher=gone, began=5.0)
    keep("JOB1", exit_status=0, began=9.0)
    keep("JOB3", conf="other.py")
    assert choose(index.jobs(), "", conf, what="show", running=False).record.name == "JOB1"
    with pytest.raises(
        JobError, match=r"nothing to stop\. Of other settings files there are JOB3-aa: --job="
    ):
        choose(index.jobs(), "", conf, what="stop", running=True)


def test_a_record_that_is_damaged_or_of_another_release_is_none(keep, index) -> None:
    job, other = keep("JOB1"), keep("JOB2")
    (job.folder / "job.json").write_text('{"format": 1}')
    text = (other.folder / "job.json").read_text().replace('"format":1', '"format":2')
    (other.folder / "job.json").write_text(text)
    assert index.jobs() == []


def test_old_records_are_forgotten_but_never_those_of_jobs_that_run(keep, index, monkeypatch) -> None:
    monkeypatch.setattr(of_jobs, "MOST", 3)
    keep("JOB0", began=0.0)
    for number in range(1, 6):
        keep(f"JOB{number}", exit_status=0, began=float(number))
    assert [job.record.name for job in index.jobs()] == ["JOB0", "JOB3", "JOB4", "JOB5"]


def test_records_that_cannot_be_read_are_not_taken_for_none(index, keep, monkeypatch) -> None:
    keep()

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(JobError, match=r"cannot read .*: Permission denied. They are for the user"):
        index.jobs()


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ([], "was started by this user, so there is nothing to show. `fab start DIR` starts one"),
        (["other.py"], "was started by this user, so there is nothing to show. `fab status --all` shows all"),
    ],
)
def test_who_has_no_job_hears_what_there_is(
    keep, index, tmp_path: Path, known: list[str], words: str
) -> None:
    for conf in known:
        keep(conf=conf, exit_status=0)
    with pytest.raises(JobError, match=words):
        choose(index.jobs(), "", tmp_path / "conf.py", what="show", running=False)


def test_a_state_home_that_is_not_absolute_is_none() -> None:
    home = Path("~/.local/state/paddle-fabric/jobs").expanduser()
    assert Index({"XDG_STATE_HOME": "here"}).folder == home
    assert Index({}).folder == home


def test_who_has_neither_a_name_nor_a_home_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs as a number."""

    def nobody(*_: object) -> None:
        raise KeyError

    for name in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert commands._user() == f"user {os.getuid()}"
    with pytest.raises(UsageError, match=r"nothing says which folder is your home.* Set HOME to a folder"):
        Index({})
    assert Index({"XDG_STATE_HOME": "/state"}).folder == Path("/state/paddle-fabric/jobs")
