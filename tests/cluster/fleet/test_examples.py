"""Click rates as the examples of fleet train them: every statement of theirs, in words and sizes of our own.

``click_rate/train.py`` reads by a loader, measures by counters over all workers, and tests through a second
program; ``train_files.py`` has threads read files through a command of its own.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.by_hand import environment
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

PROGRAM = Path(__file__).parents[1] / "programs" / "click_rate"
LINES, FILES, WORKERS = 800, 4, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(PROGRAM, tmp_path_factory.mktemp("clicks") / "job"))
    (folder / "data").mkdir()
    run([sys.executable, "reader.py", str(LINES)], folder)
    return folder


def run(command: list[str], folder: Path) -> None:
    told = environment(PADDLE_WITH_GLOO="1")
    done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr


def launched(folder: Path, servers: int, *program: str) -> list[str]:
    """What each worker printed."""
    counts = [f"--server_num={servers}", f"--worker_num={WORKERS}"]
    run([sys.executable, "-m", "paddle.distributed.launch", *counts, *program], folder)
    return [(folder / "log" / f"workerlog.{worker}").read_text() for worker in range(WORKERS)]


def measures(log: str, of: str) -> dict[str, float]:
    line = re.search(rf"^{of} ---> (.*)$", log, re.MULTILINE)
    assert line, log
    return {name: float(value) for name, value in re.findall(r"(\w+): (\S+)", line[1])}


def test_workers_measure_together_and_what_they_save_measures_the_same_on_other_servers(folder: Path) -> None:
    logs = launched(folder, 1, "train.py")
    of_all = [measures(log, "Global") for log in logs]
    own = [measures(log, "TEST") for log in logs]
    assert of_all[0] == of_all[1] and own[0] != own[1]
    assert of_all[0]["loss"] == pytest.approx((own[0]["loss"] + own[1]["loss"]) / 2, abs=2e-6)
    assert of_all[0]["rmse"] == pytest.approx(of_all[0]["mse"] ** 0.5, abs=2e-6)
    assert of_all[0]["auc"] > 0.65 and 3 * of_all[0]["acc"] > 0.6  # its samples are counted three times
    again = launched(folder, 2, "train.py", "infer")
    assert [measures(log, "TEST") for log in again] == own
    assert [measures(log, "Global") for log in again] == of_all


@pytest.mark.thorough
def test_threads_train_on_every_line_of_their_files_once(folder: Path) -> None:
    for log in launched(folder, 1, "train_files.py"):
        passes = re.findall(r"^pass (\d): (\d+) samples, area (\S+)$", log, re.MULTILINE)
        assert [int(count) for _, count, _ in passes] == [LINES * FILES // WORKERS] * 3
        assert float(passes[-1][2]) > max(0.7, float(passes[0][2]))
        assert len(re.findall(r"^thread [01]: \d+ batches", log, re.MULTILINE)) == 3 * 2
