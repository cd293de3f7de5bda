"""A launcher, an agent or a role that is lost: the others end, and the user is told which it was."""

import os
import re
import signal

import pytest

from paddle._launch.agent.processes import look_up
from tests.faults.conftest import PROMISED_S
from tests.pretenders import ENDS

pytestmark = pytest.mark.faults

FAILS = """
import os, signal
if os.environ["PADDLE_INIT_TRAINER_ID"] == "1":
    for number in range(30):
        print("line", number)
    raise SystemExit(7)
signal.pause()
"""
DIES = """
import os, signal
if os.environ["PADDLE_INIT_TRAINER_ID"] == "0":
    os.kill(os.getpid(), signal.SIGKILL)
signal.pause()
"""
TRAINS = """
import json, os, pathlib
descriptor = int(os.environ["PADDLE_REPORT_FD"])
for batch in range(3):
    report = {"report": "progress", "pass_id": 0, "batch_id": batch, "cost": 7.0 - batch, "samples_per_s": 9}
    os.write(descriptor, json.dumps(report).encode() + bytes([10]))
print("argv", __import__("sys").argv[1:])
if os.environ["PADDLE_INIT_TRAINER_ID"] == "0":
    pathlib.Path("output/pass-00000").mkdir(parents=True, exist_ok=True)
    pathlib.Path("output/pass-00000/done").write_text("")
"""
TAKEN = "import sys\nprint('127.0.0.1:7164 is taken', flush=True)\nsys.exit(98)\n"


def failed(running) -> tuple[int, str, str]:
    ended = running.end()
    assert running.pids() == {}
    return ended


def test_a_killed_launcher_is_noticed_by_its_agents(launch) -> None:
    running = launch()
    running.wait_until_trained()
    assert len(running.pids()) == 1 + 2 * (2 + 1 + 3), (
        "launcher; per node two halves, a pserver, a trainer's family"
    )
    running.process.kill()
    running.all_gone(PROMISED_S)
    for node in (0, 1):
        assert "stopped: leash" in (running.node(node) / "log" / "agent.log").read_text()


def test_a_trainer_that_fails_gives_the_job_its_status_and_is_shown(launch) -> None:
    running = launch(train=FAILS)
    status, output, errors = failed(running)
    assert status == 7
    assert "trainer-1 ended with status 7 on node 1 (127.0.0.2)" in errors
    assert re.findall(r"\| line (\d+)", errors) == [str(number) for number in range(10, 30)]
    assert str(running.package / "log" / "node-1" / "train.log") in errors
    assert "ended with status 7" in output.splitlines()[-1]
    assert (running.package / "log/node-1/train.log").read_text().endswith("line 29\n")


def test_a_killed_trainer_gives_128_and_the_signal(launch) -> None:
    status, _, errors = failed(launch(train=DIES))
    assert status == 128 + signal.SIGKILL
    assert "trainer-0 was killed by SIGKILL on node 0" in errors


def test_a_pserver_that_cannot_start_ends_the_job_before_anything_trains(launch) -> None:
    running = launch(pserver=TAKEN)
    status, _, errors = failed(running)
    assert status == 98
    assert "before it was ready" in errors
    assert "| 127.0.0.1:7164 is taken" in errors
    assert not (running.package / "log/node-0/train.log").exists()


def test_what_fails_before_anything_ran_is_said_once_with_a_next_step(launch) -> None:
    status, output, errors = failed(launch(argv=["--root_dir=/dev/null/jobs"]))
    assert status == 1
    assert errors.count("cannot make /dev/null/jobs/JOB") == 1
    assert errors.count("\n") == 1
    assert "--root_dir=DIR (ROOT_DIR in conf.py)" in errors
    assert "stopping every process" not in output
    assert output.splitlines()[-1] == "ended with status 1, before any role was started"


def test_a_pserver_that_is_never_ready_is_named(launch) -> None:
    running = launch(pserver="import signal\nsignal.pause()\n", argv=["--connect_timeout=0.5"])
    status, _, errors = failed(running)
    assert status == 1
    assert re.search(r"pserver-[01] was not ready within", errors)


