"""Every command of docs/mpi.md, typed at a head of three machines by a user of theirs who is not root."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.over_ssh import left
from tests.cluster.ranks import word2vec
from tests.cluster.ranks.slurm import PROGRAMS, Slurm
from tests.cluster.ranks.test_openmpi import TRAIN, install
from tests.fresh import ROOT, copy_to
from tests.lab.lab import Lab
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.page]

PAGE = (ROOT / "docs" / "mpi.md").read_text(encoding="utf-8")
USER, HOME, HEAD = "tutorial", "/srv/tutorial", "n4"
MACHINES = ("n1", "n2", "n3")
PATIENCE_S, GONE_S = 240.0, 40.0
JOB = "paddle-fabric/word2vec"


def typed(section: str) -> list[str]:
    """The commands of a section, in their order."""
    text = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (found,) = [part for part in text if part.startswith(f"{section}\n")]
    return re.findall(r"^```sh\n(.*?)^```", found, re.MULTILINE | re.DOTALL)


class Site:
    """A head and three machines, on which the user has what the page asks for."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        for node in lab.names:
            lab.run("useradd", "-m", "-d", HOME, "-s", "/bin/bash", "-p", "*", USER, at=node)
            lab.run("cp", "-r", "/srv/paddle/.ssh", HOME, at=node)
            install(lab, node)
            lab.run("chown", "-R", f"{USER}:", HOME, ROOT / "runtime", at=node)
            python = lab.path(node, "/usr/local/bin/python3")
            python.unlink(missing_ok=True)
            python.write_text(
                f'#!/bin/sh\nPYTHONPATH={ROOT / "runtime"} exec {sys.executable} "$@"\n'  # installed there
            )
            python.chmod(0o755)
        project = copy_to(lab.path(HEAD, HOME) / "paddle-fabric")
        prepare = project / "workspace_template" / "prepare.py"
        prepare.write_text(smaller(prepare.read_text()))
        lab.run("chown", "-R", f"{USER}:", HOME, at=HEAD)

    def types(self, *commands: str, at: str = HEAD, folder: str = "paddle-fabric", user: str = USER) -> str:
        """Type commands into a shell there; gives what they print."""
        script = "\n".join(["set -euo pipefail", f"cd ~{USER}/{folder}", *commands])
        command = f"bash -c {shlex.quote(script)}"
        done = self.lab.ssh(at, command, user=user, check=False, timeout_s=PATIENCE_S)
        print(done.stdout, done.stderr)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def read(self, node: str, path: str) -> str:
        """A file in the user's home."""
        return (self.lab.path(node, HOME) / path).read_text()


def smaller(prepare: str) -> str:
    """It, for few grams of the text that every machine has."""
    for was, becomes in (
        (r"^MAX_GRAMS = 60000", "MAX_GRAMS = 960"),
        (r"treebank\(\) or documentation\(\)", "documentation()"),
    ):
        assert len(re.findall(was, prepare, re.MULTILINE)) == 1
        prepare = re.sub(was, becomes, prepare, flags=re.MULTILINE)
    return prepare


@pytest.fixture(scope="module")
def site(need_lab: None) -> Iterator[Site]:
    """With the job's files on every machine, as the page has them copied by hand."""
    with Lab(4) as lab:
        made = Site(lab)
        prepare, copy, *_ = typed("By hand")
        made.types(prepare)
        made.types(copy, folder=JOB)
        yield made


def test_by_hand_a_user_trains_on_the_machines_of_the_file(site: Site) -> None:
    _, _, train, look, again, watched = typed("By hand")
    said = site.types(train, folder=JOB)
    assert "paddle rank 0: pserver-0 and trainer-0 at 10.77.0.1, of 3 trainers and 3 pservers; logs: " in said
    logs = [site.read(node, "job/logs/train.log") for node in MACHINES]
    (digest,) = {word2vec.learned(log) for log in logs}
    assert f"parameters {digest}" in site.types(look, folder=JOB)
    assert (site.lab.path(HEAD, HOME) / JOB / "output" / "pass-00007" / "done").exists()
    site.types(again, folder=JOB)
    assert "Pass 0, Test cost" in site.read("n3", "job/short/train.log")
    site.types(f"{watched.rstrip()} --log_dir=watched train.py --num_passes=1", folder=JOB)
    assert "Pass 0, Test cost" in site.read("n3", "job/watched/train.log")
    assert not left(site.lab, MACHINES)


def test_paddle_py_trains_there_and_brings_logs_and_model_back(site: Site) -> None:
    train, look = typed("With paddle.py")
    said = site.types(f"{train.rstrip()} --num_passes=1")
    assert "3 pservers and 3 trainers on 3 MPI nodes" in said
    assert site.types(look).split() == [
        *("workspace_template/log/node-2:", "agent.log", "paddle_pserver2.INFO", "paddle_trainer.INFO"),
        *("server.log", "train.log", "workspace_template/output:", "pass-00000"),
    ]
    until(lambda: not left(site.lab, MACHINES), "the end of mpirun's processes")


def test_root_trains_with_the_flag_of_mpirun_and_not_without(site: Site) -> None:
    (train,) = typed("As root")
    for node in MACHINES:
        site.lab.run("sh", "-c", f"ln -s {HOME}/job ~/job", at=node)
    short = f"{train.rstrip()} --log_dir=by_root train.py --num_passes=1"
    said = site.types(short, folder=JOB, user="root")
    assert "paddle rank 2: pserver-2 and trainer-2 at 10.77.0.3" in said
    assert "Pass 0, Test cost" in site.read("n3", "job/by_root/train.log")
    with pytest.raises(AssertionError, match="attempt to run as root"):
        site.types(short.replace(" --allow-run-as-root", ""), folder=JOB, user="root")


@pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)), reason="needs slurm-wlm of Debian")
def test_under_slurm_a_user_trains_on_three_nodes(site: Site, tmp_path: Path) -> None:
    (train,) = typed("Under Slurm")
    with Slurm(site.lab, tmp_path / "slurm", at=HEAD) as slurm:
        said = site.types(f"export SLURM_CONF={slurm.environ['SLURM_CONF']}", train)
    assert "paddle rank 0: pserver-0 and trainer-0 at 10.77.0.1, of 3 trainers and 3 pservers" in said
    assert "Pass 7, Test cost" in site.read("n3", "job/logs/n3/train.log")


def test_a_head_that_loses_its_power_leaves_nothing_on_the_machines(site: Site) -> None:
    """The last one here: it has no head any more."""
    *_, watched = typed("By hand")
    for node in MACHINES:
        (site.lab.path(node, HOME) / "job" / "hang.py").write_text(TRAIN)
    shell = f"cd ~/{JOB} && {watched.rstrip()} --log_dir=off hang.py hang"
    with site.lab.start("ssh", "-F", site.lab.home.ssh_config, f"{USER}@{HEAD}", shell) as typing:
        for node in MACHINES:
            log = site.lab.path(node, HOME) / "job" / "off" / "train.log"
            until(lambda log=log: log.exists() and "hangs" in log.read_text(), f"{node} to hang", PATIENCE_S)
        site.lab.power_off(HEAD)
        until(lambda: not left(site.lab, MACHINES), "the end of all ranks", GONE_S)
        typing.kill()
