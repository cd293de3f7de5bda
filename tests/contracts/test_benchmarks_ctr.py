"""``ctr``: jobs that are ordered and measured from outside, with processes that train nothing."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ctr.contender import PROGRAMS
from benchmarks.ctr.job import Job, JobError, peak_bytes

PART = """
import sys
sys.path.insert(0, {programs!r})
from orders import Orders
orders = Orders({role!r})
if {role!r} == "server":
    orders._lines.read()
else:
    orders.tell(first=0.5, facts=dict(of="nothing"))
    orders.tell(ready=0.25)
    {then}
"""
OBEYS = 'orders.obey(lambda: sum(range(1000000)) and open("done", "a").write("."))'


@pytest.fixture
def begin():
    """``begin(then)``: what starts a server and two workers, which do that once they are ready."""

    def of(then: str = OBEYS):
        def start(told, folder: Path):
            sources = [
                PART.format(programs=str(PROGRAMS), role=role, then=then)
                for role in ("server", "worker", "worker")
            ]
            with (folder / "words.log").open("wb") as log:
                started = [
                    subprocess.Popen(
                        [sys.executable, "-c", source], env={**os.environ, **told}, cwd=folder, stderr=log
                    )
                    for source in sources
                ]
            begun.extend(each.pid for each in started)
            return started

        return start

    begun: list[int] = []
    of.begun = begun
    return of


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_a_job_trains_as_it_is_ordered_and_all_its_processes_are_measured(begin):
    job = Job(3, begin(), {})
    try:
        assert (len(job.servers), len(job.workers)) == (1, 2)
        assert {*job.servers, *job.workers} == set(job.pids) == set(begin.begun)
        assert [said["first"] for said in job.first] == [0.5, 0.5]
        assert [said["ready"] for said in job.ready()] == [0.25, 0.25]
        before = job.cpu_s()
        job.train(3)
        assert job.settled_cpu_s() > before
        assert (job._path / "done").read_text() == "." * 6
        assert peak_bytes(job.workers) > 1 << 20
        folder = job._path
    finally:
        job.close()
    assert all(map(gone, begin.begun))
    assert not folder.exists()


def test_a_job_that_fails_says_its_last_words_and_leaves_nothing(begin):
    job = Job(3, begin('raise RuntimeError("no such luck")'), {})
    job.ready()
    with pytest.raises(JobError, match=r"(?s)a worker ended.*no such luck"):
        job.train(1)
    job.close()
    assert all(map(gone, begin.begun))


def test_a_job_that_does_not_begin_is_an_error(begin):
    def nothing(told, folder):
        (folder / "launcher.log").write_text("there is no such program")
        return [subprocess.Popen([sys.executable, "-c", ""])]

    with pytest.raises(JobError, match=r"(?s)ended before it began.*no such program"):
        Job(3, nothing, {})


@pytest.mark.parametrize("program", sorted(path.name for path in PROGRAMS.glob("*.py")))
def test_what_peers_run_is_text_of_their_python(program):
    ast.parse((PROGRAMS / program).read_text(), feature_version=(3, 7))