@pytest.mark.parametrize(
    ("half", "words"),
    [
        ("outer", "its agent stops everything: the outer half was killed"),
        ("inner", "its agent ended unasked"),
    ],
)
def test_killing_half_an_agent_ends_the_job_and_is_told(launch, half, words) -> None:
    running = launch()
    running.wait_until_trained()
    agents = {pid: look_up(pid)[0] for pid, command in running.pids().items() if "_launch/agent" in command}
    halves = {pid: "outer" if parent == running.process.pid else "inner" for pid, parent in agents.items()}
    os.kill(next(pid for pid in halves if halves[pid] == half), signal.SIGKILL)
    status, _, errors = failed(running)
    assert status == 1
    assert re.search(rf"the job failed on node [01] \(127\.0\.0\.[12]\): {words}; .* `dmesg", errors)


def test_a_job_that_goes_well_leaves_logs_curve_and_model(launch) -> None:
    running = launch(
        train=TRAINS,
        pserver=ENDS,
        argv=["--words", "a b; exit 3", "--num_passes=1"],
    )
    status, output, errors = failed(running)
    assert (status, errors) == (0, "")
    last = output.splitlines()[-1]
    assert last.startswith(f"done: logs in {running.package}/log, loss curve {running.package}/log/loss.")
    assert last.endswith(f"model in {running.package}/output")
    assert (running.package / "output/pass-00000/done").exists()
    assert (
        running.package / "log/node-0/train.log"
    ).read_text() == "argv ['--words', 'a b; exit 3', '--num_passes=1']\n"
    assert len((running.package / "log/loss.csv").read_text().splitlines()) > 2
    assert (running.node(1) / "nodefile").read_text() == "1\n"


def test_a_model_that_could_not_be_collected_is_said_to_be_where_it_is(launch, tmp_path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "output").symlink_to("/proc/self/none")
    running = launch(train=TRAINS, pserver=ENDS)
    status, output, _ = failed(running)
    assert status == 0
    *_, last = output.splitlines()
    assert f"logs in {running.package}/log" in last
    assert "model in" not in last
    assert last.endswith(f"not collected; still where it was made: {running.node(0)}/output")
    assert (running.node(0) / "output/pass-00000/done").exists()


def test_what_a_trainer_wrote_elsewhere_than_in_output_is_said_to_be_in_its_workspace(launch) -> None:
    running = launch(train="open('params_pass_0.tar', 'w').close()", pserver=ENDS)
    status, output, _ = failed(running)
    assert status == 0
    assert output.splitlines()[-1].endswith(f", no output: what else trainer 0 wrote is in {running.node(0)}")
    assert (running.node(0) / "params_pass_0.tar").exists()


def test_a_job_that_fails_says_so_too_once_it_has_trained(launch) -> None:
    status, output, _ = failed(launch(train=FAILS))
    assert status == 7
    assert ", no output: what else trainer 0 wrote is in " in output.splitlines()[-1]


def test_a_model_of_an_earlier_job_is_not_taken_for_this_ones(launch, tmp_path) -> None:
    model = tmp_path / "package" / "output" / "pass-00000"
    model.mkdir(parents=True)
    running = launch(train=FAILS)
    status, output, _ = failed(running)
    assert status == 7
    last = output.splitlines()[-1]
    assert last.endswith(f", the model in {running.package}/output is of an earlier job")
    assert f"logs in {running.package}/log" in last
    assert model.is_dir()


def test_a_deployed_workspace_is_used_without_sending_and_collects_its_own_results(launch) -> None:
    first = launch(train=TRAINS, pserver=ENDS)
    assert first.end()[0] == 0
    job = first.node(0).parent
    (job / "node-1" / "mark").write_text("mine")
    again = launch(train=TRAINS, pserver=ENDS, argv=["-p", "", f"--job_workspace={job}"])
    status, output, _ = failed(again)
    assert status == 0
    assert "sending" not in output
    assert len(again.jobs()) == 1
    assert (job / "log" / "node-1" / "train.log").exists()
    assert (job / "output" / "pass-00000" / "done").exists()
    assert f"model in {job}/output" in output.splitlines()[-1]
