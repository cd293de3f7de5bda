"""The documents' way to share files out, on the files that our word2vec job prepares."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
SHARING = """\
import os
train_list = []
flist = os.listdir("/train_data/")
for f in flist:
  suffix = int(f.split("-")[1])
  if suffix % TRAINER_COUNT == TRAINER_ID:
    train_list.append(f)
"""
PREPARED = ["train.txt-00000", "train.txt-00001", "train.txt-00002"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What prepare.py makes of some grams for three trainers; programs see it as /train_data."""
    monkeypatch.setenv("SPLIT_COUNT", "3")
    split = runpy.run_path(str(TEMPLATE / "prepare.py"))["split"]
    made = tmp_path / "train_data_dir"
    split([(number,) * 5 for number in range(10)], made, "train.txt")
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: real(made if path == "/train_data/" else path))
    return made


def test_prepared_files_are_called_as_printed(data: Path) -> None:
    assert sorted(path.name for path in data.iterdir()) == PREPARED


@pytest.mark.parametrize("trainers", [1, 2, 3])
def test_the_printed_loop_gives_each_trainer_what_our_own_reader_gives_it(data: Path, trainers: int) -> None:
    shards = runpy.run_path(str(TEMPLATE / "my_lib.py"))["shards"]
    shared = []
    for trainer_id in range(trainers):
        seen = {"TRAINER_COUNT": trainers, "TRAINER_ID": trainer_id}
        exec(SHARING, seen)
        assert sorted(seen["train_list"]) == [path.name for path in shards(data, trainer_id, trainers)]
        shared += seen["train_list"]
    assert sorted(shared) == PREPARED


def test_a_node_without_a_part_ends_before_it_trains_and_says_what_to_do(data: Path) -> None:
    node = {
        "PADDLE_CLUSTER_TRAIN": "True",
        "OMPI_COMM_WORLD_RANK": "3",
        "PADDLE_INIT_NUM_GRADIENT_SERVERS": "4",
    }
    done = subprocess.run(
        [sys.executable, str(TEMPLATE / "train.py")],
        cwd=data.parent,
        env={**node, "PYTHONPATH": str(TEMPLATE.parent / "runtime")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "train_data_dir has no part for node 3 of 4: SPLIT_COUNT=4 python prepare.py\n"
