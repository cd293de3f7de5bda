"""Jobs in the background, looked at, read and stopped from other shells; what is not theirs is left alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.agent.processes import look_up
from paddle._launch.agent.stragglers import of_job
from paddle._launch.backends import carrier
from paddle._launch.jobs import collecting, reading
from paddle._launch.jobs.index import Index, Job
from paddle._launch.jobs.looking import in_words, look
from paddle._launch.jobs.stopping import stop
from tests.cluster.by_hand import HOSTS, environment, free_port
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
SAYS = """
import json, os, threading
def report(batch):
    told = {"report": "progress", "pass_id": 0, "batch_id": batch, "cost": 1 / (batch + 1)}
    os.write(descriptor, json.dumps(told | {"samples_per_s": 9}).encode() + bytes([10]))
descriptor = int(os.environ["PADDLE_REPORT_FD"])
me = os.environ["PADDLE_INIT_TRAINER_ID"]
"""
TRAINS = (
    SAYS
    + """
for batch in range(100000):
    report(batch)
    print(f"trainer {me} batch {batch}\\n", end="", flush=True)  # at once: it may be killed anywhere
    threading.Event().wait(0.05)
"""
)
FAILS = "import sys\nprint('no data here', flush=True)\nsys.exit(7)\n"
SILENT = "import signal\nprint('begun', flush=True)\nsignal.pause()\n"


class Shell:
    """A folder with a conf.py and packages, and the shells that start, watch and stop jobs of it."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder = folder
        self.index = Index({"XDG_STATE_HOME": str(state)})
        self.environ = environment(XDG_STATE_HOME=str(state))
        self.processes: list[subprocess.Popen[str]] = []
        (folder / "conf.py").write_text("HOSTS = ['local', 'local']\n")

    def launch(
        self, package: str, train: str, *argv: str, errors: int = subprocess.STDOUT
    ) -> subprocess.Popen[str]:
        """Start a launcher."""
        (self.folder / package).mkdir(exist_ok=True)
        (self.folder / package / "train.py").write_text(train)
        command = [sys.executable, str(ROOT / "paddle.py"), f"--conf={self.folder / 'conf.py'}"]
        place = [f"--port={free_port(HOSTS)}", "-p", str(self.folder / package)]
        self.processes.append(self._run([*command, *place, *argv], self.folder, errors))
        return self.processes[-1]

    def detached(self, package: str, train: str = TRAINS, *argv: str) -> Job:
        """Start a job, and come back when it trains in the background."""
        known = {job.record.id for job in self.index.jobs()}
        launcher = self.launch(package, train, "--detach", *argv)
        output, _ = launcher.communicate(timeout=PATIENCE_S)
        assert launcher.returncode == 0, output
        (job,) = [job for job in self.index.jobs() if job.record.id not in known]
        assert f"{job.record.name} continues in the background, process {job.record.launcher.pid}" in output
        until(lambda: self._trains(job), "a step of each trainer: the first one's will do to leave it")
        return job

    @staticmethod
    def _trains(job: Job) -> bool:
        rows = [row for row in job.state.rows if row.kind == "trainer"] if job.state else []
        return bool(rows) and all((row.batch_id or 0) > 1 for row in rows)

    def fab(self, task: str, *argv: str, cwd: Path = ROOT, status: int = 0) -> str:
        """Run a task to its end; gives what it printed."""
        task_of = [sys.executable, "-m", "fabric", task, f"--conf={self.folder / 'conf.py'}", *argv]
        process = self._run(task_of, cwd)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == status, output
        return output

    def _run(
        self, command: list[str], folder: Path, errors: int = subprocess.STDOUT
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def clean_up(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()
        for job in self.index.jobs():
            job.record.launcher.signal(signal.SIGKILL)
            until(lambda job=job: not of_job(job.record.id), "agents that end it", PATIENCE_S)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, tmp_path / "state")
    yield shell
    shell.clean_up()


def seen(shell: Shell, job: Job) -> dict[str, Any]:
    """What `fab status` says of a job to a program."""
    found: dict[str, Any] = json.loads(shell.fab("status", f"--job={job.record.name}", "--format=json"))
    return found


def test_of_two_jobs_one_is_stopped_from_another_shell_and_the_other_is_untouched(shell: Shell) -> None:
    first, second = shell.detached("one"), shell.detached("two")
    (shell.folder / "train.py").write_text(SILENT)
    foreign = subprocess.Popen([sys.executable, "-u", "train.py"], cwd=shell.folder)  # named as trainers are
    others = of_job(second.record.id)
    refused = shell.fab("stop", status=1)
    assert first.record.id in refused and second.record.id in refused and "--job=" in refused
    assert all(job.record.launcher.lives for job in (first, second))
    output = shell.fab("stop", f"--job={first.record.name}", cwd=ROOT / "docs")
    assert f"stopped {first.record.name}: it ended with status 143" in output
    assert of_job(first.record.id) == [] and not first.record.launcher.lives
    assert (shell.folder / "one" / "log" / "node-1" / "train.log").exists()
    assert of_job(second.record.id) == others and second.record.launcher.lives
    assert foreign.poll() is None
    foreign.kill()
    foreign.wait()
    assert f"stopped {second.record.name}" in shell.fab("stop")
    assert of_job(second.record.id) == []
    assert "nothing to stop" in shell.fab("stop", status=1)


def test_a_job_in_the_background_is_seen_read_and_followed_to_its_end(shell: Shell) -> None:
    job = shell.detached("package")
    found = seen(shell, job)
    assert (found["standing"], found["phase"], found["pid"]) == ("runs", "train", job.record.launcher.pid)
    rows = {row["role"]: row for row in found["rows"]}
    assert [rows[name]["state"] for name in ("pserver-0", "pserver-1", "trainer-0")] == [
        "serves",
        "serves",
        "trains",
    ]
    assert rows["trainer-0"]["cost"] <= 1.0
    assert "runs, phase train" in shell.fab("status")
    lines = shell.fab("logs", "--tail=3", "--grep=batch").splitlines()
    assert len(lines) == 3
    form = re.compile(r"\[trainer-([01]) 127\.0\.0\.[12]\] trainer \1 batch \d+")
    assert all(map(form.fullmatch, lines))
    only = shell.fab("logs", "--role=trainer-1", "--grep=batch 1$").splitlines()
    assert only == ["[trainer-1 127.0.0.2] trainer 1 batch 1"]
    assert "there are pserver-0" in shell.fab("logs", "--role=chief", status=1)
    assert "not a regular expression" in shell.fab("logs", "--grep=(", status=2)
    reader = shell._run(
        [sys.executable, "-m", "fabric", "logs", f"--conf={shell.folder / 'conf.py'}", "--follow"], ROOT
    )
    assert reader.stdout is not None
    reader.stdout.readline()
    shell.fab("stop")
    rest, _ = reader.communicate(timeout=PATIENCE_S)
    assert reader.returncode == 0
    assert "trainer 0 batch" in rest
    found = seen(shell, job)
    assert (found["standing"], found["exit_status"]) == ("ended", 143)
    assert found["failed"]["text"].startswith("stopped by fab stop (")
    assert found["log"] == str(shell.folder / "package" / "log")
    launcher_log = (shell.folder / "package" / "log" / "launcher.log").read_text()
    assert launcher_log.splitlines()[-1].startswith("ended with status 143: logs in")
    last = shell.fab("logs", "--role=trainer-0", "--tail=1")
    assert re.fullmatch(r"\[trainer-0 127\.0\.0\.1\] trainer 0 batch \d+\n", last)


def test_a_package_is_started_from_a_folder_below_and_its_end_is_waited_for(shell: Shell) -> None:
    package = shell.folder / "package"
    package.mkdir()
    (package / "train.py").write_text(SAYS + "report(0)\nprint('words')\n")
    flags = f"--flags=--port={free_port(HOSTS)} --words='a b'"
    output = shell.fab("start", str(package), flags, cwd=ROOT / "docs" / "decisions")
    (job,) = shell.index.jobs()
    assert f"fab logs --job={job.record.name} --follow" in output
    assert job.record.arguments == ("--words=a b",)
    last = shell.fab("status", "--watch", "--format=json").splitlines()[-1]
    assert json.loads(last)["exit_status"] == 0
    line = shell.fab("status", "--all").splitlines()
    assert len(line) == 1 and line[0].startswith(f"{job.record.name}: ended with status 0; began ")


def test_a_killed_launcher_in_the_background_leaves_no_process_and_is_told(shell: Shell) -> None:
    job = shell.detached("package")
    assert len(of_job(job.record.id)) >= 4
    arrived = shell.folder / "package" / "log" / "node-1" / "train.log"
    until(lambda: arrived.exists() and "batch 0" in arrived.read_text(), "what a trainer prints")
    os.kill(job.record.launcher.pid, signal.SIGKILL)
    until(lambda: not of_job(job.record.id), "agents that end it")  # on their leash, as their log says
    found = seen(shell, job)
    assert (found["standing"], found["phase"]) == ("lost", "train")
    assert "has died" in shell.fab("status")
    output = shell.fab("stop", f"--job={job.record.name}")
    assert output.endswith("no process of it is left on this machine\n")
    assert "trainer 1 batch 0" in shell.fab("logs", "--role=trainer-1")
    assert "package: log of node 0, log of node 1" in shell.fab("collect")
    agent = shell.folder / "package" / "log" / "node-0" / "agent.log"
    assert "stopped: leash" in agent.read_text()


@pytest.mark.thorough
def test_a_launcher_that_hangs_is_said_to_and_is_ended_by_force_alone(shell: Shell) -> None:
    job = shell.detached("package")
    os.kill(job.record.launcher.pid, signal.SIGSTOP)
    assert "says nothing for 5 s: it hangs, or it was paused" in shell.fab("status")
    output = shell.fab("stop", "--kill")
    assert f"killed its launcher, process {job.record.launcher.pid}" in output
    assert of_job(job.record.id) == []


def test_what_fails_before_it_trains_is_said_in_the_shell_that_waits(shell: Shell) -> None:
    launcher = shell.launch("package", FAILS, "--detach")
    output, _ = launcher.communicate(timeout=PATIENCE_S)
    assert launcher.returncode == 7
    assert "| no data here" in output
    assert "goes on in the background" not in output
    (job,) = shell.index.jobs()
    assert seen(shell, job)["failed"]["lines"] == ["no data here"]
    assert of_job(job.record.id) == []


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_until_it_trains_the_shell_that_waits_is_its_foreground(
    shell: Shell, signum: signal.Signals, status: int
) -> None:
    launcher = shell.launch("package", SILENT, "--detach")
    until(lambda: (shell.folder / "package/log/node-1/train.log").exists(), "a trainer", PATIENCE_S)
    (job,) = shell.index.jobs()
    launcher.send_signal(signum)
    launcher.communicate(timeout=PATIENCE_S)
    assert launcher.returncode == status
    until(lambda: not job.record.launcher.lives, "the launcher's end", PATIENCE_S)
    assert of_job(job.record.id) == []
    assert seen(shell, job)["standing"] == "ended"


def test_a_shell_that_is_closed_does_not_reach_a_job_in_the_background(shell: Shell) -> None:
    job = shell.detached("package")
    pid = job.record.launcher.pid
    found = look_up(pid)
    assert found is not None
    assert os.getsid(pid) == pid != os.getsid(0)
    os.kill(pid, signal.SIGHUP)
    before = seen(shell, job)["rows"][2]["batch_id"]
    until(lambda: seen(shell, job)["rows"][2]["batch_id"] > before, "progress", PATIENCE_S)


def test_a_program_reads_the_launch_line_by_line_as_json(shell: Shell) -> None:
    launcher = shell.launch("package", SAYS + "report(0)\nprint('words')\n", "--format=json")
    output, _ = launcher.communicate(timeout=PATIENCE_S)
    assert launcher.returncode == 0
    told = [json.loads(line) for line in output.splitlines()]
    assert told[0]["event"] == "plan" and [node["node"] for node in told[0]["nodes"]] == [0, 1]
    phases = [one["phase"] for one in told if one["event"] == "phase"]
    assert phases[:5] == ["deliver", "open", "serve", "train", "finish"] and phases[-1] == "end"
    states = [one["state"] for one in told if one["event"] == "role" and one["role"] == "trainer-0"]
    assert states == ["starts", "ended"]
    assert {one["role"] for one in told if one["event"] == "progress"} == {"trainer-0", "trainer-1"}
    assert (told[-1]["event"], told[-1]["status"]) == ("end", 0)
    assert all(isinstance(one["time"], float) for one in told)
    assert not [one for one in told if one["event"] == "lines"]


def stopped(job: Job) -> Job:
    """Stop a job as `fab stop` does."""
    assert list(stop(job, grace_s=None, kill=False, by="a test"))[-1].startswith("stopped ")
    return job


def words(job: Job) -> list[str]:
    """What `fab logs --role=trainer-0` shows."""
    wanted = reading.choice(tail=None, role="trainer-0", grep="")
    return [line.text for line in reading.lines(job, wanted, follow=False)]


@pytest.mark.thorough
def test_two_jobs_of_one_package_have_a_place_each_for_their_results(shell: Shell) -> None:
    package = shell.folder / "package"
    first, second = shell.detached("package"), shell.detached("package")
    own = package / "log" / second.record.name
    assert (first.record.plan.home, second.record.plan.home) == (package, own)
    for job, place in ((second, own / "log"), (first, package / "log")):
        stopped(job)
        assert f"logs in {place}" in (place / "launcher.log").read_text()
        assert (place / "node-1" / "agent.log").is_file() and (place / "loss.csv").is_file()
    third = stopped(shell.detached("package"))
    assert third.record.plan.home == package
    assert "trainer 0 batch 0" in words(second)
    said = "\n".join(in_words(look(first)))
    assert f"{package / 'log'} has the logs of {third.record.id} by now" in said
    collected = list(collecting.collect(first.record.plan, carrier))
    assert collected[-1].startswith(f"collected into {package / 'log' / first.record.name}: ")
    assert words(first) != words(third), "each has its own, though they were to lie in one place"
    assert (package / "log" / "node-0" / "train.log").read_text().splitlines() == words(third)
    shutil.rmtree(package / "log" / first.record.name)
    shutil.rmtree(first.record.plan.nodes[0].workspace)
    assert words(first) == [], "of node 0 nothing is left"


def test_a_program_reads_json_and_nothing_else_whatever_is_prepared_and_left(shell: Shell) -> None:
    (shell.folder / "package").mkdir()
    (shell.folder / "package" / "prepare.py").write_text("print('prepared')\n")
    how = ("--format=json", "--job_prepare=prepare.py", "--show_logs", "--grep_logs=batch 0$")
    for argv in ((*how, "--dry_run"), (*how, "--detach")):
        launcher = shell.launch("package", TRAINS, *argv, errors=subprocess.PIPE)
        output, errors = launcher.communicate(timeout=PATIENCE_S)
        told = [json.loads(line) for line in output.splitlines()]
        assert launcher.returncode == 0
    assert "prepared" in errors
    assert {"said", "plan", "phase"} <= {one["event"] for one in told}
    assert "fab stop" in told[-1]["text"]
    log = shell.folder / "package" / "log" / "launcher.log"

    def told_now() -> set[str]:
        events = [json.loads(line) for line in log.read_text().splitlines(keepends=True) if line[-1] == "\n"]
        return {"progress" for one in events if one["event"] == "progress"} | {
            line for one in events if one["event"] == "lines" for line in one["lines"]
        }

    until(lambda: told_now() >= {"progress", "trainer 0 batch 0", "trainer 1 batch 0"}, "what roles print")
