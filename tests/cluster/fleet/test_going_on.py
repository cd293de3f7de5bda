"""A job of fleet that goes on from what another saved, both dispatched by `python paddle.py`: servers are
`paddle pserver`s there, and as many as each job likes."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import environment, free_port
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(__file__).parents[1] / "programs" / "language_model.py"
STEPS, FIRST = 20, 8


def losses(text: str) -> np.ndarray:
    return np.array([float(each) for each in re.findall(r"^loss (\S+)$", text, re.MULTILINE)])


def dispatched(package: Path, hosts: int, ports_num: int, *words: str) -> np.ndarray:
    """The losses of its steps: of all trainers, their mean."""
    shutil.copy(PROGRAM, package / "train.py")
    conf = package.parent / f"conf_of_{package.name}.py"
    conf.write_text(f"HOSTS = {['local'] * hosts}\nROOT_DIR = {str(package.parent / 'jobs')!r}\n")
    port = free_port(["127.0.0.1", "127.0.0.2", "127.0.0.3"], 2 * ports_num + 1)
    ports = [f"--port={port}", f"--ports_num={ports_num}", f"--ports_num_for_sparse={ports_num}"]
    done = subprocess.run(
        [sys.executable, "paddle.py", f"--conf={conf}", f"--job_dispatch_package={package}", *ports, *words],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [(package / "log" / f"node-{node}" / "train.log").read_text() for node in range(hosts)]
    return np.array([losses(log) for log in logs]).mean(axis=0)


@pytest.mark.parametrize(("hosts", "ports_num"), [(1, 3), pytest.param(2, 2, marks=pytest.mark.thorough)])
def test_it_goes_on_as_one_process_would_have_on_other_servers(
    tmp_path: Path, hosts: int, ports_num: int
) -> None:
    """Rows, moments and dense parameters are all there: with any of them new the losses are others."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    begun = dispatched(first, 2, 1, f"--steps={FIRST}", "--save=output/saved")
    assert {"words_txt", "linear_0.w_0"} <= {path.name for path in (first / "output" / "saved").iterdir()}
    second.mkdir()
    shutil.copytree(first / "output" / "saved", second / "saved")
    told = [f"--first={FIRST}", f"--steps={STEPS}", "--begin_from=saved"]
    found = dispatched(second, hosts, ports_num, *told)
    alone = subprocess.run(
        [sys.executable, str(PROGRAM), f"--steps={STEPS}"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    np.testing.assert_allclose(np.concatenate([begun, found]), losses(alone.stdout), rtol=1e-5)
    assert len(found) == STEPS - FIRST
