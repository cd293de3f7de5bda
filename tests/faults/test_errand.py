"""An errand, as the launcher prepares data and venv.sh installs: nothing of it is left, whoever is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.faults.conftest import AGENT, Marked
from tests.pretenders import RUNAWAY

pytestmark = pytest.mark.faults

STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + RUNAWAY
WAITS_FOR = """
import subprocess, sys
subprocess.run(sys.argv[1:])
"""


class Errand(Marked):
    """An errand that runs a piece of Python; ``parent``: a program that starts it in the test's place."""

    def __init__(self, text: str, parent: str = "") -> None:
        super().__init__()
        command = [sys.executable, "-I", "-S", str(AGENT), sys.executable, "-u", "-c", text]
        self.process = subprocess.Popen(
            [sys.executable, "-c", parent, *command] if parent else command,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environ,
        )

    def wait_for(self, words: str) -> None:
        assert self.process.stdout
        assert words in self.process.stdout.readline()


@pytest.fixture
def errand() -> Iterator[Callable[..., Errand]]:
    started: list[Errand] = []

    def start(*texts: str) -> Errand:
        started.append(Errand(*texts))
        return started[-1]

    yield start
    for one in started:
        one.clean_up()


@pytest.mark.parametrize(
    ("text", "status"),
    [("", 0), ("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)],
)
def test_its_status_is_that_of_the_command(errand, text, status) -> None:
    assert errand(text).process.wait() == status


def test_a_command_that_does_not_exist_is_told() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(AGENT), "/no/such"], stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (127, "cannot run /no/such: No such file or directory\n")


@pytest.mark.parametrize("text", [RUNAWAY, STUBBORN], ids=["obedient", "stubborn"])
def test_called_off_it_ends_the_whole_family(errand, text) -> None:
    running = errand(text)
    running.wait_for("family")
    assert len(running.pids()) == 4
    running.process.terminate()
    assert running.process.wait(timeout=5) == 128 + signal.SIGTERM
    assert running.pids() == {}


def test_what_the_command_leaves_running_is_ended(errand) -> None:
    running = errand(RUNAWAY.rpartition("signal.pause()")[0])
    assert running.process.wait() == 0
    assert running.pids() == {}


def test_it_ends_with_who_started_it(errand) -> None:
    running = errand(RUNAWAY, WAITS_FOR)
    running.wait_for("family")
    assert len(running.pids()) == 5
    running.process.kill()
    running.all_gone(5.0)


def test_the_command_does_not_outlive_it(errand) -> None:
    running = errand("import signal; print('family'); signal.pause()")
    running.wait_for("family")
    running.process.kill()
    running.all_gone(5.0)


def test_the_interrupts_of_a_terminal_are_not_for_it(errand) -> None:
    running = errand("import os; print('family', os.getsid(0) != " + str(os.getsid(0)) + ")")
    running.wait_for("family True")
    assert running.process.wait() == 0
