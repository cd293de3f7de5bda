"""venv.sh: what it says where it cannot make .venv, and how it goes on after it was interrupted.

The interpreters it finds are shell scripts that stand before the real one, and pip is never let loose.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "cat", "cksum", "dirname", "grep", "mkdir", "printf", "rm", "tr")
SCRIPT = 'set -eu\ncd "$(dirname "$0")"\nextras=plot\n. ./venv.sh\necho ready\n'
NOBODY = 65534

# Each stands for a Python; $real is one. `-m venv` makes a .venv whose own Python is $inside.
OLD = "exit 1"
NEW = """
case "$*" in
"-m venv"*) {venv} ;;
*) exec "$real" "$@" ;;
esac
"""
MAKES = 'mkdir -p .venv/bin; printf "%s" "$inside" >.venv/bin/python; chmod +x .venv/bin/python'
NO_VENV = 'case "$*" in *ensurepip*) exit 1 ;; esac; exec "$real" "$@"'
PIP = """#!/bin/sh
case "$*" in
"-m pip install"*) {install} ;;
"-m compileall"*|"-c import pip") exit 0 ;;
"-m paddle._warm") echo at once >>.venv/warmed; echo hidden >&2; exit 1 ;;
*) exec "$real" "$@" ;;
esac
"""
RUNS_AWAY = 'setsid sh -c "echo family; sleep 1000" & wait'


class Machine:
    """A folder with venv.sh, a PATH that leads to little, and Pythons of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project, self.path = folder / "project", folder / "bin"
        for place in (self.project / "runtime" / "paddle" / "_launch", self.path):
            place.mkdir(parents=True)
        shutil.copy2(ROOT / "venv.sh", self.project)
        shutil.copytree(ROOT / "runtime/paddle/_launch/agent", self.project / "runtime/paddle/_launch/agent")
        (self.project / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
        (self.project / "run.sh").write_text(SCRIPT)
        for tool in (*TOOLS, "chmod", "setsid", "sleep"):
            (self.path / tool).symlink_to(str(shutil.which(tool)))
        self.environ = {"PATH": str(self.path), "real": sys.executable, "HOME": str(folder)}

    def has(self, python: str, *, install: str = "exit 0", name: str = "python3") -> None:
        """Put a Python on the path. ``install``: what pip in a .venv that it makes does."""
        self.environ["inside"] = PIP.replace("{install}", install)
        (self.path / name).write_text(f"#!/bin/sh\n{python}\n")
        (self.path / name).chmod(0o755)

    def start(self, *argv: str, **how: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["sh", *(argv or ["run.sh"])],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **how,  # type: ignore[call-overload]
        )

    def run(self, *argv: str, **how: object) -> tuple[int, str, str]:
        """Run a script that needs .venv; gives status, output and errors."""
        running = self.start(*argv, **how)
        output, errors = running.communicate(timeout=PATIENCE_S)
        return running.returncode, output, errors

    @property
    def is_finished(self) -> bool:
        venv = self.project / ".venv"
        return (venv / "installed").exists() and not (venv / "unfinished").exists()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_a_python_that_is_new_enough_it_says_which_were_tried(machine) -> None:
    machine.has(OLD)
    status, output, errors = machine.run()
    assert (status, output) == (1, "")
    assert "No Python >= 3.11 was found" in errors
    assert "PYTHON=/path/to/python3.11 sh run.sh" in errors
    assert not (machine.project / ".venv").exists()


def test_a_newer_python_is_found_behind_an_old_one_and_by_its_variable(machine) -> None:
    machine.has(OLD)
    machine.has(NEW.replace("{venv}", MAKES), name="mine")
    machine.environ["PYTHON"] = "mine"
    assert machine.run()[0] == 0


def test_a_python_without_venv_names_the_package_that_brings_it(machine) -> None:
    machine.has(NO_VENV)
    status, output, errors = machine.run()
    assert (status, output) == (1, "")
    assert "python3 has no venv module" in errors
    assert "apt-get install python3-venv" in errors
    assert not (machine.project / ".venv").exists()


def test_a_folder_that_cannot_be_written_to_is_named() -> None:
    with tempfile.TemporaryDirectory() as folder:  # that of a test is for its own user alone
        machine = Machine(Path(folder))
        machine.has("exit 0")
        machine.folder.chmod(0o755)
        machine.project.chmod(0o555)
        status, _, errors = machine.run(**({"user": NOBODY} if os.geteuid() == 0 else {}))
        machine.project.chmod(0o755)
    assert status == 1
    assert f"could not make .venv in {machine.project}" in errors


def test_a_venv_that_cannot_be_made_is_told_and_tried_again(machine) -> None:
    machine.has(NEW.replace("{venv}", "exit 3"))
    status, _, errors = machine.run()
    assert status == 1
    assert "could not make .venv" in errors
    machine.has(NEW.replace("{venv}", MAKES))
    assert machine.run()[0] == 0
    assert machine.is_finished


def test_the_real_python_makes_one_and_pip_says_what_it_lacks(machine) -> None:
    (machine.path / "python3").symlink_to(sys.executable)
    machine.environ |= {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(machine.path),
        "PIP_CONFIG_FILE": os.devnull,
    }
    status, output, errors = machine.run()
    assert status == 1
    assert re.match(r"making .venv with Python 3\.\d+\.\d+\ninstalling into .venv", output)
    assert "No matching distribution found for setuptools" in errors
    assert "pip could not install the packages named in pyproject.toml" in errors
    assert "set PIP_FIND_LINKS to it. Then: sh run.sh" in errors
    assert (machine.project / ".venv/bin/python").exists()
    assert not (machine.project / ".venv/unfinished").exists(), "the next try need not begin anew"


def test_what_is_installed_is_installed_again_only_when_pyproject_changes(machine) -> None:
    machine.has(NEW.replace("{venv}", MAKES))
    assert machine.run()[1].count("installing") == 1
    assert machine.run() == (0, "ready\n", "")
    assert (machine.project / ".venv/warmed").read_text() == "at once\n"
    (machine.project / "pyproject.toml").write_text("")
    assert machine.run()[1].splitlines() == [
        "installing into .venv (once; the packages are in pyproject.toml)",
        "ready",
    ]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("ignored", [False, True], ids=["", "behind-an-ampersand"])
@pytest.mark.parametrize("step", ["venv", "pip"])
def test_a_signal_ends_a_step_with_all_it_started_and_the_next_start_begins_anew(
    machine, step, ignored, signum
) -> None:
    machine.has(NEW.replace("{venv}", RUNS_AWAY if step == "venv" else MAKES), install=RUNS_AWAY)
    disposition = signal.SIG_IGN if ignored else signal.SIG_DFL
    running = machine.start(preexec_fn=lambda: signal.signal(signal.SIGINT, disposition))
    assert running.stdout
    while "family" not in (line := running.stdout.readline()):
        assert line, running.communicate()
    running.send_signal(signum)
    _, errors = running.communicate(timeout=PATIENCE_S)  # all of them had these pipes open
    assert (running.returncode, errors) == (128 + signum, "stopped; no job was started\n")
    assert not machine.is_finished
    machine.has(NEW.replace("{venv}", MAKES))
    status, output, errors = machine.run()
    assert (status, errors) == (0, "")
    assert output.startswith("making .venv")
    assert machine.is_finished


@pytest.mark.parametrize("folder", [".", "cluster"])
def test_what_is_started_behind_an_ampersand_goes_on_as_what_it_is(machine, folder) -> None:
    machine.has(NEW.replace("{venv}", MAKES))
    (machine.project / "cluster").mkdir()
    deeper = SCRIPT.replace('"$0")"', '"$0")/.."') + 'echo "of the cluster: $*"\n'
    (machine.project / "cluster" / "run.sh").write_text(deeper)
    ignoring = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    status, output, errors = machine.run(f"{folder}/run.sh", "a b", "c", preexec_fn=ignoring)
    assert (status, errors) == (0, "")
    assert ("of the cluster: a b c" in output) == (folder == "cluster")


def test_a_venv_that_came_from_another_place_is_told_and_used(machine) -> None:
    """One that was moved or copied with its folder: its own commands know where it was."""
    activates = '; printf \'VIRTUAL_ENV="%s/.venv"\\n\' "$PWD" >.venv/bin/activate'
    machine.has(NEW.replace("{venv}", MAKES + activates))
    assert machine.run()[0::2] == (0, "")
    machine.project = machine.project.rename(machine.folder / "moved here")
    status, output, errors = machine.run()
    assert (status, output) == (0, "ready\n")
    assert f"warning: .venv was made as {machine.folder}/project/.venv, so" in errors
    assert errors.endswith("rm -r .venv; sh run.sh\n")


def test_a_killed_shell_takes_its_step_along(machine) -> None:
    machine.has(NEW.replace("{venv}", RUNS_AWAY))
    running = machine.start()
    assert running.stdout
    while "family" not in running.stdout.readline():
        pass
    running.kill()
    assert select.select([running.stdout], [], [], PATIENCE_S)[0]
    assert running.stdout.read() == "", "until nobody has it open"
    running.communicate()
    machine.has(NEW.replace("{venv}", MAKES))
    assert machine.run()[0] == 0


def test_two_shells_do_not_make_it_at_once(machine) -> None:
    machine.has(NEW.replace("{venv}", RUNS_AWAY))
    first = machine.start()
    assert first.stdout
    while "family" not in first.stdout.readline():
        pass
    status, _, errors = machine.run()
    assert status == 1
    assert f"Process {first.pid} is making .venv" in errors
    first.terminate()
    first.communicate(timeout=PATIENCE_S)
