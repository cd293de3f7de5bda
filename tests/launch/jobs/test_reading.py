"""Lines of a job: from files, chosen, and fit for a terminal; and how a job is described."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from paddle._launch.agent.stragglers import of_job
from paddle._launch.arguments import Arguments
from paddle._launch.errors import UsageError
from paddle._launch.jobs import commands
from paddle._launch.jobs.looking import as_json, headline, in_words, look
from paddle._launch.jobs.reading import RoleLine, choice, lines
from paddle._launch.jobs.resumption import resumed
from paddle._launch.jobs.stopping import stop
from paddle._launch.results.tenancy import settle
from paddle._launch.screens.merged import Heads

ALL = choice(tail=None, role="", grep="")


@pytest.fixture
def ended(keep, gone, tmp_path: Path):
    """A job that is over, of which node 0 was collected and node 1 was not."""
    job = keep("JOB1", launcher=gone, exit_status=0)
    log = tmp_path / "log" / "node-0"
    log.mkdir(parents=True)
    (log / "server.log").write_text("serves\n")
    (log / "train.log").write_text("one\n\x1b[2Jtwo\nthree")
    log = tmp_path / "jobs" / "JOB1" / "node-1" / "log"
    log.mkdir(parents=True)
    (log / "train.log").write_bytes(b"one\xff\nfour\n")
    return job


def test_the_lines_of_files_come_role_by_role_from_where_they_are(ended) -> None:
    assert list(lines(ended, ALL, follow=True)) == [
        RoleLine("pserver-0", "serves"),
        RoleLine("trainer-0", "one"),
        RoleLine("trainer-0", "\x1b[2Jtwo"),
        RoleLine("trainer-0", "three"),
        RoleLine("trainer-1", "one\ufffd"),
        RoleLine("trainer-1", "four"),
    ]


def test_a_tail_is_the_last_of_each_role_that_is_found(ended) -> None:
    last = lines(ended, choice(tail=1, role="", grep=""), follow=False)
    assert [line.text for line in last] == ["serves", "three", "four"]
    found = lines(ended, choice(tail=2, role="trainer-0", grep="^t"), follow=False)
    assert [line.text for line in found] == ["three"]


def test_logs_of_another_job_are_never_shown_as_those_of_this_one(ended, tmp_path: Path) -> None:
    settle(tmp_path, "JOB2-bb")
    assert [line.text for line in lines(ended, ALL, follow=False)] == ["one\ufffd", "four"], (
        "of its workspace"
    )
    shutil.rmtree(tmp_path / "jobs")
    (said,) = lines(ended, ALL, follow=False)
    assert said.text.startswith(f"{tmp_path / 'log'} has the logs of JOB2-bb by now; those of JOB1-aa are")
    settle(tmp_path, "JOB1-aa")
    shutil.rmtree(tmp_path / "log")
    (said,) = lines(ended, ALL, follow=False)
    assert said.text.startswith(f"JOB1 has left no logs in {tmp_path / 'log'}")


def test_no_byte_of_a_line_is_obeyed_and_its_role_stands_before_it(ended) -> None:
    heads = Heads(ended.record.plan)
    assert heads.line("trainer-0", "\x1b[2Jtwo", is_coloured=False) == "[trainer-0 127.0.0.1] two"
    assert heads.line("", "left out", is_coloured=True) == "left out"
    roles = ("pserver-0", "pserver-1", "trainer-0", "trainer-1")
    assert heads.line("trainer-1", "x", is_coloured=True) == "\x1b[35m[trainer-1 127.0.0.2]\x1b[0m x"
    assert len({heads.line(role, "", is_coloured=True)[:5] for role in roles}) == 4


@pytest.mark.parametrize(("tail", "grep"), [("0", ""), ("-3", ""), ("all", ""), ("1", "("), ("1", "[")])
def test_a_choice_that_cannot_be_is_refused(tail: str, grep: str) -> None:
    with pytest.raises(UsageError, match=r"--tail|--grep"):
        commands.logs("", "", "", tail, grep, follow=False)


def test_a_job_is_described_in_words_and_as_json(keep, gone) -> None:
    lost = look(keep("JOB1", launcher=gone))
    assert "lost in phase train: its launcher" in headline(lost)
    text = "\n".join(in_words(lost))
    assert "--resume=JOB1" in text and "was: waits" in text
    fields = json.loads(as_json(lost))
    assert (fields["standing"], fields["id"], len(fields["rows"])) == ("lost", "JOB1-aa", 4)
    hung = look(keep("JOB2"))  # this process lives, and has no desk
    assert "does not answer" in hung.trouble
    assert "how it stood when that was last written" in "\n".join(in_words(hung))
    assert headline(look(keep("JOB3", exit_status=7))).startswith("JOB3: ended with status 7")


def test_what_has_ended_is_not_stopped_and_what_is_elsewhere_cannot_be(keep, gone) -> None:
    words = list(stop(keep("JOB1", exit_status=0), grace_s=None, kill=False, by=""))
    assert words == ["JOB1 has ended already, with status 0"]
    assert of_job("JOB1-aa") == []
    lost = list(stop(keep("JOB2", launcher=gone), grace_s=None, kill=True, by=""))
    assert lost[-1] == "no process of it is left on this machine"


def test_who_goes_on_has_the_flags_and_arguments_of_before_but_for_those_given_anew(
    keep, gone, tmp_path: Path
) -> None:
    job = keep("JOB1", launcher=gone)
    for node in job.record.plan.nodes:
        node.workspace.mkdir(parents=True)
    given = Arguments(values={"resume": "JOB1", "port": 8000}, others=("--steps=9", "--more"))
    found = resumed(given, job)
    assert found.others == ("--steps=9", "--more")
    assert found.values["port"] == 8000
    assert found.values["hosts"] == ("local", "local")
    assert found.values["job_workspace"] == str(tmp_path / "jobs" / "JOB1")
    assert resumed(Arguments(values={}), job).others == ("--steps=3",)
