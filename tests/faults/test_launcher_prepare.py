"""The preparation of a package: what it may do, and that no signal is lost in it or before it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.conftest import ROOT, Marked
from tests.pretenders import ENDS, RUNAWAY
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.faults

PREPARE = "--job_prepare=make/data.py"
MAKES = """
import os, pathlib
print("made for", os.environ["SPLIT_COUNT"], flush=True)
pathlib.Path("data").write_text(os.environ["SPLIT_COUNT"])
"""
TIDIES_UP = """
import pathlib, signal
half = pathlib.Path("half")
signal.signal(signal.SIGTERM, lambda *_: half.unlink())
half.write_text("")
print("family", flush=True)
signal.pause()
"""
READS = "import pathlib\nprint('data', pathlib.Path('data').read_text())\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Where the program of the package stands that makes its data."""
    (tmp_path / "package" / "make").mkdir(parents=True)
    return tmp_path / "package" / "make" / "data.py"


@pytest.mark.parametrize("ignored", [[], [signal.SIGINT]], ids=["", "behind-an-ampersand"])
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_all_it_started(launch, program, signum, ignored) -> None:
    program.write_text(RUNAWAY)
    running = launch(argv=[PREPARE], ignored=ignored)
    running.wait_for("family")
    began = time.monotonic()
    running.process.send_signal(signum)
    status, _, errors = running.end()
    assert time.monotonic() - began < 5.0
    assert status == 128 + signum
    assert running.pids() == {}
    name = signal.Signals(signum).name
    assert errors == f"paddle.py: stopped by {name} while make/data.py ran; nothing was sent or started\n"
    assert running.jobs() == []


def test_a_signal_leaves_it_time_to_tidy_up(launch, program) -> None:
    program.write_text(TIDIES_UP)
    running = launch(argv=[PREPARE])
    running.wait_for("family")
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 128 + signal.SIGINT
    assert not (running.package / "half").exists()


def test_it_does_not_outlive_a_killed_launcher(launch, program) -> None:
    program.write_text(RUNAWAY)
    running = launch(argv=[PREPARE])
    running.wait_for("family")
    running.process.kill()
    running.all_gone(5.0)


@pytest.mark.patient
def test_under_nohup_it_outlives_its_terminal(launch, program) -> None:
    program.write_text(RUNAWAY)
    running = launch(argv=[PREPARE], ignored=[signal.SIGHUP])
    running.wait_for("family")
    running.process.send_signal(signal.SIGHUP)
    running.process.send_signal(signal.SIGTERM)
    assert running.end()[0] == 128 + signal.SIGTERM


@pytest.mark.patient
def test_what_it_makes_for_the_number_of_nodes_is_sent(launch, program) -> None:
    program.write_text(MAKES)
    running = launch(train=READS, pserver=ENDS, argv=[PREPARE], nodes=3)
    status, output, errors = running.end()
    assert (status, errors) == (0, "")
    said = [output.index(words) for words in ("preparing: make/data.py in", "made for 3", "sending the")]
    assert said == sorted(said)
    for node in range(3):
        assert (running.package / f"log/node-{node}/train.log").read_text() == "data 3\n"


@pytest.mark.patient
def test_its_failure_ends_the_launch_with_its_status_and_says_how_to_repeat_it(launch, program) -> None:
    program.write_text("raise SystemExit('no data')")
    running = launch(argv=[PREPARE])
    status, output, errors = running.end()
    assert status == 1
    first, last = errors.splitlines()
    assert first == "no data"
    assert last.startswith("paddle.py: make/data.py ended with status 1, so nothing was sent or started.")
    by_hand = subprocess.run(["sh", "-c", last.partition("By hand: ")[2]], capture_output=True, text=True)
    assert (by_hand.returncode, by_hand.stderr) == (1, "no data\n")
    assert "sending" not in output
    assert running.jobs() == []


@pytest.mark.patient
def test_a_dry_run_plans_it_and_makes_nothing(launch, program) -> None:
    program.write_text(MAKES)
    running = launch(argv=[PREPARE, "--dry_run"], nodes=4)
    status, output, _ = running.end()
    assert status == 0
    assert len(output.splitlines()) <= 10
    assert f"  prepare  {sys.executable} -u make/data.py, once, before all else\n" in output
    assert not (running.package / "data").exists()


@pytest.mark.patient
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--job_prepare=make/dta.py"], "--job_prepare=make/dta.py: "),
        ([PREPARE, "-p", "", "-j", "package", "--hosts=local"], "--job_workspace sends none"),
        ([PREPARE, "--port=0"], "--port=0"),
    ],
)
def test_a_wrong_call_is_refused_before_it_runs(launch, program, argv, words) -> None:
    program.write_text(MAKES)
    running = launch(argv=argv)
    status, _, errors = running.end()
    assert status == 2
    assert words in errors
    assert errors.count("\n") == 1
    assert not (running.package / "data").exists()


class FromTheFirstMoment(Marked):
    """``python paddle.py``, started with interrupts ignored, which gets a signal while it loads itself."""

    def __init__(self, folder: Path, signum: int) -> None:
        super().__init__()
        (folder / "sitecustomize.py").write_text(
            "import os, sys\n"
            "def interrupt(event, what):\n"
            "    if event == 'import' and what[0] == 'paddle._launch.cli':\n"
            f"        os.kill(os.getpid(), {signum:d})\n"
            "sys.addaudithook(interrupt)\n"
        )
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "paddle.py"), "--dry_run", "-p", str(folder)],
            env={**self.environ, "PYTHONPATH": str(folder)},
            preexec_fn=_begin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def _begin() -> None:  # whatever the tests themselves were started with
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.patient
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_heard_while_the_launcher_still_loads_itself(tmp_path, signum) -> None:
    running = FromTheFirstMoment(tmp_path, signum)
    output, errors = running.process.communicate(timeout=PATIENCE_S)
    assert (running.process.returncode, output) == (128 + signum, "")
    assert errors == f"paddle.py: stopped by {signal.Signals(signum).name}\n"


@pytest.mark.patient
def test_a_program_that_imports_paddle_keeps_its_own_signals() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import signal, paddle; print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "set()\n"
