"""The commands of docs/kubernetes.md, typed as they stand there by who may do what role.yaml says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.ranks.test_mpi_page import smaller
from tests.fresh import ROOT, copy_to
from tests.kubernetes.training import PATIENCE_S, Training
from tests.lab.kubernetes.image import FILES, RUNTIME
from tests.waiting import until

PAGE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
IMAGE = "REGISTRY/paddle-fabric:0.1.0"
SMALL = " --pserver_cpu=100m --trainer_cpu=100m"  # five pods, and two cores at most
HANGS = "\nprint('trained', flush=True)\n__import__('signal').pause()\n"


def typed(section: str) -> list[str]:
    """The commands of a section, in their order."""
    (found,) = [part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE) if part.startswith(section)]
    return re.findall(r"^ *```bash\n(.*?)^ *```", found, re.MULTILINE | re.DOTALL)


class Typist:
    """At the head, in a copy of the project."""

    def __init__(self, training: Training) -> None:
        self.training = training
        self.folder = copy_to(training.folder / "project")
        prepare = self.folder / "workspace_template" / "prepare.py"
        prepare.write_text(smaller(prepare.read_text()))
        programs = training.folder / "bin"
        programs.mkdir()
        words = {"python": sys.executable, "fab": f"{sys.executable} -m fabric"}
        for name, program in words.items():
            (programs / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
            (programs / name).chmod(0o755)
        self._environ = {
            "PATH": f"{programs}:{training.one_node.environ()['PATH']}",
            "PYTHONPATH": str(self.folder / "runtime"),
            "XDG_STATE_HOME": str(training.folder / "state"),
        }

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        """Type a command with the image that is there, for pods that ask for little."""
        line = command.strip().replace(IMAGE, RUNTIME).replace(" --dry_run", f"{SMALL} --dry_run")
        done = self.training.one_node.run(
            *("/bin/bash", "-euo", "pipefail", "-c", line),
            cwd=self.folder,
            user="launcher",
            space=self.training.space,
            environ=self._environ,
            check=False,
            timeout_s=PATIENCE_S,
        )
        print(line, done.stdout, done.stderr, sep="\n")
        return done

    def read(self, path: str) -> str:
        """A file of the workspace."""
        return Path(self.folder, "workspace_template", path).read_text()


@pytest.fixture
def typist(training: Training) -> Typist:
    return Typist(training)


def test_the_image_of_the_page_is_made_as_the_one_that_tests_have() -> None:
    build, *_ = typed("Step by step")
    assert build.split()[:6] == ["docker", "build", "-t", IMAGE, "-f", FILES[RUNTIME]]
    assert IMAGE.endswith(f"/{RUNTIME}")


def test_what_would_be_made_is_shown_and_the_server_takes_it(typist: Typist) -> None:
    _, look, _, _, ask, *_ = typed("Step by step")
    shown = typist.type(look)
    assert shown.returncode == 0
    assert "kind: StatefulSet" in shown.stdout
    asked = typist.type(ask.replace("--dry_run |", "--dry_run --kubernetes_version=1.20 |"))
    assert asked.returncode == 0
    assert "created (server dry run)" in asked.stdout
    assert not typist.training.left()


def test_logs_and_model_of_a_job_that_was_made_by_hand_are_got(typist: Typist) -> None:
    _, look, prepare, get, *_ = typed("Step by step")
    assert typist.type(prepare).returncode == 0
    made = typist.type(look.rstrip() + " --kubernetes_version=1.20").stdout
    typist.training.create(made)
    (job,) = set(re.findall(r"app\.kubernetes\.io/instance: (\S+)", made))
    names = until(lambda: _trainers(typist), "three trainers", PATIENCE_S)
    for name in names:
        typist.training.wait_for_log(name, "ended with status 0\n")
    find, *others = get.strip().splitlines()
    assert names[0] in typist.type(find.replace("instance=JOB", f"instance={job}")).stdout
    texts = [typist.type(command.replace("POD", names[0])) for command in others]
    assert [done.returncode for done in texts] == [0, 0, 0]
    assert "Test cost" in texts[0].stdout
    assert "Test cost" in (typist.folder / "log" / "train.log").read_text()
    assert list((typist.folder / "output").glob("pass-*/params.tar"))


def test_the_job_of_the_page_trains_and_brings_logs_and_model(typist: Typist) -> None:
    *_, train, _ = typed("Step by step")
    done = typist.type(train.rstrip() + SMALL)
    assert done.returncode == 0
    assert "2 pservers and 3 trainers on 5 Kubernetes nodes" in done.stdout
    for node in (2, 3, 4):
        assert "Pass 1, Test cost" in typist.read(f"log/node-{node}/train.log")
    assert typist.read("output/pass-00001/done") is not None
    assert not typist.training.left()


def test_a_detached_job_is_looked_at_collected_stopped_and_swept(typist: Typist) -> None:
    *_, train, others = typed("Step by step")
    program = typist.folder / "workspace_template" / "train.py"
    program.write_text(program.read_text() + HANGS)
    began = typist.type(f"{train.rstrip()} {SMALL} --detach")
    assert began.returncode == 0
    for name in until(lambda: _trainers(typist), "three trainers", PATIENCE_S):
        typist.training.wait_for_log(name, "trained\n")
    status, logs, collect, stop = others.strip().splitlines()
    assert "pserver-1" in typist.type(status.strip()).stdout
    followed = typist.type(f"timeout 20 {logs.strip()}")
    assert (followed.returncode, "trained" in followed.stdout) == (124, True)
    assert typist.type(collect).returncode == 0
    assert typist.read("output/pass-00001/done") is not None
    assert typist.type(stop).returncode == 0
    until(lambda: not typist.training.left(), "the end of all of it", PATIENCE_S)


def test_what_a_launcher_leaves_is_swept_by_the_command_of_the_page(typist: Typist) -> None:
    (sweep,) = typed("When something breaks")
    _, look, *_ = typed("Step by step")
    made = typist.type(look.rstrip() + " --kubernetes_version=1.20 --snapshot_dir=snapshots").stdout
    typist.training.create(made)
    (job,) = set(re.findall(r"app\.kubernetes\.io/instance: (\S+)", made))
    assert typist.training.left()
    swept = typist.type(sweep.replace("instance=JOB", f"instance={job}"))
    assert swept.returncode == 0, swept.stderr
    until(lambda: not typist.training.left(), "the end of all of it", PATIENCE_S)


def _trainers(typist: Typist) -> list[str]:
    names = sorted(typist.training.pods("trainer"))
    return names if len(names) == 3 else []
