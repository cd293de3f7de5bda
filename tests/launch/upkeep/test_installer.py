"""An environment on a node is made whole or not at all, by a Python with nothing but its standard library."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.agent import environments, installer
from paddle._launch.agent.environments import MARK, Environments
from paddle._launch.agent.processes import descendants, look_up
from paddle._launch.machines import parcel
from tests.launch.receiving import answer
from tests.launch.upkeep import wheels
from tests.waiting import PATIENCE_S, until

NAME = f"{wheels.HERE}-0123456789ab"


class Node:
    """A ROOT_DIR with wheels."""

    def __init__(self, root: Path, pip: Callable[[Path], Path] = wheels.unpacker) -> None:
        self.root = root
        self.home = root / ".paddle"
        self.wheels = root.with_name("wheels")
        self.tool = pip(self.wheels).name
        self.environments = Environments(self.home)

    def order(self, **how: Any) -> dict[str, Any]:
        order = {
            "root": str(self.root),
            "name": NAME,
            "wheels": str(self.wheels),
            "tool": self.tool,
            "packages": {"one": "1.0"},
            "modules": ["one"],
            "size": 1000,
            "warmth": None,
        }
        return {**order, **how}

    def install(self, **how: Any) -> dict[str, Any]:
        """Install in this process; gives the answer."""
        waits, holds = os.pipe()
        hears, answers = os.pipe()
        try:
            installer.Installer(self.order(**how), waits, answers).run()
        finally:
            os.close(answers)
            os.close(holds)
            os.close(waits)
        with os.fdopen(hears) as said:
            told = [json.loads(line.removeprefix("\x1e")) for line in said]
        self.did = [one["doing"] for one in told if "doing" in one]
        (answer,) = [one for one in told if {"done", "failed"} & one.keys()]
        return answer

    def run(self, text: str) -> str:
        """Run a text with what jobs run with."""
        python = self.home / "venv" / "bin" / "python"
        return subprocess.run([python, "-c", text], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    """One on which what stands for pip unpacks wheels, and no disk is waited for."""
    monkeypatch.setattr(environments, "sync", lambda place: None)
    made = Node(tmp_path / "root")
    wheels.make(made.wheels, "one")
    return made


@pytest.fixture
def real(tmp_path: Path) -> Node:
    """One with pip and all."""
    made = Node(tmp_path / "root", wheels.pip)
    wheels.make(made.wheels, "one")
    return made


def test_jobs_run_with_what_pip_installed_and_a_second_time_nothing_is_done(real: Node) -> None:
    node = real
    assert node.install() == {"done": True}
    assert node.run("import one, sys; print(one.version, sys.prefix != sys.base_prefix)") == "1.0 True\n"
    assert (node.home / "venv").readlink() == Path("venvs", NAME)
    assert not (node.home / "venvs" / NAME / "tmp").exists()
    before = seen(node.home)
    assert node.install() == {"done": False}
    assert not [doing for doing in node.did if doing.startswith("waiting")], "there is nobody to wait for"
    assert seen(node.home) == before


def test_another_set_takes_its_place_at_once_and_the_one_before_stays_as_it_is(node: Node) -> None:
    node.install()
    before = seen(node.home / "venvs" / NAME)
    wheels.make(node.wheels, "one", "2.0")
    other = NAME.replace("0", "f")
    assert node.install(name=other, packages={"one": "2.0"}) == {"done": True}
    assert node.run("import one; print(one.version)") == "2.0\n"
    assert seen(node.home / "venvs" / NAME) == before
    assert node.install() == {"done": True}, "there is a way back, and nothing is made for it"
    assert "installing 1 packages" not in node.did
    assert node.run("import one; print(one.version)") == "1.0\n"


def test_one_that_was_damaged_is_made_anew_unless_somebody_uses_it(node: Node) -> None:
    node.install()
    (package,) = (node.home / "venvs" / NAME).rglob("one.py")
    package.unlink()
    python = node.home / "venvs" / NAME / "bin" / "python"
    with subprocess.Popen([python, "-c", "input()"], stdin=subprocess.PIPE) as job:
        answer = node.install()
        assert answer["refused"]
        assert (
            "is damaged (what was installed does not work there: one cannot be imported" in answer["failed"]
        )
        assert f"process {job.pid} (python) uses it" in answer["failed"]
        job.kill()
    assert node.install() == {"done": True}
    assert node.run("import one; print(one.version)") == "1.0\n"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"packages": {"one": "7.0"}}, "pip could not install there: .*one==7.0"),
        ({"modules": ["two"]}, "does not work there: two cannot be imported: ModuleNotFoundError"),
        (
            {"size": 1 << 60},
            "no room in .*venvs: the packages need 1,152,921,504,606,846,976 bytes.*fab clean",
        ),
        ({"name": "../outside"}, "not a place for an environment"),
        ({"root": "relative"}, "not a place for an environment"),
    ],
)
def test_what_does_not_go_well_leaves_what_was_there_and_is_told(node: Node, how: Any, words: str) -> None:
    node.install(name="first")
    answer = node.install(**how)
    assert re.search(words, answer["failed"])
    assert node.run("import one; print(one.version)") == "1.0\n"
    assert node.environments.whole() == ["first"]
    assert sorted(path.name for path in (node.home / "venvs").iterdir()) == ["first", "lock"]


def test_a_package_that_requires_what_is_not_there_is_refused_by_pip_itself(real: Node) -> None:
    wheels.make(real.wheels, "three", requires=["not-there"])
    answer = real.install(packages={"one": "1.0", "three": "1.0"})
    assert "No matching distribution found for not-there" in answer["failed"]


def test_the_runtime_compiles_what_jobs_need_and_where_it_cannot_that_is_no_failure(node: Node) -> None:
    runtime = node.root.with_name("runtime")
    runtime.mkdir()
    (runtime / "warm.py").write_text(
        "import one, pathlib\npathlib.Path(__file__).with_name('mark').touch()\n"
    )
    for module in ("warm", "not_there"):
        answer = node.install(warmth={"runtime": str(runtime), "module": module})
        assert answer == {"done": module == "warm"}
        assert node.did[-1] == "compiling what jobs need"
    assert (runtime / "mark").exists()


def test_an_environment_of_the_users_own_is_not_touched(node: Node) -> None:
    (node.home / "venv").mkdir(parents=True, mode=0o700)
    node.home.chmod(0o700)
    answer = node.install()
    assert answer["refused"]
    assert "was not made here. Move it away" in answer["failed"]
    assert "NODE_PYTHON" in answer["failed"]
    assert list((node.home / "venv").iterdir()) == []


def test_a_python_without_venv_is_told(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "venv", None)
    answer = node.install()
    assert answer["refused"]
    assert "has no module venv" in answer["failed"]
    assert "apt-get install python3" in answer["failed"]


def test_where_a_file_cannot_be_written_midway_nothing_is_kept(node: Node) -> None:
    wheels.make(node.wheels, "large", files={"large.py": "#" * (1 << 20)})
    most = (1 << 19, 1 << 19)  # of bytes in a file, as on a disk that is full: the answer is as sudden
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, most)
    with started(node, limit, packages={"large": "1.0"}, modules=[]) as (_, answers):
        answer = next(one for one in answers if {"done", "failed"} & one.keys())
    assert "File too large" in answer["failed"]
    assert node.environments.whole() == []
    assert [path.name for path in (node.home / "venvs").iterdir()] == ["lock"]


def test_whoever_stops_waiting_ends_it_and_the_next_one_makes_it_whole(node: Node) -> None:
    slow = "import time\ntime.sleep(600)\n"
    wheels.make(node.wheels, "slow", files={"slow.py": slow})
    with started(node, packages={"one": "1.0", "slow": "1.0"}, modules=["slow"]) as (process, answers):
        assert next(one for one in answers if one.get("doing", "").startswith("checking"))
        until(lambda: descendants(process.pid), "a program that checks")
        (child,) = descendants(process.pid)
        with started(node) as (_, of_another):
            doing = next(one["doing"] for one in of_another if "doing" in one)  # beats come with time
            assert doing == "waiting for another installation"
        process.stdin.close()
        assert process.wait(timeout=PATIENCE_S) == 1
    assert not Path(f"/proc/{child.pid}").exists()
    assert node.environments.current() == ""
    assert not (node.home / "venvs" / NAME / MARK).exists()
    assert node.install() == {"done": True}
    assert node.run("import one; print(one.version)") == "1.0\n"


def test_killed_at_any_moment_it_leaves_nothing_that_runs_and_nothing_that_counts(node: Node) -> None:
    wheels.make(node.wheels, "slow", files={"slow.py": "import time\ntime.sleep(600)\n"})
    for doing in ("making", "installing", "checking"):
        with started(node, packages={"one": "1.0", "slow": "1.0"}, modules=["slow"]) as (process, answers):
            assert next(one for one in answers if one.get("doing", "").startswith(doing))
            below = descendants(process.pid)
            process.kill()
            process.wait(timeout=PATIENCE_S)
        for one in below:
            until(lambda one=one: look_up(one.pid) is None, "the end of what it started")
        assert node.environments.current() == ""
        assert node.environments.whole() == []
    assert node.install() == {"done": True}


def test_two_at_a_time_make_one(node: Node) -> None:
    with started(node) as (_, one), started(node) as (_, other):
        done = [next(said["done"] for said in answers if "done" in said) for answers in (one, other)]
    assert sorted(done) == [False, True]


@contextlib.contextmanager
def started(
    node: Node, limit: Callable[[], None] | None = None, **how: Any
) -> Iterator[tuple[subprocess.Popen[bytes], Iterator[dict[str, Any]]]]:
    """An installation as it runs on a node, and what it says."""
    command = ["sh", "-c", parcel.COMMAND]
    with subprocess.Popen(command, stdin=-1, stdout=-1, preexec_fn=limit) as process:
        assert process.stdin and process.stdout
        process.stdin.write(parcel.call([sys.executable], "agent.installer"))
        process.stdin.write(json.dumps(node.order(**how)).encode() + b"\n")
        process.stdin.flush()
        yield process, map(answer, process.stdout)
        process.kill()


def seen(folder: Path) -> dict[str, tuple[int, int, int]]:
    """All that lies there, and when each was changed; the lock is opened by whoever comes."""
    return {
        str(path.relative_to(folder)): (status.st_ino, status.st_mtime_ns, status.st_size)
        for path in folder.rglob("*")
        if (status := path.lstat()) and path.name != "lock"
    }
