"""`sh run.sh` in a fresh copy of the project, and what it must leave behind."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cluster.by_hand import free_port
from tests.fresh import copy_to, share_venv, venv_is_current
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

LOGS = ("server.log", "train.log", "paddle_trainer.INFO", "paddle_pserver2.INFO")
PASSES = 2
CLOSED = "http://127.0.0.1:9"  # the port "discard", at which nobody answers: no way into any network
PROGRESS = r"^(trainer-[01] pass \d+ batch \d+ cost \d+\.\d{4} \| ){1,2}[\d,]+ samples/s$"
WAITS = r"( \| |^)waiting for trainer-[01](, trainer-1)? for \d+ s$"  # said of a busy machine, too
ENDED = r"^trainer-[01] succeeded; 1 of 2 still running$"  # said where one ends a moment before the other
ADDRESSES = ("127.0.0.1", "127.0.0.2")
DOWNLOADS = "Downloading "  # said on stderr


def without_network(home: Path) -> dict[str, str]:
    """The environment of a machine that reaches nothing, and on which no data set was ever loaded."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    kept = {name: value for name, value in kept.items() if not name.startswith(("PADDLE_", "SPLIT_COUNT"))}
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "ftp_proxy"), CLOSED)
    return {**kept, **proxies, "PADDLE_DATASET_HOME": str(home)}


@pytest.fixture(scope="module")
def port() -> int:
    return free_port(list(ADDRESSES))


@pytest.fixture(scope="module")
def finished(
    tmp_path_factory: pytest.TempPathFactory, port: int
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A copy of the project in which run.sh has run, and what it printed."""
    if not venv_is_current():
        pytest.skip("the project's .venv is absent or older than pyproject.toml; sh test.sh renews it")
    copy = share_venv(copy_to(tmp_path_factory.mktemp("fresh") / "project"))
    done = subprocess.run(
        ["sh", "run.sh", f"--num_passes={PASSES}", f"--port={port}"],
        cwd=copy,
        env=without_network(copy.parent / "dataset"),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
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


def as_pictured(text: str) -> list[str]:
    """What a run printed, without what is of one run: numbers, where it was, how often progress was told,
    whether a trainer took its time."""
    lines = [line for each in text.strip().splitlines() if (line := re.sub(WAITS, "", each))]
    lines = [re.sub(PROGRESS, "progress", line) for line in lines if not re.match(ENDED, line)]
    lines = [re.sub(r"(?<=\s)/\S+?/(?=\.venv|jobs|workspace_template|imikolov)", "", line) for line in lines]
    lines = [re.sub(rf" --num_passes={PASSES}$|--port, (?=conf.py)", "", line) for line in lines]
    lines = [re.sub(r"\d+", "N", line) for line in lines if line != "..."]
    return [line for line, before in zip(lines, ["", *lines], strict=False) if line != before]


def test_readme_shows_what_it_prints(finished) -> None:
    copy, done = finished
    picture = re.search(r"^```\n(preparing.*?)^```", (copy / "README.md").read_text(), re.M | re.S)
    assert picture is not None
    shown = as_pictured(picture[1])
    assert as_pictured(done.stderr) == [line for line in shown if line.startswith(DOWNLOADS)]
    assert as_pictured(done.stdout) == [line for line in shown if not line.startswith(DOWNLOADS)]


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


def test_without_a_network_it_says_so_and_what_it_takes_instead(finished) -> None:
    copy, done = finished
    assert "cannot get Penn Treebank (see Data sets in README.md)" in done.stdout
    assert not [path for path in (copy.parent / "dataset").rglob("*") if path.is_file()]


def test_the_plan_is_short_and_names_addresses_and_ports(finished, port) -> None:
    _, done = finished
    lines = done.stdout.splitlines()
    begin, end = (next(n for n, line in enumerate(lines) if word in line) for word in ("JOB", "sending"))
    assert end - begin <= 10
    plan = "\n".join(lines[begin:end])
    for word in (*ADDRESSES, f"{port} dense, {port + 1} sparse", "prepare.py", "train.py"):
        assert word in plan


def test_into_a_pipe_it_says_plain_lines_and_when_the_first_step_was_done(finished) -> None:
    _, done = finished
    assert re.search(r"^first step after \d+\.\d s, \d+\.\d s in all: reach ", done.stdout, re.MULTILINE)
    assert re.search(PROGRESS, done.stdout, re.MULTILINE)
    assert not re.search(r"[\x1b\r]", done.stdout)
    assert all(line.startswith(DOWNLOADS) for line in done.stderr.splitlines())
