"""Two machines with an sshd and a Python and nothing else, and somebody who types what the README says.

These are the lines of its section "On machines", as they stand there, in a fresh copy of the project.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddle._launch.digests import DigestCache
from paddle._launch.errors import DeliveryError
from paddle._launch.machines.conversation import converse
from paddle._launch.machines.fitness import PACKAGES
from paddle._launch.machines.here import Here
from paddle._launch.upkeep.commands import own_versions
from paddle._launch.upkeep.interpreter import Premises
from paddle._launch.upkeep.wheelhouse import Wheelhouses
from tests.cluster.over_ssh import all_gone, left_behind
from tests.fresh import ROOT, copy_to, share_venv
from tests.lab.lab import Lab
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

BARE = str(Path(sys.base_prefix, "bin", "python3"))  # of which nodes see nothing else
SECTION = re.search(r"^## On machines\n(.*?)^## ", (ROOT / "README.md").read_text(), re.M | re.S)
ROOT_DIR = "/srv/jobs"


def typed() -> list[list[str]]:
    """What it says to type: for each shell its lines."""
    assert SECTION
    shells = re.findall(r"((?:^    .*\n)+)", SECTION[1], re.M)
    return [[line.partition("  #")[0].strip() for line in lines.splitlines()] for lines in shells]


def edited(conf: str) -> str:
    """conf.py after what it says to write there."""
    assert SECTION
    (block,) = re.findall(r"^```python\n(.*?)^```", SECTION[1], re.M | re.S)
    for line in block.splitlines():
        pattern = rf"^{line.partition(' ')[0]} = (\[.*?^\]|.*?)$"
        assert len(re.findall(pattern, conf, re.M | re.S)) == 1
        conf = re.sub(pattern, line, conf, flags=re.M | re.S)
    return conf


@pytest.fixture
def cellar(tmp_path: Path) -> Path:
    """The wheels for nodes of this machine's kind, fetched as `fab install` does where there is a network."""
    with converse(Here(), (BARE,), "agent.premises") as talk:
        premises = talk.ask({"root": "/no/such/root"}, Premises)
    wanted = [f"{name}>={least}" for name, least in PACKAGES.items()]
    houses = Wheelhouses(
        tmp_path / "wheels", wanted, own_versions(PACKAGES), DigestCache(tmp_path / "digests")
    )
    try:
        house = houses.of(premises.interpreter, print)
    except DeliveryError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"without wheels: {error}")
    assert house.packages.keys() >= PACKAGES.keys()
    return tmp_path / "wheels"


class Newcomer:
    """A user of a machine with a fresh copy of the project, who knows none of the nodes."""

    def __init__(self, lab: Lab, folder: Path, cellar: Path) -> None:
        self.lab = lab
        self.project = share_venv(copy_to(folder / "project"))
        (self.project / "conf.py").write_text(edited((self.project / "conf.py").read_text()))
        lab.home.known_hosts.write_text("")
        cache = lab.home.folder / ".cache" / "paddle"
        cache.mkdir(parents=True)
        (cache / "wheels").symlink_to(cellar)
        self.shown = ""

    @contextmanager
    def types(self, lines: list[str]) -> Iterator[subprocess.Popen[bytes]]:
        """Types into a terminal, says yes to what is asked there; what it shows comes to ``shown``."""
        controller, terminal = pty.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        script = "\n".join(["set -ex", *lines])
        with self.lab.start(
            "bash", "-c", script, cwd=self.project, environ={"TERM": "xterm"}, **streams
        ) as shell:
            os.close(terminal)
            reader = threading.Thread(target=self._read, args=(controller,))
            reader.start()
            try:
                yield shell
            finally:
                shell.kill()
                reader.join()
        os.close(controller)

    def _read(self, controller: int) -> None:
        answered = False
        try:
            while data := os.read(controller, 1 << 16):
                self.shown += data.decode(errors="replace")
                if not answered and "[y/N] " in self.shown:
                    answered = os.write(controller, b"yes\n") > 0
        except OSError:  # nobody has the terminal open any more
            print(self.shown)

    def types_elsewhere(self, line: str) -> str:
        """In another shell, without a terminal; gives what it printed."""
        script = f"{typed()[1][0]}\n{line}"
        done = self.lab.run("bash", "-c", script, cwd=self.project, check=False, timeout_s=PATIENCE_S)
        print(line, done.stdout, done.stderr)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


