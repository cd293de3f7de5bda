"""Nodes with an sshd and a Python and nothing else: they are installed, run a job, and are cleaned up."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.digests import DigestCache
from paddle._launch.errors import DeliveryError
from paddle._launch.machines import parcel
from paddle._launch.machines.fitness import PACKAGES
from paddle._launch.upkeep import interpreter
from paddle._launch.upkeep.commands import own_versions
from paddle._launch.upkeep.wheelhouse import Wheelhouses
from tests.cluster.over_ssh import ROOT_DIR, all_gone, left
from tests.fresh import ROOT
from tests.lab.cluster import Cluster
from tests.launch.upkeep import wheels
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

BARE = str(Path(sys.base_prefix, "bin", "python3"))  # of which nodes see nothing else
TRAINS = """
import os, sys
import paddle.v2 as paddle

paddle.init()
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
cost = paddle.layer.square_error_cost(input=paddle.layer.fc(input=x, size=1), label=y)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(momentum=0), is_local=False)
trainer.train(paddle.batch(lambda: iter([([1.0, 2.0], [3.0])] * 4), 2), num_passes=1)
os.mkfifo("go")
print("trained with", sys.executable, flush=True)
open("go").read()
"""


def fab(lab: Cluster, folder: Path, *words: str | Path, cwd: Path = ROOT, **how: Any) -> tuple[int, str]:
    """Run a task at the head; gives status and output."""
    command = (Path(sys.executable).with_name("fab"), *words, f"--conf={folder / 'conf.py'}")
    done = lab.run(*command, cwd=cwd, check=False, timeout_s=120.0, **how)
    print(shlex.join(map(str, words)), done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def cellar(tmp_path: Path) -> Path:
    """The wheels for nodes of this machine's kind, fetched as `fab install` does where there is a network."""
    asked = parcel.call([BARE], "agent.premises") + b'{"root": "/no/such/root"}\n'
    said = subprocess.run(["sh", "-c", parcel.COMMAND], input=asked, capture_output=True, check=True).stdout
    premises = interpreter.read(said)
    wanted = [f"{name}>={least}" for name, least in PACKAGES.items()]
    houses = Wheelhouses(
        tmp_path / "wheels", wanted, own_versions(PACKAGES), DigestCache(tmp_path / "digests")
    )
    try:
        house = houses.of(premises.interpreter, premises.marks, print)
    except DeliveryError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"without wheels: {error}")
    assert house.packages.keys() >= PACKAGES.keys()
    return tmp_path / "wheels"


def test_a_bare_node_is_installed_runs_a_job_and_is_cleaned_up(make_lab, cellar, tmp_path) -> None:
    lab: Cluster = make_lab(1, shares=[Path(sys.base_prefix)])
    (lab.home.folder / ".cache" / "paddle").mkdir(parents=True)
    (lab.home.folder / ".cache" / "paddle" / "wheels").symlink_to(cellar)
    lab.run("mkdir", "-p", f"{ROOT_DIR}/mine", at="n1")
    conf = f"HOSTS = ['root@n1']\nROOT_DIR = {ROOT_DIR!r}\nPADDLE_NIC = 'eth0'\n"
    (tmp_path / "conf.py").write_text(conf)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text(TRAINS)

    status, said = fab(lab, tmp_path, "install", f"--python={BARE}", cwd=ROOT / "tests")
    assert status == 0
    assert "node 0   root@n1  installing" in said
    assert "1 of 1 nodes are installed: numpy" in said
    before = seen(lab, "n1")

    status, said = fab(lab, tmp_path, "install", f"--python={BARE}", "--format=json")
    assert status == 0
    (last,) = [one for one in map(json.loads, said.splitlines()) if one["event"] == "installed"]
    assert (last["did"], last["sent"]) == ("unchanged", 0)
    assert seen(lab, "n1") == before

    command = (
        sys.executable,
        ROOT / "paddle.py",
        f"--conf={tmp_path / 'conf.py'}",
        "-p",
        tmp_path / "package",
    )
    with lab.start(*command, stdout=subprocess.PIPE, text=True) as job:
        folder = lab.path("n1", ROOT_DIR)
        log = "JOB*/log/train.log"
        until(lambda: any("trained" in path.read_text() for path in folder.glob(log)), "a trained model")
        (train_log,) = folder.glob(log)
        assert f"trained with {ROOT_DIR}/.paddle/venvs/" in train_log.read_text()
        status, said = fab(lab, tmp_path, "clean", "--all", "--yes")
        assert (status, f"stays, for its agent: {train_log.parents[1].name}" in said) == (0, True)
        assert lab.path("n1", f"{ROOT_DIR}/.paddle/venv/bin/python").is_symlink()
        (train_log.parents[1] / "go").write_text("")
        job.communicate(timeout=60)
        assert job.returncode == 0

    status, said = fab(lab, tmp_path, "clean", "--all", "--yes")
    assert status == 0
    assert lab.files("n1", ROOT_DIR) == ["mine/"]
    assert left(lab) == {}


def seen(lab: Cluster, node: str) -> dict[str, tuple[int, int]]:
    """All there is of ours on a node, and when it was changed."""
    home = lab.path(node, ROOT_DIR) / ".paddle"
    found = ((path, path.lstat()) for path in home.rglob("*") if path.name != "lock")
    return {str(path.relative_to(home)): (status.st_mtime_ns, status.st_size) for path, status in found}


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
            said, _ = done.communicate(timeout=120)
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
        said, _ = launcher.communicate(timeout=30)
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
