"""Documents/003's program, completed only where its print leaves names undefined, by its printed command."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.by_hand import environment, free_port

pytestmark = pytest.mark.cluster

PROGRAM = Path(__file__).parent / "programs" / "wide_and_deep"
COMMAND = ["-m", "paddle.distributed.launch", "--server_num=1", "--worker_num=2", "train.py"]
TRAINING = {"RATE": "0.1", "BATCH": "16", "EPOCHS": "2", "LINES": "2400"}
CHANCE = 0.5
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mode", ["sync", "async", "geo"])
def test_the_quick_start_learns_from_two_workers_and_all_processes_end(mode: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(PROGRAM, tmp_path / "job"))
    done = subprocess.run(
        [sys.executable, *COMMAND],
        cwd=folder,
        env=environment(MODE=mode, **TRAINING),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].endswith("server are killed")
    first, second = ((folder / "log" / f"workerlog.{worker}").read_text() for worker in range(2))
    steps = int(TRAINING["EPOCHS"]) * int(TRAINING["LINES"]) // int(TRAINING["BATCH"])
    for log in (first, second):
        assert len(re.findall(r"^TRAIN ---> pass: [01] loss: 0\.\d+$", log, re.MULTILINE)) > 0.9 * steps
    auc = re.search(r"^AUC (0\.\d+)$", first, re.MULTILINE)
    assert auc and float(auc[1]) > CHANCE + 0.1, auc
    assert (folder / "saved" / "SparseFeatFactors_txt" / "SparseFeatFactors.block0.txt").is_file()


@pytest.mark.parametrize("program", ["train_fleet.py", "train_fluid.py"])
def test_programs_of_later_generations_are_dispatched_like_any_others(program: str, tmp_path: Path) -> None:
    package = Path(shutil.copytree(ROOT / "workspace_template", tmp_path / "package"))
    port = free_port(["127.0.0.1", "127.0.0.2"])
    flags = [f"--job_dispatch_package={package}", f"--job_program={program}", f"--port={port}"]
    done = subprocess.run(
        [sys.executable, "paddle.py", *flags, f"--root_dir={tmp_path / 'jobs'}", "--samples=1500"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    log = (package / "log" / "node-0" / "train.log").read_text()
    ranked = re.search(r"^area under the curve: (0\.\d+)", log, re.MULTILINE)
    assert ranked and float(ranked[1]) > CHANCE + 0.1, log
    assert any((package / "output").iterdir())
