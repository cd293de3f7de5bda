"""The launcher's standard streams may be closed, full, or read by nobody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def command(tmp_path: Path) -> str:
    """A dry run, for a shell."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text("")
    (tmp_path / "conf.py").write_text("HOSTS = ['local']\n")
    flags = f"--conf={tmp_path / 'conf.py'} -p {tmp_path / 'package'} --dry_run"
    return f"{sys.executable} {ROOT / 'paddle.py'} {flags}"


def run(shell: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PADDLE_", "PYTHON"))}
    return subprocess.run(["sh", "-c", shell], capture_output=True, text=True, env=kept | env)


def test_a_dry_run_says_that_nothing_happened(command: str) -> None:
    assert run(command).stdout.endswith("\na dry run: nothing was started or changed\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_nothing_wrong(command: str, closed: str) -> None:
    done = run(f"{command} {closed}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told_in_one_line(command: str, unbuffered: str) -> None:
    done = run(f"{command} >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (1, "paddle.py: cannot print: No space left on device\n")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("-m paddle version", "paddle version"),
        ("-m paddle --help", "paddle --help"),
        ("-m paddle pserver --help", "paddle pserver"),
        ("-m paddle.distributed.launch --help", "paddle.distributed.launch"),
        ("-m fabric -r PROJECT status --all", "fab"),
        ("-m fabric -r PROJECT --list", "fab"),
        ("-m fabric -r PROJECT check --help", "fab"),
        ("-m fabric -r PROJECT check", "fab"),
        ("-m fabric -r PROJECT check --format=json", "fab"),
        ("-m fabric -r PROJECT trust", "fab"),
        ("-m fabric -r PROJECT install", "fab"),
        ("-m fabric -r PROJECT clean --dry-run", "fab"),
        ("-m fabric -r PROJECT clean --dry-run --format=json", "fab"),
    ],
)
def test_of_every_command_a_full_disk_is_told_in_one_line(typed: str, said: str, tmp_path: Path) -> None:
    own = {"PYTHONPATH": str(ROOT / "runtime"), "XDG_STATE_HOME": str(tmp_path)}
    done = run(f"{sys.executable} {typed.replace('PROJECT', str(ROOT))} >/dev/full", **own)
    assert (done.returncode, done.stderr) == (1, f"{said}: cannot print: No space left on device\n")


def test_who_waits_for_a_line_ends_well_once_its_reader_is_gone() -> None:
    program = (
        "import sys, time; from paddle._launch.screens.stream import end_with_reader; end_with_reader(); "
    )
    waits = f"{sys.executable} -c '{program}print(1, flush=True); time.sleep(600)'"
    done = run(f"({waits}; echo status $? >&2) | head -1", PYTHONPATH=str(ROOT / "runtime"))
    assert (done.stdout, done.stderr) == ("1\n", "status 0\n")


def test_a_reader_that_has_enough_is_nothing_wrong(command: str) -> None:
    done = run(f"({command}; echo status $? >&2) | head -0")
    assert done.stderr == "status 0\n"


def test_nor_is_one_of_what_fab_itself_prints() -> None:
    listing = f"{sys.executable} -m fabric -r {ROOT} --list"
    done = run(f"({listing}; echo status $? >&2) | :")
    assert done.stderr == "status 0\n"


@pytest.mark.parametrize("given", ["--use_gpu=True", "--use_gpu"])
def test_what_is_gone_without_is_noticed_once_and_stops_nothing(command: str, given: str) -> None:
    done = run(f"{command} {given}")
    assert done.returncode == 0
    assert done.stderr.count("--use_gpu: True is not in this release, which trains on the CPU") == 1


def test_a_python_without_the_packages_is_named_and_what_to_do() -> None:
    done = run(f"{sys.executable} -S {ROOT / 'paddle.py'} --dry_run")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"paddle.py: {sys.executable} lacks the package msgspec" in done.stderr
    assert f"pip install {ROOT}" in done.stderr


@pytest.mark.parametrize(("how", "most"), [("_print", 9_999), ("_do", 10_000)])
def test_lines_that_nobody_reads_are_not_made_but_what_is_done_is_done(how: str, most: int) -> None:
    program = (
        "import sys; from paddle._launch.jobs import commands\n"
        "made = []\n"
        "def lines():\n"
        "    for number in range(10_000): made.append(number); yield 'x' * 1000\n"
        f"commands.{how}(lines()); sys.stderr.write(str(len(made)))"
    )
    done = run(f'{sys.executable} -c "{program}" | head -1', PYTHONPATH=str(ROOT / "runtime"))
    assert done.stdout == "x" * 1000 + "\n"
    assert int(done.stderr) <= most and (how == "_print" or int(done.stderr) == most)