@pytest.fixture
def newcomer(make_lab, tmp_path: Path, cellar: Path) -> Newcomer:
    """At the head of two machines whose ``python3`` has no packages."""
    lab: Lab = make_lab(2, shares=[Path(sys.base_prefix)])
    for node in lab.names:
        lab.run("mkdir", "-p", f"{ROOT_DIR}/mine", at=node)
        python = lab.path(node, "/usr/local/bin/python3")
        python.unlink(missing_ok=True)
        python.write_text(f'#!/bin/sh\nexec {BARE} "$@"\n')
        python.chmod(0o755)
    return Newcomer(lab, tmp_path, cellar)


def seen(lab: Lab, node: str) -> dict[str, tuple[int, int]]:
    """All there is of ours on a node, and when it was changed; but for what a job compiles there."""
    home = lab.path(node, ROOT_DIR) / ".paddle"
    paths = (path for path in home.rglob("*") if path.name != "lock" and "__pycache__" not in path.parts)
    found = ((path, path.lstat()) for path in paths)
    return {str(path.relative_to(home)): (status.st_mtime_ns, status.st_size) for path, status in found}


def test_the_lines_of_the_readme_train_on_bare_machines_which_can_be_cleaned_up(newcomer: Newcomer) -> None:
    lab = newcomer.lab
    first, second = typed()
    with newcomer.types(first) as shell:
        until(lambda: "first step after" in newcomer.shown or shell.poll(), "a first step", PATIENCE_S)
        assert shell.poll() is None, "it trains"
        for words in ("2 keys added", "2 of 2 nodes are installed", "a job can be launched on these 2 nodes"):
            assert words in newcomer.shown
        for node in lab.names:
            trainers = [one.argv[0] for one in lab.processes(node) if "train.py" in one.argv]
            assert [path.startswith(f"{ROOT_DIR}/.paddle/venvs/") for path in trainers] == [True], trainers
        _changes_nothing(newcomer)
        status, logs, collect, stop = [newcomer.types_elsewhere(line) for line in second[1:]]
        assert shell.wait(PATIENCE_S) == 143
    assert "trains" in status
    assert "[trainer-1 n2] Pass 0, Batch 0, Cost " in logs
    assert "log" in collect
    assert "it ended with status 143" in stop
    for node in (0, 1):
        log = newcomer.project / "workspace_template" / "log" / f"node-{node}"
        assert {path.name for path in log.iterdir()} >= {"train.log", "server.log", "agent.log"}
    all_gone(lab)
    newcomer.types_elsewhere("fab clean --all --yes")
    for node in lab.names:
        assert lab.files(node, ROOT_DIR) == ["mine/"]
    assert left_behind(lab) == {}


def _changes_nothing(newcomer: Newcomer) -> None:
    """While a job runs, installing again and cleaning up change nothing of what it uses."""
    lab = newcomer.lab
    before = seen(lab, "n1")
    said = newcomer.types_elsewhere("fab install --format=json")
    told = [one for one in map(json.loads, said.splitlines()) if one["event"] == "installed"]
    assert [(one["did"], one["sent"]) for one in told] == [("unchanged", 0)] * 2
    assert seen(lab, "n1") == before
    said = newcomer.types_elsewhere("fab clean --all --yes")
    for node in lab.names:
        (job,) = lab.path(node, ROOT_DIR).glob("JOB*")
        assert f"stays, for its agent: {job.name}" in said
        assert lab.path(node, f"{ROOT_DIR}/.paddle/venv/bin/python").is_symlink()
