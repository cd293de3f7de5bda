"""The quick start of fluid's documents on four machines: its program and its four commands, word for word.

The machines have the names that the document gives them, and know each other by these alone. Each has the
runtime, and the houses where its data sets lie.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.fluid.test_fluid_trainer import LINE, PROGRAM
from tests.cluster.ranks.test_openmpi import install
from tests.fresh import ROOT
from tests.lab.lab import Lab
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.cluster

COMMANDS = {  # in the document's order: parameter servers are started first
    "ps0.paddlepaddle.com": (
        "PADDLE_TRAINING_ROLE=PSERVER PADDLE_CURRENT_IP=ps0.paddlepaddle.com "
        "PADDLE_PSERVER_IPS=ps0.paddlepaddle.com,ps1.paddlepaddle.com PADDLE_TRAINERS=2 "
        "PADDLE_PSERVER_PORT=6174 python fluid_dist.py"
    ),
    "ps1.paddlepaddle.com": (
        "PADDLE_TRAINING_ROLE=PSERVER PADDLE_CURRENT_IP=ps1.paddlepaddle.com "
        "PADDLE_PSERVER_IPS=ps0.paddlepaddle.com,ps1.paddlepaddle.com PADDLE_TRAINERS=2 "
        "PADDLE_PSERVER_PORT=6174 python fluid_dist.py"
    ),
    "trainer0.paddlepaddle.com": (
        "PADDLE_TRAINING_ROLE=TRAINER PADDLE_PSERVER_IPS=ps0.paddlepaddle.com,ps1.paddlepaddle.com "
        "PADDLE_TRAINERS=2 PADDLE_TRAINER_ID=0 PADDLE_PSERVER_PORT=6174 python fluid_dist.py"
    ),
    "trainer1.paddlepaddle.com": (
        "PADDLE_TRAINING_ROLE=TRAINER PADDLE_PSERVER_IPS=ps0.paddlepaddle.com,ps1.paddlepaddle.com "
        "PADDLE_TRAINERS=2 PADDLE_TRAINER_ID=1 PADDLE_PSERVER_PORT=6174 python fluid_dist.py"
    ),
}
FOLDER, HOUSES = "/srv/quick_start", 506


def houses() -> str:
    """As many as the original file has. Prices follow from features."""
    random = np.random.default_rng(0)
    features = random.uniform(0, 100, (HOUSES, 13))
    rows = np.column_stack([features, features @ random.uniform(-0.2, 0.2, 13) + 22])
    return "".join(" ".join(f"{value:.3f}" for value in row) + "\n" for row in rows)


def furnish(lab: Lab, node: str, names: dict[str, str]) -> None:
    """What the document asks for: a machine that finds the others, and on which PaddlePaddle runs."""
    with lab.path(node, "/etc/hosts").open("a") as hosts:
        hosts.writelines(f"{address} {name}\n" for name, address in names.items())
    install(lab, node)
    folder = lab.path(node, FOLDER)
    (folder / "data/uci_housing").mkdir(parents=True)
    (folder / "data/uci_housing/housing.data").write_text(houses())
    shutil.copy(PROGRAM, folder / "fluid_dist.py")


def typed(lab: Lab, node: str, command: str) -> subprocess.Popen[str]:
    environ = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT / "runtime"),
        "NUMBA_CACHE_DIR": "/var/cache/kernels",
        "PADDLE_DATASET_HOME": f"{FOLDER}/data",
        "PADDLE_DATASET_LOCAL": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return lab.start("/bin/sh", "-c", command, at=node, cwd=FOLDER, environ=environ, **streams)


def test_on_four_machines_the_four_commands_print_the_documents_line_and_end(
    make_lab: Callable[..., Lab],
) -> None:
    lab = make_lab(4)
    names = dict(zip(COMMANDS, (node.address for node in lab.nodes.values()), strict=True))
    for node in lab.nodes:
        furnish(lab, node, names)
    processes = [typed(lab, node, line) for node, line in zip(lab.nodes, COMMANDS.values(), strict=True)]
    said = [process.communicate(timeout=PATIENCE_S) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(COMMANDS), said
    for out, _ in said[2:]:
        assert re.fullmatch(LINE, out), said
    for (_, errors), name in zip(said[:2], COMMANDS, strict=False):
        assert f"the parameter server listens on {name}:6174, for trainers: 2" in errors
    until(lambda: not any(map(lab.processes, lab.nodes)), "the end of all that was typed")
