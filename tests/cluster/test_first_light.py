"""`sh run.sh` in a fresh copy of the project, and what it must leave behind."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
LOGS = ("server.log", "train.log", "paddle_trainer.INFO", "paddle_pserver2.INFO")
PASSES = 4


def tracked_files() -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0 and listing.stdout:
        return [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]
    skipped = {".venv", "jobs", "__pycache__"}
    files = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [str(path) for path in files if not skipped & set(path.parts)]


def venv_is_current() -> bool:
    """Whether run.sh in a copy will find nothing to install: it would point the shared .venv at the copy."""
    stamp = subprocess.run(
        ["cksum"], stdin=(ROOT / "pyproject.toml").open("rb"), capture_output=True, text=True
    ).stdout.strip()
    installed = ROOT / ".venv" / "installed"
    return installed.exists() and f"plot {stamp}" in installed.read_text().splitlines()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A copy of the project in which run.sh has run, and what it printed."""
    if not venv_is_current():
        pytest.skip("the project's .venv is absent or older than pyproject.toml; sh test.sh renews it")
    copy = tmp_path_factory.mktemp("fresh") / "project"
    for name in tracked_files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(ROOT / ".venv")
    done = subprocess.run(
        ["sh", "run.sh", f"--num_passes={PASSES}"],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    print(done.stdout[-4000:], done.stderr[-4000:])
    return copy, done


def test_run_sh_exits_well_and_says_where_everything_is(finished) -> None:
    copy, done = finished
    assert done.returncode == 0
    last = done.stdout.strip().splitlines()[-1]
    for word in ("log", "loss", "output"):
        assert word in last
    for path in ("log/loss.csv", "log/loss.png", f"output/pass-{PASSES - 1:05d}/done"):
        assert (copy / "workspace_template" / path).stat().st_size > 0


def test_every_node_has_every_log(finished) -> None:
    copy, _ = finished
    for node in (0, 1):
        for log in LOGS:
            text = (copy / "workspace_template" / "log" / f"node-{node}" / log).read_text()
            assert text.strip(), f"node {node}: {log} is empty"


def test_every_pass_of_node_0_is_marked_done_and_collected(finished) -> None:
    copy, _ = finished
    passes = sorted((copy / "workspace_template" / "output").iterdir())
    assert [path.name for path in passes] == [f"pass-{number:05d}" for number in range(PASSES)]
    assert all((path / "done").exists() and (path / "params.tar").stat().st_size > 0 for path in passes)
    jobs = list((copy / "jobs").glob("JOB*"))
    assert len(jobs) == 1
    assert re.fullmatch(r"JOB\d{14}", jobs[0].name)
    assert (jobs[0] / "node-0" / "output" / "pass-00000" / "done").exists()
    assert not (jobs[0] / "node-1" / "output").exists()


def test_each_node_knows_its_number(finished) -> None:
    copy, _ = finished
    (job,) = (copy / "jobs").glob("JOB*")
    for node in (0, 1):
        assert (job / f"node-{node}" / "nodefile").read_text().strip() == str(node)


def test_the_cost_falls_clearly(finished) -> None:
    copy, _ = finished
    for node in (0, 1):
        text = (copy / "workspace_template" / "log" / f"node-{node}" / "train.log").read_text()
        costs = [float(cost) for cost in re.findall(r"Test cost ([0-9.]+)", text)]
        first = float(re.search(r"Pass 0, Batch 0, Cost ([0-9.]+)", text).group(1))
        assert len(costs) == PASSES
        assert first > 7.0, "an untrained model is as good as a guess among 1,300 words: ln(1300) = 7.2"
        assert costs[-1] < first - 1.5
        assert costs[-1] < costs[0]


def test_all_trainers_end_with_equal_parameters(finished) -> None:
    copy, _ = finished
    prints = [
        re.findall(
            r"^parameters ([0-9a-f]{16})$",
            (copy / "workspace_template" / "log" / f"node-{node}" / "train.log").read_text(),
            re.MULTILINE,
        )
        for node in (0, 1)
    ]
    assert len(prints[0]) == 1
    assert prints[0] == prints[1]


def test_the_plan_is_short_and_names_ports_and_logs(finished) -> None:
    _, done = finished
    head = done.stdout.split("pass", 1)[0]
    assert "127.0.0.1" in head
    assert "127.0.0.2" in head
    assert "7164" in head
