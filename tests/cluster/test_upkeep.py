"""Nodes with an sshd and a Python and nothing else are installed, and what breaks meanwhile breaks nothing.

That they then run a job, and are cleaned up, is in test_as_a_new_user.py.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.over_ssh import ROOT_DIR, all_gone, left
from tests.fresh import ROOT
from tests.lab.cluster import Cluster
from tests.launch.upkeep import wheels
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

BARE = str(Path(sys.base_prefix, "bin", "python3"))  # of which nodes see nothing else
INSTALL = """
import sys
sys.path.insert(0, {runtime!r})
from paddle._launch.errors import LaunchError
from paddle._launch.upkeep import commands
commands.PACKAGES = {packages!r}
commands.own_versions = lambda names: {{}}
try:
    sys.exit(commands.install({conf!r}, "", "text", {python!r}, fresh=False))
except LaunchError as error:
    print("fab:", error)
    sys.exit(error.exit_status)
"""


class Shop:
    """A launching machine whose packages are small ones, and whose pip unpacks them."""

    def __init__(self, lab: Cluster, folder: Path) -> None:
        self.lab = lab
        self.folder = folder
        self.packages = {"one": "1.0"}
        self.links = folder / "links"
        wheels.unpacker(self.links)
        wheels.make(self.links, "one")

    @contextlib.contextmanager
    def start(self, *hosts: str, python: str = BARE, **how: Any) -> Iterator[subprocess.Popen[str]]:
        """A launching machine's `fab install`, which ends with the test."""
        conf = self.folder / "conf.py"
        conf.write_text(f"HOSTS = {list(hosts)}\nROOT_DIR = {ROOT_DIR!r}\nPADDLE_NIC = 'eth0'\n")
        text = INSTALL.format(
            runtime=str(ROOT / "runtime"), packages=self.packages, conf=str(conf), python=python
        )
        environ = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.links), "PIP_CONFIG_FILE": os.devnull}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with self.lab.start(sys.executable, "-c", text, environ=environ, **streams, **how) as started:
            try:
                yield started
            finally:
                started.kill()

    def install(self, *hosts: str, **how: Any) -> tuple[int, str]:
        with self.start(*hosts, **how) as done:
            said, _ = done.communicate(timeout=PATIENCE_S)
        print(said)
        assert "Traceback" not in said
        return done.returncode, said


@pytest.fixture
def shop(cluster: Cluster, tmp_path: Path) -> Iterator[Shop]:
    for node in cluster.names:
        cluster.run("rm", "-rf", ROOT_DIR, at=node)
    yield Shop(cluster, tmp_path)
    all_gone(cluster)


SLOW = """
import os, time
while os.path.exists("/srv/wait"):
    time.sleep(0.01)
"""


def test_what_was_cut_off_ends_on_its_node_and_goes_on_with_what_is_missing(shop, cluster) -> None:
    wheels.make(shop.links, "slow", files={"slow.py": SLOW})
    shop.packages["slow"] = "1.0"
    cluster.path("n1", "/srv/wait").touch()
    with shop.start("root@n1") as launcher:
        assert next(line for line in launcher.stdout if "checking that all can be imported" in line)
        until(lambda: "slow" in str(left(cluster)), "a program that checks")
        launcher.kill()
    all_gone(cluster)
    home = cluster.path("n1", f"{ROOT_DIR}/.paddle")
    assert not os.path.lexists(home / "venv")
    assert list(home.glob("wheels-*/slow-*.whl"))
    cluster.path("n1", "/srv/wait").unlink()
    status, said = shop.install("root@n1")
    assert (status, "sending" in said) == (0, False)
    assert (home / "venv").is_symlink()


def test_an_installation_that_is_interrupted_says_so_and_leaves_nothing(shop, cluster) -> None:
    wheels.make(shop.links, "slow", files={"slow.py": SLOW})
    shop.packages["slow"] = "1.0"
    cluster.path("n1", "/srv/wait").touch()
    with shop.start("root@n1") as launcher:
        assert next(line for line in launcher.stdout if "checking that all can be imported" in line)
        launcher.send_signal(signal.SIGINT)
        said, _ = launcher.communicate(timeout=PATIENCE_S)
    cluster.path("n1", "/srv/wait").unlink()
    assert launcher.returncode == 130
    assert "stopped by SIGINT: nodes end what they were doing; start again, and it goes on" in said
    assert "Traceback" not in said


def test_what_fails_on_one_node_is_told_and_the_others_are_installed(shop, cluster) -> None:
    status, said = shop.install("root@n1", "root@n2", "root@no-such-host", "paddle@n3", "root@n1:2222")
    assert status == 1
    assert "2     root@no-such-host  failed" in said
    assert "the name no-such-host has no address here" in said
    assert "cannot make /srv/jobs/.paddle: /srv is not a folder that its user can write to" in said
    assert "3 of 5 nodes are installed: " in said, "one of them twice at a time"
    for node, is_there in (("n1", True), ("n2", True), ("n3", False)):
        assert cluster.path(node, f"{ROOT_DIR}/.paddle/venv").is_symlink() == is_there
