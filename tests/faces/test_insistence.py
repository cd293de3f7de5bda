"""An interrupt that comes where Python can raise nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.machine import ROOT

HEAD = """
import signal, sys, threading, weakref
from paddle._insistence import insist

class Pressed:
    def __del__(self):
        signal.raise_signal(NUMBER)
        print("lost")

class Nested:
    def __init__(self):
        self.inner = Pressed()

    def __del__(self):
        del self.inner
        signal.raise_signal(signal.SIGINT)

def waits():
    threading.Event().wait(60)
    print("goes on")
"""
CAUGHT = "try:\n    {}\n    waits()\nexcept KeyboardInterrupt as error:\n    print('interrupted')\n"


def run(
    program: str, number: str = "signal.SIGINT", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HEAD.replace("NUMBER", number) + program],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=cwd,
    )


@pytest.mark.parametrize(
    "pressed",
    [
        "Pressed()",
        "weakref.ref(Nested(), lambda _: signal.raise_signal(signal.SIGINT))",
        "one = Nested(); one.itself = one; del one; __import__('gc').collect()",
    ],
)
def test_it_ends_what_the_program_waits_for_and_nothing_is_printed_of_it(pressed: str) -> None:
    done = run("insist(KeyboardInterrupt)\n" + CAUGHT.format(pressed))
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_an_alarm_that_rings_while_python_tells_of_the_next_error_rings_again() -> None:
    rings_there = """
from paddle import _insistence

def is_running(asked=_insistence._is_running):
    if _insistence._alarm._is_borrowed():
        signal.raise_signal(signal.SIGALRM)
    return asked()

_insistence._FIRST_S, _insistence._is_running = 1000.0, is_running
insist(KeyboardInterrupt)
"""
    done = run(f"{rings_there}{CAUGHT.format('Nested(); _insistence._FIRST_S = 0.001; Pressed()')}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_commands_end_by_it() -> None:
    starts = "from paddle.__main__ import main\nmain(['version'])\n"
    done = run(starts + CAUGHT.format("Pressed()"))
    assert (done.returncode, done.stdout.splitlines()[-1:], done.stderr) == (0, ["interrupted"], "")


def test_tasks_of_fab_end_by_it_with_130_and_so_does_one_that_has_not_begun() -> None:
    loads = "sys.argv[0] = 'fab'\nfrom fabfile.answer import answered\nfrom invoke import Exit\n"
    begun = "    with answered():\n        Pressed()\n        waits()\n"
    for program in (f"try:\n{begun}except Exit as end:\n    sys.exit(end.code)", "Pressed()\nwaits()"):
        done = run(loads + program, cwd=ROOT)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "called", ["load()", "thread = threading.Thread(target=load); thread.start(); thread.join()"]
)
def test_another_program_that_imports_the_tasks_has_its_own_signals(called: str) -> None:
    program = f"""
def load():
    from fabfile.answer import answered
    with answered():
        print('begun')

def state():
    return signal.getsignal(signal.SIGINT), sys.excepthook, sys.unraisablehook, sys.stdout.line_buffering

before = state()
{called}
print(state() == before)
"""
    done = run(program, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\nTrue\n", "")


def test_so_does_fab_where_it_is_a_module() -> None:
    program = (
        "import runpy\nsys.argv = ['x', '--list']\n"
        "try:\n    runpy.run_module('fabric', run_name='__main__', alter_sys=True)\n"
        "except SystemExit:\n    Pressed()\n    waits()\n"
    )
    done = run(program, cwd=ROOT)
    assert (done.returncode, done.stderr) == (130, "")


def test_other_errors_are_told_as_ever() -> None:
    done = run("insist(KeyboardInterrupt)\nsignal.signal(2, lambda *_: 1 / 0)\nPressed()\nprint('goes on')\n")
    assert (done.returncode, done.stdout) == (0, "goes on\n")
    assert "Exception ignored in" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_a_launcher_hears_each_of_its_signals_so_and_the_next_one_ends_it() -> None:
    program = (
        "from paddle._launch import signals\n"
        "signals.answer()\n"
        "try:\n    Pressed()\n    waits()\n"
        "except signals.Stopped as stopped:\n    print(stopped, flush=True)\n"
        "Pressed()\n"
    )
    for name, status in (("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)):
        done = run(program, f"signal.{name}")
        assert (done.returncode, done.stdout, done.stderr) == (status, f"stopped by {name}\n", "")


def test_a_trainer_that_is_told_to_stop_does() -> None:
    program = (
        "from paddle._program.told_to_stop import listen\nlisten(lambda error: None)\nPressed()\nwaits()\n"
    )
    done = run(program, "signal.SIGTERM")
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")


def test_what_python_calls_at_its_end_is_left_in_peace() -> None:
    begins = (
        "import atexit\nfrom paddle import _insistence\nfrom paddle._program.told_to_stop import listen\n"
    )
    begins += "listen(lambda error: None)\n_insistence._FIRST_S = 1000.0\n"
    ends = "atexit.register(lambda: print(signal.getitimer(0)))\natexit.register(signal.raise_signal, 15)\n"
    done = run(begins + ends)
    assert (done.returncode, done.stdout) == (0, "(0.0, 0.0)\n"), done.stderr
    ends = (
        "atexit.register(print, 'saved')\natexit.register(signal.raise_signal, signal.SIGALRM)\nPressed()\n"
    )
    done = run(begins + ends, "signal.SIGTERM")
    assert (done.returncode, done.stdout, done.stderr) == (0, "saved\n", "")


THEIRS = "signal.signal(signal.SIGALRM, lambda *_: print('theirs'))\nsignal.setitimer(0, 900.0, 700.0)\n"
TELLS = "left, every = signal.getitimer(0)\nprint(840 < left <= 900, every)\n"


def test_the_alarm_is_the_programs_again_once_it_was_raised_and_at_the_end() -> None:
    raised = "insist(KeyboardInterrupt)\n" + THEIRS + CAUGHT.format("Pressed()")
    done = run(f"{raised}{TELLS}signal.raise_signal(signal.SIGALRM)\n")
    assert (done.stdout, done.stderr) == ("interrupted\nTrue 700.0\ntheirs\n", "")
    ends = f"import atexit\natexit.register(exec, {TELLS!r}, globals())\n"
    done = run(f"{ends}insist(KeyboardInterrupt)\n{THEIRS}")
    assert (done.stdout, done.stderr) == ("True 700.0\n", "")


@pytest.mark.parametrize(
    "becomes",
    [
        "from paddle._launch.fleet.cli import _become\n    _become(['-c', 'print(1)'])",
        "from paddle._launch.jobs import commands\n    commands._launch(['--help'])",
    ],
)
def test_who_becomes_another_program_ends_by_it_first(becomes: str) -> None:
    begins = "from paddle import _insistence\n_insistence._FIRST_S = 1000.0\ninsist(KeyboardInterrupt)\n"
    loads, call = becomes.split("\n    ")
    done = run(f"{begins}{loads}\n{CAUGHT.format(f'Pressed(); {call}')}{'print(signal.getitimer(0))'}")
    assert (done.stdout, done.stderr) == ("interrupted\n(0.0, 0.0)\n", "")
