"""What `fab clean` shows and asks before it removes anything, here of jobs of local nodes; and refusals."""

from __future__ import annotations

import io
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.errors import FlagError, UsageError
from paddle._launch.upkeep import commands

JOB = "JOB20261122044733"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """As they were before a task answered them."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    log = tmp_path / "jobs" / JOB / "node-0" / "log"
    log.mkdir(parents=True)
    (log / "agent.log").write_text("")
    (tmp_path / "jobs" / "mine").mkdir()
    (tmp_path / "conf.py").write_text("HOSTS = ['local', 'local']\n")
    return tmp_path / "conf.py"


def clean(conf: Path, *, form: str = "text", yes: bool = False, dry_run: bool = False) -> int:
    return commands.clean(str(conf), "", form, is_all=False, yes=yes, dry_run=dry_run)


def jobs(conf: Path) -> list[str]:
    return sorted(path.name for path in (conf.parent / "jobs").iterdir())


@pytest.mark.parametrize(("answer", "is_gone"), [("y\n", True), ("n\n", False), ("", False)])
def test_on_a_terminal_it_asks(conf, capsys, monkeypatch, answer: str, is_gone: bool) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    assert clean(conf) == (not is_gone)
    said = capsys.readouterr().out
    assert f"    {JOB}  " in said
    assert "[y/N] " in said
    assert jobs(conf) == (["mine"] if is_gone else [JOB, "mine"])


def test_elsewhere_nothing_is_removed_unless_that_was_said(conf, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert clean(conf) == 1
    assert "nothing was removed: nobody said yes (--yes does)" in capsys.readouterr().out
    assert clean(conf, dry_run=True, yes=True) == 0
    assert capsys.readouterr().out.endswith("nothing was removed\n")
    assert jobs(conf) == [JOB, "mine"]
    assert clean(conf, yes=True) == 0
    assert jobs(conf) == ["mine"]
    assert clean(conf) == 0
    assert "there is nothing to remove" in capsys.readouterr().out


def test_programs_read_objects(conf, capsys) -> None:
    assert clean(conf, form="json", yes=True) == 0
    there, removed = map(json.loads, capsys.readouterr().out.splitlines())
    assert (there["event"], [one["path"] for one in there["goes"]]) == ("there", [JOB])
    assert (removed["event"], removed["removed"], removed["left"]) == ("removed", [JOB], [])


def test_what_cannot_be_is_refused_before_anything_is_done(tmp_path, conf, capsys) -> None:
    with pytest.raises(FlagError, match="xml"):
        clean(conf, form="xml")
    assert commands.install(str(conf), "", "text", "", fresh=False) == 0
    assert f"jobs run with {sys.executable}: there is nothing to install" in capsys.readouterr().out
    conf.write_text("HOSTS = ['root@n1']\nROOT_DIR = '/srv/jobs'\nNODE_PYTHON = '/opt/python'\n")
    with pytest.raises(
        UsageError, match=r"NODE_PYTHON in conf.py: jobs run with /opt/python.*--python=/opt/python"
    ):
        commands.install(str(conf), "", "text", "", fresh=False)
    conf.write_text("HOSTS = ['root@n1']\nROOT_DIR = 'jobs'\n")
    with pytest.raises(UsageError, match="must begin with /"):
        commands.install(str(conf), "", "text", "", fresh=False)
